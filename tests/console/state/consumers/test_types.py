"""Groups of each type of Kafka 4, and of one that this console does not know."""

import csv
import io
import re

import pytest

from console.cluster.charts.measures import GROUP
from console.cluster.charts.readings import readings
from console.kit.access.models import NameRule
from console.kit.access.reach import EVERYTHING
from console.kit.audit.models import AuditEvent
from console.kit.gateway.groups.interface import CONSUMER, SHARE, STREAMS, GroupDetails, Subtopology
from console.signals.overview.client_reasons import group_reasons
from console.signals.overview.facts import troubled_groups
from console.state.consumers import store
from console.state.consumers.models import ConsumerGroup
from tests.console.confirming import digest_in

ORDERS = [("orders", 0), ("orders", 1)]
TYPED = {"modern": CONSUMER, "shared": SHARE, "app": STREAMS, "later": "quorum"}


@pytest.fixture(autouse=True)
def _topic(cluster):
    cluster.create_topic("orders", 2, 2)
    cluster.append("orders", 0, 100)
    cluster.append("orders", 1, 50)


@pytest.fixture
def _typed(cluster, collect):
    cluster.groups.make("modern", CONSUMER, GroupDetails(5, 4, "uniform"))
    cluster.groups.join(
        "modern", "a-1", *ORDERS, ("app-x", 0), target=(ORDERS[0],), epoch=4, subscription=("app-x", "orders")
    )
    cluster.groups.join("modern", "b-1", target=(ORDERS[1],), epoch=5, regex="ord.*")
    cluster.commit("modern", "orders", 0, 60)
    cluster.groups.make("shared", SHARE, GroupDetails(3, 3, "simple"))
    cluster.groups.join("shared", "c-1", *ORDERS, epoch=3)
    cluster.groups.join("shared", "d-1", *ORDERS, epoch=3)
    cluster.groups.share("shared", "orders", 0, 70)
    part = Subtopology("0", ("orders",), ("app-store-repartition",), (), ("app-store-changelog",))
    cluster.groups.make("app", STREAMS, GroupDetails(2, 2, topology_epoch=1, subtopologies=(part,)))
    tasks = {"tasks": "active 0: 0-1", "target_tasks": "active 0: 0-1", "target": tuple(ORDERS)}
    cluster.groups.join("app", "e-1", *ORDERS, ("orders", 7), epoch=2, **tasks)
    cluster.groups.make("later", "quorum")
    collect()


def group(name: str) -> ConsumerGroup:
    return ConsumerGroup.objects.get(name=name)


def page(client, address: str) -> str:
    return client.get(address).content.decode()


@pytest.mark.usefixtures("_typed")
def test_each_type_is_kept_with_its_members_and_epochs():
    assert {consumer_group.name: consumer_group.group_type for consumer_group in ConsumerGroup.objects.all()} == TYPED
    assert (group("modern").state, group("modern").member_count) == ("Stable", 2)
    assert group("modern").details == {"group_epoch": 5, "assignment_epoch": 4, "assignor": "uniform"}
    first, second = group("modern").member_rows
    assert (first.assigned_text, first.target_text, first.epoch) == ("orders 0-1; app-x 0", "orders 0", 4)
    assert (second.assigned_text, second.target_text, second.subscription_text) == ("", "orders 1", "regex ord.*")


@pytest.mark.usefixtures("_typed")
def test_a_streams_group_holds_only_partitions_that_there_are():
    assert [(partition.topic, partition.partition) for partition in group("app").partitions.all()] == ORDERS
    assert group("app").member_rows[0].assigned_text == "active 0: 0-1"


@pytest.mark.usefixtures("_typed")
def test_what_is_stored_reads_as_what_was_seen(collect):
    rows = store.load_groups()
    assert rows["app"].details.subtopologies[0].changelog_topics == ("app-store-changelog",)
    assert rows["modern"].members == tuple(group("modern").member_rows)


