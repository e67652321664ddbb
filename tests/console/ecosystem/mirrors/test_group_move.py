"""A consumer group goes on in the other cluster of a mirror, and comes back; former offsets are put back."""

import html
import re

import pytest

from broker.common.types import TopicPartition
from broker.mirror.batches import CopiedRun
from broker.mirror.records import TOPIC, HistoryRecord, MirrorPosition, PositionRecord, written
from console.ecosystem.mirrors.group_move import Ends, back, move_plan
from console.ecosystem.mirrors.models import MirroredTopic
from console.kit.access.models import NameRule
from console.kit.audit.models import AuditEvent
from console.kit.gateway.errors import GatewayError
from console.kit.gateway.processes.mirror import read_mirror_state
from tests.console.confirming import digest_in
from tests.fakes.gateway import FakeGateway

ADDRESS = "/mirrors/groups/"
THERE, BACK = "main->backup", "backup->main"


@pytest.fixture
def backup(settings, clock):
    settings.MIRROR_CLUSTERS = {"backup": FakeGateway(broker_count=1, clock_ms=clock.now_ms)}
    return settings.MIRROR_CLUSTERS["backup"]


@pytest.fixture(autouse=True)
def _mirrored(db, cluster, backup):
    """Topic orders is copied from here to the backup, where the first 40 records were there before."""
    for gateway, first in ((cluster, 0), (backup, 40)):
        gateway.create_topic("orders", 2, 1)
        gateway.append("orders", 0, 100 + first)
        gateway.append("orders", 1, 50)
    MirroredTopic.objects.create(cluster="backup", flow=THERE, topic="orders", target="orders")
    tell(backup, THERE, 0, CopiedRun(0, 40, 100))
    tell(backup, THERE, 1, CopiedRun(0, 0, 50))


def tell(gateway, flow: str, partition: int, *runs: CopiedRun, topic: str = "orders", target: str = "orders") -> None:
    """As a mirror would, in the cluster it copies into."""
    if TOPIC not in {topic.name for topic in gateway.describe_topics()}:
        gateway.create_topic(TOPIC, 1, 1)
    position = MirrorPosition(runs[-1].source + runs[-1].size, 0, None, target)
    for record in (
        PositionRecord(flow, TopicPartition(topic, partition), position, runs[-1:]),
        HistoryRecord(flow, TopicPartition(topic, partition), "0-1", runs),
    ):
        gateway.produce_record(TOPIC, 0, *written(record))


def committed(gateway, group: str = "billing") -> dict:
    return dict(gateway.groups.describe_one(group).committed)


def move_query(flow: str = THERE, group: str = "billing") -> dict[str, str]:
    return {"flow": flow, "group": group}


def planned(client, address: str = ADDRESS, **query) -> tuple[str, dict[str, str]]:
    """The page, and what its form would post."""
    text = client.get(address, query).content.decode()
    form = text[text.index('class="apply"') :]
    fields = re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form[: form.index("</form>")])
    return html.unescape(text), {name: html.unescape(value) for name, value in fields}


def test_a_group_goes_on_behind_what_it_has_read(cluster, backup, operator, client_of):
    cluster.groups.commit("billing", "orders", 0, 60)
    cluster.groups.commit("billing", "orders", 1, 10)
    client = client_of(operator)
    text, form = planned(client, **move_query())
    assert "billing goes on in backup" in text
    assert "from orders-0 at 60" in text
    assert "--flow 'main->backup'" in text
    assert committed(backup) == {}
    page = client.post(ADDRESS, form, follow=True).content.decode()
    assert "billing goes on in backup from the offsets of the plan." in page
    assert committed(backup) == {("orders", 0): 100, ("orders", 1): 10}
    event = AuditEvent.objects.get()
    assert (event.action, event.object_type, event.object_name, event.result) == (
        "move consumer group", "consumer group elsewhere", "backup/billing", "done",
    )  # fmt: skip


def test_it_comes_back_behind_what_it_has_read_of_the_copies(cluster, backup, operator, client_of):
    MirroredTopic.objects.create(cluster="", flow=BACK, topic="other", target="other")
    cluster.groups.commit("billing", "orders", 0, 60)
    backup.groups.commit("billing", "orders", 0, 130)
    _, form = planned(client_of(operator), **move_query(BACK))
    client_of(operator).post(ADDRESS, form)
    assert committed(cluster) == {("orders", 0): 90}
    event = AuditEvent.objects.get()
    assert (event.object_type, event.object_name) == ("consumer group", "billing")


def test_what_was_committed_there_before_is_put_back(cluster, backup, operator, client_of):
    cluster.groups.commit("billing", "orders", 0, 60)
    backup.groups.commit("billing", "orders", 0, 7)
    client = client_of(operator)
    _, form = planned(client, **move_query())
    page = client.post(ADDRESS, form, follow=True).content.decode()
    assert committed(backup) == {("orders", 0): 100}
    undo = html.unescape(re.search(r'href="([^"]*undo=\d+)">Plan the undo', page)[1])
    cluster.groups.join("billing", "app-1", ("orders", 0))  # it went back by itself, and reads
    text, form = planned(client, undo)
    assert "This puts back the offsets in backup" in text
    assert "The group has read in main" not in text
    client.post(ADDRESS, form)
    assert committed(backup) == {("orders", 0): 7}


