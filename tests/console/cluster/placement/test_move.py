import json
import re

import pytest

from console.cluster.placement.models import OngoingMove, Reassignment
from console.cluster.placement.move import MovePlan
from console.kit.audit.models import AuditEvent
from console.kit.gateway.moves.interface import RATE_KEYS

ADDRESS = "/placement/+move/"


@pytest.fixture(autouse=True)
def _orders(cluster, collect, collector):
    cluster.create_topic("orders", 2, 2)
    cluster.append("orders", 0, 50)
    collector.look("sizes")
    collect()


def replicas(cluster, partition: int = 0) -> tuple[int, ...]:
    return cluster.moves.assignments(["orders"])["orders", partition]


def confirmed(response) -> dict[str, str]:
    """What the confirming form of the page sends."""
    form = re.search(r'<form method="post" action="/placement/\+move/".*?</form>', response.content.decode(), re.S)[0]
    fields = re.findall(r'name="([\w]+)" value="([^"]*)"', form)
    return {name: value.replace("&quot;", '"') for name, value in fields}


def preview(client, wish: dict | None = None):
    """Partition 0, which lies on 1 and 2, to 3 and 2."""
    return client.post(f"{ADDRESS}?topic=orders&partition=0", wish or {"replicas-0": "3, 2"})


def move(client, wish: dict | None = None, **options):
    return client.post(ADDRESS, confirmed(preview(client, wish)), **options)


def test_the_form_offers_the_chosen_partitions_with_their_replicas(operator, client_of):
    text = client_of(operator).get(f"{ADDRESS}?topic=orders&partition=1").content.decode()

    assert 'name="replicas-1" value="2, 3"' in text
    assert "replicas-0" not in text


def test_the_plan_says_what_is_copied_and_nothing_moves_yet(cluster, operator, client_of):
    text = preview(client_of(operator)).content.decode().replace("\u202f", " ")

    assert "It copies 5 KB to broker 3." in text
    assert "kafka-reassign-partitions.sh" in text
    assert "<strong>3, 2</strong>" in text
    assert replicas(cluster) == (1, 2)
    assert not AuditEvent.objects.exists()


def test_operator_moves_a_partition_and_the_audit_knows(cluster, operator, client_of):
    response = move(client_of(operator), follow=True)

    assert cluster.moves.under_way()["orders", 0].target == (3, 2)
    assert b"1 partition is on the way." in response.content
    event = AuditEvent.objects.get()
    assert (event.actor_name, event.action, event.object_name, event.result) == (
        "operator",
        "move partitions",
        "orders",
        "done",
    )
    assert (event.before, event.after) == ({"orders-0": [1, 2]}, {"orders-0": [3, 2]})
    kept = Reassignment.objects.get()
    assert (kept.state, kept.former, kept.wanted) == ("running", {"orders": {"0": [1, 2]}}, {"orders": {"0": [3, 2]}})


@pytest.mark.parametrize("person", ["viewer", "outsider"])
def test_others_are_refused_and_nothing_moves(person, request, cluster, client_of):
    client = client_of(request.getfixturevalue(person))
    sent = {"moves": json.dumps({"orders": {"0": [3, 2]}}), "digest": "any"}

    assert client.get(f"{ADDRESS}?topic=orders").status_code == 403
    assert client.post(ADDRESS, sent).status_code == 403
    assert replicas(cluster) == (1, 2)


def test_a_plan_of_another_moment_is_refused_with_the_new_one(cluster, operator, client_of):
    client = client_of(operator)
    sent = confirmed(preview(client))
    cluster.moves.alter({("orders", 0): (2, 1)})
    response = client.post(ADDRESS, sent)

    assert response.status_code == 409
    assert b"has changed since it was shown" in response.content
    assert b"2, 1" in response.content
    assert replicas(cluster) == (2, 1)
    assert AuditEvent.objects.get().result == "refused"


def test_other_replicas_than_those_shown_are_refused(cluster, operator, client_of):
    client = client_of(operator)
    sent = confirmed(preview(client)) | {"moves": json.dumps({"orders": {"0": [3]}})}

    assert client.post(ADDRESS, sent).status_code == 409
    assert replicas(cluster) == (1, 2)


def test_a_broker_that_is_away_cannot_be_a_target(cluster, operator, client_of):
    cluster.stop_broker(3)
    text = preview(client_of(operator)).content.decode()

    assert "Broker 3 is not registered" in text
    assert 'aria-disabled="true"' in text


def test_a_broker_that_went_since_the_plan_stops_it(cluster, operator, client_of):
    client = client_of(operator)
    sent = confirmed(preview(client))
    cluster.stop_broker(3)

    assert client.post(ADDRESS, sent).status_code == 409
    assert replicas(cluster) == (1, 2)


@pytest.mark.parametrize("typed", ["three", "1;2", "", "-1"])
def test_what_is_no_list_of_brokers_is_said_beside_the_field(typed, operator, client_of):
    response = preview(client_of(operator), {"replicas-0": typed})

    assert response.status_code == 422
    assert b'role="alert"' in response.content


def test_nonsense_in_the_form_is_refused(operator, client_of):
    assert client_of(operator).post(ADDRESS, {"digest": "x", "moves": "nonsense"}).status_code == 422