@pytest.mark.usefixtures("_typed")
def test_a_group_of_an_unknown_type_is_unknown_and_never_dead(viewer, client_of):
    seen = group("later")
    assert (seen.state, seen.member_count, seen.verdict) == ("Unknown", None, "unknown")
    text = page(client_of(viewer), "/consumers/later/")
    assert "Dead" not in text
    assert "This console does not know groups of type quorum." in text
    assert "No members" not in text


@pytest.mark.usefixtures("_typed")
def test_the_list_has_a_type_and_a_filter_by_it(viewer, client_of):
    client = client_of(viewer)
    text = page(client, "/consumers/")
    assert set(re.findall(r'data-cell="type">(\w+)<', text)) == set(TYPED.values())
    assert '<option value="share">' in text
    assert re.findall(r'href="/consumers/(\w+)/" title', page(client, "/consumers/?type=share")) == ["shared"]
    assert "No group is of type classic." in page(client, "/consumers/?type=classic")
    answer = client.get("/consumers/?format=csv")
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
    assert {row["group"]: (row["type"], row["members"]) for row in rows}["later"] == ("quorum", "")


@pytest.mark.usefixtures("_typed")
def test_the_page_shows_epochs_assignor_and_targets(viewer, client_of):
    text = page(client_of(viewer), "/consumers/modern/")
    for cell, value in (("group-epoch", "5"), ("assignment-epoch", "4"), ("assignor", "uniform")):
        assert re.search(rf'data-cell="{cell}"[^>]*>{value}<', text)
    assert "orders 0-1" in text
    assert '<th title="What the member is to hold' in text


@pytest.mark.usefixtures("_typed")
def test_the_page_of_a_streams_group_shows_tasks_and_sub_topologies(viewer, client_of):
    text = page(client_of(viewer), "/consumers/app/")
    assert "active 0: 0-1" in text
    assert "app-store-changelog" in text


@pytest.mark.usefixtures("_typed")
def test_the_page_of_a_share_group_shows_start_offsets(viewer, client_of):
    text = page(client_of(viewer), "/consumers/shared/")
    assert "Start offset" in text
    assert (group("shared").lag, group("shared").verdict) == (30, "unknown")


@pytest.mark.usefixtures("_typed")
def test_names_of_topics_beyond_the_rights_of_a_person_are_not_shown(viewer, client_of):
    NameRule.objects.create(user=viewer, resource="topic", pattern="app-*", level="nothing")
    client = client_of(viewer)
    for address in ("/consumers/app/", "/consumers/modern/", "/consumers/modern/?table=members&format=csv"):
        answer = client.get(address)
        text = (b"".join(answer.streaming_content) if answer.streaming else answer.content).decode()
        assert "orders" in text
        assert "app-" not in text


@pytest.mark.usefixtures("_typed")
def test_a_pattern_of_topics_is_hidden_from_a_person_who_may_not_see_all_topics(viewer, client_of):
    """It can name a topic that is hidden."""
    client = client_of(viewer)
    addresses = ("/consumers/modern/", "/consumers/modern/?table=members&format=csv")
    for is_limited in (False, True):
        if is_limited:
            NameRule.objects.create(user=viewer, resource="topic", pattern="app-*", level="nothing")
        for address in addresses:
            answer = client.get(address)
            text = (b"".join(answer.streaming_content) if answer.streaming else answer.content).decode()
            assert ("regex ord.*" in text, "regex (hidden)" in text) == (not is_limited, is_limited)


@pytest.mark.usefixtures("_typed")
def test_the_charted_number_of_members_is_that_of_each_type_or_unknown(clock, cluster, collect):
    members = {reading.name: reading.values[-1] for reading in readings(clock.now_ms()) if reading.kind is GROUP}
    assert members == {"modern": 2, "shared": 2, "app": 1, "later": None}