def test_former_offsets_that_take_a_place_away_state_it_as_a_loss_and_are_not_called_safe(cluster, backup):
    backup.groups.commit("billing", "orders", 0, 7)
    ends = Ends(THERE, cluster, backup, "backup", "main:9092", "backup:9092")
    plan = move_plan(ends, "billing", back(ends, "billing", {("orders", 0): None}), is_undo=True)
    assert "The group's place in 1 partition is forgotten" in plan.losses[0]
    assert plan.safe_because == ""


def test_a_group_that_still_reads_is_not_moved(cluster, backup, operator, client_of):
    cluster.groups.commit("billing", "orders", 0, 60)
    client = client_of(operator)
    _, form = planned(client, **move_query())
    cluster.groups.join("billing", "app-1", ("orders", 0))
    response = client.post(ADDRESS, form)
    assert response.status_code == 409
    assert b"has changed since it was shown" in response.content
    assert b"The group still reads in main (state Stable)" in response.content
    assert committed(backup) == {}


def test_a_share_group_stays_where_its_records_are_acknowledged(cluster, backup, operator, client_of):
    cluster.groups.make("billing", "share")
    cluster.groups.share("billing", "orders", 0, 60)
    client = client_of(operator)
    shown = client.get(ADDRESS, move_query())
    assert "It is a share group in main" in shown.content.decode()
    assert client.post(ADDRESS, {**move_query(), "digest": digest_in(shown)}).status_code == 409
    assert committed(backup) == {}


def test_what_it_reads_meanwhile_makes_another_plan(cluster, backup, operator, client_of):
    cluster.groups.commit("billing", "orders", 0, 60)
    client = client_of(operator)
    _, form = planned(client, **move_query())
    cluster.groups.commit("billing", "orders", 0, 61)
    assert client.post(ADDRESS, form).status_code == 409
    assert committed(backup) == {}


def test_what_has_no_place_there_is_named(cluster, backup, operator, client_of):
    cluster.create_topic("local", 1, 1)
    cluster.append("local", 0, 10)
    cluster.groups.commit("billing", "orders", 0, 60)
    cluster.groups.commit("billing", "local", 0, 5)
    text, _ = planned(client_of(operator), **move_query())
    assert "1 of the partitions it reads have no place in backup" in text
    assert "it is not copied" in text


def test_an_offset_older_than_what_is_known_is_read_again_and_says_so(cluster, backup, operator, client_of):
    for gateway in (cluster, backup):
        gateway.create_topic("clicks", 1, 1)
        gateway.append("clicks", 0, 50)
    tell(backup, THERE, 0, CopiedRun(0, 0, 10), CopiedRun(30, 30, 20), topic="clicks", target="clicks")
    cluster.groups.commit("billing", "clicks", 0, 25)
    text, form = planned(client_of(operator), **move_query())
    assert "from clicks-0 at 25; some records are read again" in text
    client_of(operator).post(ADDRESS, form)
    assert committed(backup) == {("clicks", 0): 10}


def test_a_cluster_that_does_not_answer_is_named_and_nothing_is_done(cluster, backup, operator, client_of):
    cluster.groups.commit("billing", "orders", 0, 60)
    backup.stop_broker(1)
    response = client_of(operator).get(ADDRESS, move_query())
    assert response.status_code == 200
    assert b"No broker answered" in response.content


@pytest.mark.parametrize("flow", ["north->backup", "main->nowhere", "", "x"])
def test_a_flow_that_is_not_known_is_not_found(operator, client_of, flow):
    assert client_of(operator).get(ADDRESS, move_query(flow)).status_code == 404


def test_without_a_reachable_mirror_it_says_how_to_get_one(settings, operator, client_of):
    settings.MIRROR_CLUSTERS = {}
    assert "BARNABAS_MIRROR_CLUSTERS" in client_of(operator).get(ADDRESS).content.decode()


def test_who_may_not_see_what_it_reads_does_not_move_it(cluster, backup, operator, client_of):
    cluster.groups.commit("billing", "orders", 0, 60)
    NameRule.objects.create(user=operator, resource="topic", pattern="orders", level="nothing")
    assert client_of(operator).get(ADDRESS, move_query()).status_code == 403
    NameRule.objects.create(user=operator, resource="group", pattern="bill*", level="nothing")
    assert client_of(operator).get(ADDRESS, move_query()).status_code == 403


def test_a_viewer_does_not_get_there(viewer, client_of):
    assert client_of(viewer).get(ADDRESS).status_code == 403
    assert client_of(viewer).post(ADDRESS, move_query()).status_code == 403


def test_a_book_that_cannot_be_read_to_its_end_is_none(backup, monkeypatch):
    """An older place would be no loss, and still not what is true now."""
    monkeypatch.setattr("console.kit.gateway.processes.mirror._READ_SECONDS", 0)
    with pytest.raises(GatewayError, match="was not read to its end"):
        read_mirror_state(backup)
