"""An unclean election is a reason of health until somebody has acknowledged it, and the next one is heard again."""

import pytest

from console.kit.access.models import NameRule
from console.kit.audit.models import AuditEvent
from console.kit.common.clock import now_ms
from console.kit.common.names import DEFAULT_CLUSTER
from console.signals.overview.queries import overview_facts
from console.signals.overview.unclean_reason import TOLD_FOR_MS
from console.state.clusters.models import ClusterState, Partition, Topic
from console.state.history.models import Change

ADDRESS = "/health/quiet"
KEY = "unclean elections"


@pytest.fixture(autouse=True)
def election(db) -> Change:
    ClusterState.objects.create(name=DEFAULT_CLUSTER, controller_id=1, topics_at_ms=now_ms(), brokers_at_ms=now_ms())
    return add("orders")


def add(topic: str, tone="critical", age_ms=0) -> Change:
    row, _ = Topic.objects.get_or_create(name=topic)
    Partition.objects.get_or_create(topic=row, partition=0, leader=2, replicas=[2], isr=[2])
    sentence = f"{topic}-0: unclean election: broker 2 leads. At least 54 acknowledged records are lost"
    return Change.objects.create(
        at_ms=now_ms() - age_ms, kind="unclean", object_name=topic, partition=0, sentence=sentence, tone=tone
    )


def reasons() -> list[str]:
    return [reason.text for reason in overview_facts()["health"].reasons]


def acknowledge(client, **more):
    shown = client.get(ADDRESS, {"key": KEY})
    form = {"key": KEY, "kind": "acknowledged", "why": "Sent again.", "seen": shown.context["seen"]}
    return client.post(ADDRESS, form | more)


def test_it_is_critical_and_says_what_it_cost_and_what_to_do(client_of, operator):
    assert reasons() == ["Unclean election in orders: acknowledged records may be lost."]
    page = client_of(operator).get("/").content.decode()
    for words in ("Critical", "At least 54 acknowledged records are lost", "have its producers send again"):
        assert words in page


def test_it_counts_until_it_is_acknowledged_and_the_next_is_heard_again(client_of, operator):
    client = client_of(operator)
    page = client.get(ADDRESS, {"key": KEY}).content.decode()
    assert "Acknowledge: it has been dealt with; it counts no more" in page
    assert "Until" not in page
    assert "Mute:" not in page
    assert acknowledge(client).status_code == 302
    health = overview_facts()["health"]
    assert (health.level, health.reasons, health.acknowledged_count) == ("ok", (), 1)
    assert "unclean elections acknowledged" in client.get("/").content.decode()
    assert AuditEvent.objects.get().action == "acknowledge health reason"
    add("payments")
    assert reasons() == ["Unclean election in payments and orders: acknowledged records may be lost."]


def test_it_is_not_muted(client_of, operator):
    assert acknowledge(client_of(operator), kind="muted").status_code == 422
    assert reasons()


def test_what_is_acknowledged_is_not_heard_again_by_getting_old(client_of, operator, monkeypatch):
    acknowledge(client_of(operator))
    later_ms = now_ms() + TOLD_FOR_MS + 1
    monkeypatch.setattr("console.signals.overview.facts.now_ms", lambda: later_ms)
    assert reasons() == []


def test_a_possibility_is_a_warning_and_called_one(election):
    Change.objects.update(tone="warning")
    health = overview_facts()["health"]
    assert health.level == "warning"
    assert health.reasons[0].text.startswith("Possibly an unclean election in orders")


def test_a_deleted_topic_has_lost_all_of_it_anyway():
    Topic.objects.all().delete()
    assert reasons() == []


def test_who_may_not_see_the_topic_reads_nothing_of_it(client_of, operator):
    NameRule.objects.create(user=operator, resource="topic", pattern="orders", level="nothing")
    client = client_of(operator)
    for address in ("/", "/health/", "/history/"):
        assert "orders" not in client.get(address).content.decode()
    assert client.get(ADDRESS, {"key": KEY}).status_code == 404