def test_a_live_group_of_a_new_type_is_not_said_to_have_no_members(cluster, collect, clock, monkeypatch):
    for room in ("console.signals.overview.facts", "console.state.consumers.models", "console.state.consumers.queries"):
        monkeypatch.setattr(f"{room}.now_ms", clock.now_ms)
    cluster.groups.make("modern", CONSUMER)
    cluster.groups.join("modern", "a-1", *ORDERS, epoch=1)
    for name in ("modern", "left"):
        cluster.commit(name, "orders", 0, 60)
    for _ in range(20):
        collect()
        clock.advance(15_000)
    texts = {reason.name: reason for reason in group_reasons(*troubled_groups(EVERYTHING))}
    assert "has no members" in texts["left"].text
    assert "no members" not in texts["modern"].text
    assert "delete it" not in texts["modern"].action.text
    assert (texts["left"].may_retire, texts["modern"].may_retire) == (True, False)


def test_a_share_group_that_stands_still_is_not_ok(cluster, collect, clock):
    cluster.groups.make("shared", SHARE)
    cluster.groups.join("shared", "c-1", *ORDERS)
    cluster.groups.share("shared", "orders", 0, 70)
    cluster.groups.share("shared", "orders", 1, 50)
    for _ in range(20):
        collect()
        clock.advance(15_000)
    assert group("shared").verdict in ("stalled", "stopped")
    cluster.groups.leave("shared", "c-1")
    collect()
    assert group("shared").verdict == "abandoned"


def test_a_share_group_that_is_done_with_everything_is_ok(cluster, collect):
    cluster.groups.make("shared", SHARE)
    cluster.groups.join("shared", "c-1", *ORDERS)
    cluster.groups.share("shared", "orders", 0, 100)
    cluster.groups.share("shared", "orders", 1, 50)
    collect()
    assert (group("shared").lag, group("shared").verdict) == (0, "ok")


@pytest.mark.usefixtures("_typed")
@pytest.mark.parametrize("change", ["+reset/?to=earliest&topic=orders", "+delete/"])
def test_nothing_of_an_unknown_group_is_changed(change, cluster, operator, client_of):
    client = client_of(operator)
    assert f'href="/consumers/later/{change.partition("?")[0]}"' not in page(client, "/consumers/later/")
    shown = client.get(f"/consumers/later/{change}")
    assert "Nothing of it is changed from here" in shown.content.decode()
    body = {"digest": digest_in(shown), "typed_name": "later", "offsets": '{"orders": {"0": 0, "1": 0}}'}
    assert client.post(f"/consumers/later/{change}", body).status_code == 409
    assert cluster.groups.describe_one("later").state == "Unknown"
    assert AuditEvent.objects.get().result == "refused"


@pytest.mark.usefixtures("_typed")
@pytest.mark.parametrize("name", ["modern", "shared", "app"])
def test_a_reset_of_a_live_group_warns_whatever_its_type(name, operator, client_of):
    assert "Stop its consumers" in page(client_of(operator), f"/consumers/{name}/+reset/?to=earliest")


@pytest.fixture
def _empty_share_group(cluster, collect):
    cluster.groups.make("shared", SHARE)
    cluster.groups.share("shared", "orders", 0, 70)
    cluster.groups.share("shared", "orders", 1, 20)
    collect()


@pytest.mark.usefixtures("_empty_share_group")
def test_start_offsets_of_a_share_group_are_reset(cluster, operator, client_of):
    client = client_of(operator)
    shown = client.get("/consumers/shared/+reset/?to=earliest")
    assert "kafka-share-groups.sh" in shown.content.decode()
    body = {"digest": digest_in(shown), "type": "share", "offsets": '{"orders": {"0": 0, "1": 0}}'}
    assert client.post("/consumers/shared/+reset/", body).status_code == 302
    view = cluster.groups.describe_one("shared")
    assert (view.group_type, dict(view.committed)) == (SHARE, {ORDERS[0]: 0, ORDERS[1]: 0})
    assert AuditEvent.objects.get().action == "reset share group offsets"


