"""Making a reason of health quiet and taking it back: who may, what is written, what is bounded."""

import pytest
from django.urls import reverse

from console.kit.access.models import NameRule
from console.kit.audit.models import AuditEvent
from console.kit.common.clock import now_ms
from console.kit.common.names import DEFAULT_CLUSTER
from console.signals.overview import quiet_actions
from console.signals.overview.queries import overview_facts
from console.signals.overview.quiet import QuietKind
from console.state.clusters.models import ClusterState, Partition, QuietReason, Topic
from console.state.consumers.models import ConsumerGroup
from console.state.consumers.verdict import LagVerdict

ADDRESS = "/health/quiet"
GROUP = "group:unread:old"


@pytest.fixture(autouse=True)
def trouble(db) -> None:
    """One group that nobody reads for, and one partition that lacks a replica."""
    ClusterState.objects.create(name=DEFAULT_CLUSTER, controller_id=1, topics_at_ms=now_ms(), brokers_at_ms=now_ms())
    add_group("old")
    topic = Topic.objects.create(name="orders", under_replicated_count=1)
    Partition.objects.create(topic=topic, partition=0, leader=1, replicas=[1, 2], isr=[1])


def add_group(name: str) -> ConsumerGroup:
    stopped = {"verdict": LagVerdict.STOPPED.value, "severity": LagVerdict.STOPPED.severity}
    return ConsumerGroup.objects.create(name=name, state="Empty", coordinator=1, lag=45_880, **stopped)


def say(client, key=GROUP, kind="retired", **more):
    form = {"key": key, "kind": kind, "hours": "24", "why": "The service is gone."}
    shown = client.get(ADDRESS, {"key": key})
    seen = {"seen": shown.context["seen"]} if shown.status_code == 200 else {}
    return client.post(ADDRESS, form | seen | more)


def reason_keys() -> list[str]:
    return [reason.key for reason in overview_facts()["health"].reasons]


def test_a_group_is_retired_and_taken_back(operator, client_of):
    client = client_of(operator)
    assert reason_keys() == ["under-replicated", GROUP]
    assert say(client).url == reverse("health")
    assert reason_keys() == ["under-replicated"]
    overview = client.get("/").content.decode()
    assert "1 group retired" in overview
    page = client.get("/health/").content.decode()
    for text in ("Group old has no members", "The service is gone.", "operator", "it has a member again"):
        assert text in page
    event = AuditEvent.objects.get()
    assert (event.actor, event.action, event.object_name) == (operator, "retire health reason", "retired:old")
    assert event.after["why"] == "The service is gone."
    client.post(reverse("health-undo", args=[QuietReason.objects.get().pk]))
    assert reason_keys() == ["under-replicated", GROUP]
    assert AuditEvent.objects.order_by("-id").first().action == "undo quiet health reason"


def test_what_is_muted_is_counted_and_comes_back_at_its_end(operator, client_of, monkeypatch):
    say(client_of(operator), "under-replicated", "muted")
    say(client_of(operator))
    assert overview_facts()["health"].level == "ok"
    assert "1 reason muted, 1 group retired" in client_of(operator).get("/").content.decode()
    until_ms = QuietReason.objects.get(kind="muted").until_ms
    assert until_ms - QuietReason.objects.get(kind="muted").since_ms == pytest.approx(24 * 3_600_000, abs=60_000)
    monkeypatch.setattr("console.signals.overview.facts.now_ms", lambda: until_ms)
    assert reason_keys() == ["under-replicated"]


def test_more_partitions_bring_it_back(operator, client_of):
    say(client_of(operator), "under-replicated", "muted")
    Partition.objects.create(topic=Topic.objects.get(), partition=1, leader=1, replicas=[1, 2], isr=[1])
    assert reason_keys() == ["under-replicated", GROUP]


def test_a_muted_group_leaves_its_place_to_the_others(operator, client_of):
    for number in range(6):
        add_group(f"aged-{number}")
    assert reason_keys()[-1] == "more groups"
    say(client_of(operator), "group:unread:aged-0", "muted")
    assert "group:unread:aged-4" in reason_keys()
    assert len(overview_facts()["health"].muted) == 1


def test_what_became_worse_since_the_page_was_shown_is_not_muted(operator, client_of):
    client = client_of(operator)
    answer = say(client, "under-replicated", "muted", seen="warning 0 0")
    assert answer.status_code == 409
    assert "It has changed since the page was shown" in answer.content.decode()
    assert not QuietReason.objects.exists()


@pytest.mark.parametrize("wrong", [{"why": ""}, {"why": "x" * 201}, {"hours": "99999"}, {"kind": "for ever"}])
def test_nonsense_is_refused(wrong, operator, client_of):
    assert say(client_of(operator), **wrong).status_code == 422
    assert not QuietReason.objects.exists()


def test_only_a_group_is_retired(operator, client_of):
    assert say(client_of(operator), "under-replicated", "retired").status_code == 422


def test_what_is_no_reason_is_not_found(operator, client_of):
    for key in ("", "group:unread:other", "x" * 5_000):
        assert client_of(operator).get(ADDRESS, {"key": key}).status_code == 404
        assert client_of(operator).post(ADDRESS, {"key": key}).status_code == 404


@pytest.mark.parametrize("cast", ["viewer", "outsider"])
def test_who_only_looks_changes_nothing(cast, request, client_of):
    client = client_of(request.getfixturevalue(cast))
    assert client.get(ADDRESS, {"key": GROUP}).status_code == 403
    assert client.post(ADDRESS, {"key": GROUP, "kind": "muted", "hours": "1", "why": "x"}).status_code == 403
    row = QuietReason.objects.create(key=GROUP, kind="muted", about="group", name="old", level="warning", since_ms=1)
    assert client.post(reverse("health-undo", args=[row.pk])).status_code == 403
    assert QuietReason.objects.count() == 1


def test_rules_bind_what_is_seen_and_said(operator, client_of):
    say(client_of(operator), "under-replicated", "muted")
    say(client_of(operator))
    NameRule.objects.create(user=operator, resource="group", pattern="old", level="nothing")
    limited = client_of(operator)
    assert ">Group old has" not in limited.get("/health/").content.decode()
    assert limited.get(ADDRESS, {"key": GROUP}).status_code == 404
    for row in QuietReason.objects.all():
        assert limited.post(reverse("health-undo", args=[row.pk])).status_code in (403, 404)
    assert QuietReason.objects.count() == 2
    assert say(limited, "under-replicated", "acknowledged").status_code == 403
    NameRule.objects.create(user=operator, resource="topic", pattern="orders", level="nothing")
    assert "orders" not in limited.get("/health/").content.decode()
    assert say(limited, "under-replicated", "acknowledged").status_code == 404


def test_quiet_reasons_are_bounded_and_those_that_are_over_make_room(operator, client_of, monkeypatch):
    monkeypatch.setattr(quiet_actions, "QUIET_MAX", 1)
    client = client_of(operator)
    say(client, "under-replicated", "muted")
    assert say(client).status_code == 409
    assert [reason.kind for reason in QuietReason.objects.all()] == ["muted"]
    assert say(client, "under-replicated", "acknowledged").status_code == 302
    QuietReason.objects.update(until_ms=now_ms() - 1)
    assert say(client).status_code == 302
    assert QuietReason.objects.get().kind == QuietKind.RETIRED


def test_an_acknowledged_reason_counts_and_names_who_is_at_it(operator, client_of):
    say(client_of(operator), "under-replicated", "acknowledged")
    page = client_of(operator).get("/").content.decode()
    assert "Degraded" in page
    assert "acknowledged by operator until" in page
