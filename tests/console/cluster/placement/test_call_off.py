import re

import pytest

from console.cluster.placement.models import OngoingMove, Reassignment
from console.kit.audit.models import AuditEvent

ADDRESS = "/placement/+call-off/"


@pytest.fixture(autouse=True)
def _moving_orders(cluster, collect, collector):
    cluster.create_topic("orders", 2, 1)
    cluster.append("orders", 0, 50)
    cluster.moves.alter({("orders", 0): (3,), ("orders", 1): (3,)})
    cluster.moves.copy("orders", 0, 3, 2_000)
    collector.look("sizes")
    collect()


def plan(client, query: str = "") -> tuple[str, dict]:
    text = client.get(f"{ADDRESS}{query}").content.decode()
    form = re.search(r'<form method="post" action="/placement/\+call-off/".*?</form>', text, re.S)[0]
    return text, dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))


def test_the_plan_says_what_is_thrown_away(operator, client_of):
    text, _ = plan(client_of(operator))

    assert "2\u202fKB that were copied to broker 3 are thrown away" in text
    assert "no record is lost" in text
    assert "--cancel" in text


def test_operator_calls_everything_off_and_the_audit_knows(cluster, collect, operator, client_of):
    client = client_of(operator)
    _, sent = plan(client)
    response = client.post(ADDRESS, sent, follow=True)
    collect()

    assert cluster.moves.under_way() == {}
    assert cluster.moves.assignments(["orders"]) == {("orders", 0): (1,), ("orders", 1): (2,)}
    assert b"2 partitions are called off." in response.content
    assert not OngoingMove.objects.exists()
    event = AuditEvent.objects.get()
    assert (event.action, event.result, event.after) == ("call off move", "done", {"orders-0": [1], "orders-1": [2]})


def test_one_partition_is_called_off_alone(cluster, operator, client_of):
    client = client_of(operator)
    _, sent = plan(client, "?place=orders:0")
    client.post(ADDRESS, sent)

    assert cluster.moves.under_way().keys() == {("orders", 1)}


@pytest.mark.parametrize("person", ["viewer", "outsider"])
def test_others_are_refused_and_it_goes_on(person, request, cluster, client_of):
    client = client_of(request.getfixturevalue(person))

    assert client.get(ADDRESS).status_code == 403
    assert client.post(ADDRESS, {"digest": "any"}).status_code == 403
    assert len(cluster.moves.under_way()) == 2


def test_what_arrived_meanwhile_makes_it_another_plan(cluster, operator, client_of):
    client = client_of(operator)
    _, sent = plan(client)
    cluster.moves.arrive(("orders", 0))
    response = client.post(ADDRESS, sent)

    assert response.status_code == 409
    assert cluster.moves.under_way().keys() == {("orders", 1)}


def test_nothing_on_the_move_is_said(cluster, operator, client_of):
    cluster.moves.arrive()

    assert "no partition is being reassigned" in client_of(operator).get(ADDRESS).content.decode()


def test_a_move_asked_for_here_that_is_called_off_says_so(cluster, collect):
    kept = Reassignment.objects.create(
        state="running",
        actor_name="operator",
        action="move partitions",
        object_name="orders",
        former={"orders": {"0": [1]}},
        wanted={"orders": {"0": [3]}},
        partition_count=1,
    )
    cluster.moves.alter({("orders", 0): None})
    collect()
    kept.refresh_from_db()
    assert kept.state == "running"
    collect()
    kept.refresh_from_db()

    assert (kept.state, kept.sentence) == ("called off", "0 partitions of 1 arrived.")