@pytest.mark.usefixtures("_empty_share_group")
def test_share_state_of_one_topic_is_deleted_as_planned_and_put_back(cluster, collect, operator, client_of):
    cluster.create_topic("payments", 1, 1)
    cluster.groups.share("shared", "payments", 0, 0)
    collect()
    client = client_of(operator)
    assert 'href="/consumers/shared/+forget/?topic=orders"' in page(client, "/consumers/shared/")
    shown = client.get("/consumers/shared/+forget/?topic=orders")
    text = shown.content.decode()
    assert "Its share state is deleted for good" in text
    assert "kafka-share-groups.sh" in text
    body = {"digest": digest_in(shown), "typed_name": "orders", "topic": "orders"}
    html = client.post("/consumers/shared/+forget/", body, follow=True).content.decode()
    assert dict(cluster.groups.describe_one("shared").committed) == {("payments", 0): 0}
    assert AuditEvent.objects.get().action == "delete share group offsets"
    undo = re.search(r'href="([^"]*\?undo=\d+)">Plan the undo', html)[1]
    shown = client.get(undo)
    body = {"digest": digest_in(shown), "type": "share", "offsets": '{"orders": {"0": 70, "1": 20}}'}
    assert client.post("/consumers/shared/+reset/", body).status_code == 302
    assert cluster.groups.describe_one("shared").committed[ORDERS[0]] == 70


@pytest.mark.usefixtures("_typed")
def test_share_state_is_not_deleted_while_consumers_are_there(operator, client_of):
    assert "Stop its consumers first" in page(client_of(operator), "/consumers/shared/+forget/?topic=orders")


@pytest.mark.usefixtures("_typed")
def test_programs_get_epochs_assignors_and_targets(viewer, client_of):
    client = client_of(viewer)
    groups = list(csv.DictReader(io.StringIO(b"".join(client.get("/consumers/?format=csv")).decode())))
    row = next(row for row in groups if row["group"] == "shared")
    assert (row["group_epoch"], row["assignment_epoch"], row["assignor"]) == ("3", "3", "simple")
    answer = client.get("/consumers/shared/?format=csv&table=members")
    (member, _) = csv.DictReader(io.StringIO(b"".join(answer).decode()))
    assert (member["epoch"], member["assigned"], member["target"]) == ("3", "orders 0-1", "orders 0-1")


@pytest.mark.usefixtures("_empty_share_group")
def test_a_deleted_share_group_is_named_with_its_start_offsets_and_put_back_as_one(cluster, operator, client_of):
    client = client_of(operator)
    shown = client.get("/consumers/shared/+delete/")
    text = shown.content.decode()
    assert "2 start offsets" in text
    assert "deleted for good" in text
    assert "kafka-share-groups.sh" in text
    body = {"digest": digest_in(shown), "typed_name": "shared"}
    page = client.post("/consumers/shared/+delete/", body, follow=True).content.decode()
    assert AuditEvent.objects.get().before == {
        "group": "Empty",
        "orders-0 start offset": 70,
        "orders-1 start offset": 20,
    }

    undo = re.search(r'href="([^"]*\?undo=\d+)">Plan the undo', page)[1]
    shown = client.get(undo)
    body = {"digest": digest_in(shown), "type": "share", "offsets": '{"orders": {"0": 70, "1": 20}}'}
    assert client.post("/consumers/shared/+reset/", body).status_code == 302
    view = cluster.groups.describe_one("shared")
    assert (view.group_type, dict(view.committed)) == (SHARE, {ORDERS[0]: 70, ORDERS[1]: 20})


@pytest.mark.usefixtures("_typed")
def test_addresses_of_members_are_for_persons_who_see_the_group(viewer, client_of):
    """As Kafka's DescribeGroups tells them to every principal that may DESCRIBE the group, and to no other."""
    client = client_of(viewer)
    addresses = ("/consumers/modern/", "/consumers/modern/?format=csv&table=members")
    for address in addresses:
        assert b"127.0.0.1" in b"".join(client.get(address)), address
    NameRule.objects.create(user=viewer, resource="group", pattern="mod*", level="nothing")
    for address in addresses:
        assert client.get(address).status_code == 403, address
    for address in ("/consumers/", "/topics/orders/+consumers/", "/find/?text=modern", "/find/?text=c"):
        text = client.get(address).content.decode()
        assert "127.0.0.1" not in text.replace("127.0.0.1:9092", ""), address