def test_a_topic_nobody_has_seen_is_not_moved(cluster, operator, client_of):
    cluster.create_topic("unseen", 1, 1)
    sent = {"digest": "x", "moves": json.dumps({"unseen": {"0": [3]}})}

    assert client_of(operator).post(ADDRESS, sent).status_code == 404


def test_nothing_to_move_is_said(operator, client_of):
    text = preview(client_of(operator), {"replicas-0": "1,2"}).content.decode()

    assert "every partition is there already" in text
    assert 'name="digest"' not in text


def test_a_plan_that_moves_nothing_says_so_and_touches_nobody():
    nothing = MovePlan((), ("orders-0",), "", (), ())
    assert nothing.as_plan("127.0.0.1:9092").touches == ("No partition moves.",)


def test_the_page_shows_how_far_each_copy_is(cluster, collect, clock, viewer, operator, client_of):
    move(client_of(operator))
    cluster.moves.copy("orders", 0, 3, 1_000)
    collect()
    clock.advance(2_000)
    cluster.moves.copy("orders", 0, 3, 3_000)
    collect()
    text = client_of(viewer).get("/placement/").content.decode().replace("\u202f", " ")

    assert "1 partition · 3 KB of 5 KB · 60 %" in text
    assert "1 KB" in text
    assert "2 s to go" in text


def test_an_arrived_move_is_done_and_leaves_the_list(cluster, collect, operator, client_of):
    client = client_of(operator)
    move(client)
    collect()
    cluster.moves.arrive()
    collect()

    assert not OngoingMove.objects.exists()
    assert Reassignment.objects.get().state == "done"
    assert replicas(cluster) == (3, 2)
    assert b"1 partition of 1 arrived." in client.get("/placement/").content


def test_a_done_move_is_taken_back_by_plan(cluster, collect, operator, client_of):
    client = client_of(operator)
    move(client)
    cluster.moves.arrive()
    collect()
    shown = client.get(f"{ADDRESS}?undo={Reassignment.objects.get().pk}")
    client.post(ADDRESS, confirmed(shown))
    cluster.moves.arrive()

    assert replicas(cluster) == (1, 2)
    assert AuditEvent.objects.order_by("-pk").first().action == "undo move"


def test_a_throttle_is_set_with_the_move_and_gone_after_it(cluster, collect, operator, client_of):
    client = client_of(operator)
    move(client, {"replicas-0": "3,2", "throttle": "2.5"})

    assert cluster.moves.throttles([3], []).brokers[3] == dict.fromkeys(RATE_KEYS, "2500000")
    collect()
    assert Reassignment.objects.get().throttles is not None
    cluster.moves.arrive()
    collect()
    assert cluster.moves.throttles([3], []).brokers[3] == dict.fromkeys(RATE_KEYS)
    assert set(cluster.moves.throttles([], ["orders"]).topics["orders"].values()) == {None}
    assert Reassignment.objects.get().throttles is None


def test_a_throttled_move_away_from_a_broker_that_is_away_begins_and_ends(cluster, collect, operator, client_of):
    cluster.create_topic("payments", 1, 2)
    collect()
    replicas = cluster.moves.assignments(["payments"])["payments", 0]
    gone, stays = replicas[1], replicas[0]
    fresh = ({1, 2, 3} - set(replicas)).pop()
    cluster.stop_broker(gone)
    collect()
    client = client_of(operator)
    address = f"{ADDRESS}?topic=payments"
    shown = client.post(address, {"replicas-0": f"{stays},{fresh}", "throttle": "2.5"})
    client.post(ADDRESS, confirmed(shown))
    assert cluster.moves.throttles([fresh], []).brokers[fresh] == dict.fromkeys(RATE_KEYS, "2500000")
    assert cluster.moves.assignments(["payments"])["payments", 0] == (stays, fresh, gone)
    cluster.moves.arrive()
    collect()
    assert Reassignment.objects.get().throttles is None
    assert cluster.moves.throttles([fresh], []).brokers[fresh] == dict.fromkeys(RATE_KEYS)


def test_an_unreachable_cluster_is_said_and_nothing_kept(cluster, operator, client_of):
    client = client_of(operator)
    sent = confirmed(preview(client))
    cluster.cut_off()
    response = client.post(ADDRESS, sent)

    assert response.status_code == 422
    assert b"No broker answered in time." in response.content
    assert not Reassignment.objects.exists()


def test_what_the_controller_refuses_is_told_and_not_waited_for(cluster, operator, client_of, monkeypatch):
    client = client_of(operator)
    sent = confirmed(preview(client))
    monkeypatch.setattr(cluster.moves, "alter", lambda _: {("orders", 0): "the disk is full"})
    response = client.post(ADDRESS, sent, follow=True)

    assert b"orders-0 does not move: the disk is full" in response.content
    assert AuditEvent.objects.get().result == "refused"
    assert Reassignment.objects.get().wanted == {}


def test_moves_are_taken_home_as_files(collect, viewer, operator, client_of):
    move(client_of(operator))
    collect()
    client = client_of(viewer)
    moves = b"".join(client.get("/placement/?format=csv&table=moves").streaming_content).decode()
    csv_text = b"".join(client.get("/placement/?format=csv&table=reassignments").streaming_content).decode()

    assert '"orders","0","3 2 1","3","1","5000","3:0","0",' in moves
    assert '"move partitions","orders","running","","1","5000","","operator",' in csv_text
