"""Changes that may not be made now: told when, proposed, refused, or made in an emergency; the clock is moved."""

from datetime import UTC, datetime

import pytest
from django.utils import timezone

from console.kit.audit.models import AuditEvent
from console.kit.plans.digest import digest_of
from console.shell.changes.models import ChangeRule, ProposedChange
from tests.console.confirming import digest_in
from tests.console.shell.api.conftest import Program

NIGHT = {
    "kind": "window", "actions": ["*"], "objects": ["prod.*"], "days": ["wed"], "begins": "22:00", "ends": "23:00",
    "zone": "UTC", "outside": "wait", "why": "The tills are open",
}  # fmt: skip
NOON = datetime(2026, 11, 25, 12, 0, tzinfo=UTC)  # a Wednesday
CREATE = {"name": "prod.new", "partition_count": "1", "replication_factor": "1"}


class Clock:
    now = NOON


@pytest.fixture
def clock_now(monkeypatch):
    monkeypatch.setattr(timezone, "now", lambda: Clock.now)
    Clock.now = NOON
    return Clock


@pytest.fixture
def night(db, cluster, collect, clock_now):
    collect()
    return ChangeRule.objects.create(name="night", definition=NIGHT, actor_name="root")


def create(browser, **more):
    shown = browser.post("/topics/+create/", CREATE)
    return shown, browser.post("/topics/+create/", {**CREATE, "digest": digest_in(shown), **more})


def topics(cluster) -> set[str]:
    return {topic.name for topic in cluster.describe_topics()}


def carry_out(browser, number, **more):
    shown = browser.get(f"/changes/{number}/")
    form = {"digest": digest_of(shown.context["plan"], shown.context["user"]), **more}
    return browser.post(f"/changes/{number}/+approve/", form)


def test_before_its_time_it_is_proposed_and_then_carried_out_by_oneself(night, operator, client_of, cluster, clock_now):
    browser = client_of(operator)
    shown, answer = create(browser)
    assert "possible from 2026-11-25 22:00 UTC" in shown.content.decode()
    change = ProposedChange.objects.get()
    assert (answer.url, change.needs_person) == (f"/changes/{change.pk}/", False)
    early = carry_out(browser, change.pk)
    assert (early.status_code, "The tills are open" in early.content.decode()) == (409, True)
    assert topics(cluster) == set()
    clock_now.now = NOON.replace(hour=22)
    assert carry_out(browser, change.pk).status_code == 302
    assert topics(cluster) == {"prod.new"}
    assert AuditEvent.objects.filter(action="make waiting change", result="done").exists()


def test_within_its_time_it_is_made_at_once(night, operator, client_of, cluster, clock_now):
    clock_now.now = NOON.replace(hour=22, minute=59)
    shown, answer = create(client_of(operator))
    assert answer.url == "/topics/"
    assert "The tills" not in shown.content.decode()


def test_a_clock_that_goes_back_closes_the_window_again(night, operator, client_of, cluster, clock_now):
    clock_now.now = NOON.replace(hour=22)
    browser = client_of(operator)
    shown = browser.post("/topics/+create/", CREATE)
    clock_now.now = NOON.replace(hour=21)
    browser.post("/topics/+create/", {**CREATE, "digest": digest_in(shown)})
    assert topics(cluster) == set()
    assert ProposedChange.objects.count() == 1


def test_a_rule_that_refuses_says_when_and_keeps_nothing(night, operator, client_of, cluster):
    night.definition = {**NIGHT, "outside": "refuse"}
    night.save()
    _, answer = create(client_of(operator))
    assert answer.status_code == 409
    assert "possible from 2026-11-25 22:00 UTC. Nothing was changed." in answer.content.decode()
    assert not ProposedChange.objects.exists()
    api = Program(operator)
    plan = api.plan("create-topic", **CREATE).json()
    assert "possible from" in api.apply(plan).json()["detail"]


def test_a_freeze_has_its_reason(db, operator, client_of, cluster, collect, clock_now):
    collect()
    rule = {"kind": "freeze", "actions": ["*"], "objects": ["*"], "from": "2026-11-20T00:00", "to": "2026-12-01T00:00"}
    ChangeRule.objects.create(name="sale", definition={**rule, "why": "Black Friday"}, actor_name="root")
    shown, _ = create(client_of(operator))
    text = shown.content.decode()
    assert "Black Friday" in text
    assert "possible from 2026-12-01 00:00 UTC" in text
    assert topics(cluster) == set()


def test_an_administrator_makes_it_in_an_emergency_and_the_audit_says_why(night, administrator, client_of, cluster):
    shown, answer = create(client_of(administrator), emergency="The disk is full")
    assert b'name="emergency"' in shown.content
    assert (answer.url, topics(cluster)) == ("/topics/", {"prod.new"})
    event = AuditEvent.objects.get(action="make change in emergency")
    assert (event.actor_name, event.detail) == ("administrator", "create topic, against night: The disk is full")


def test_nobody_else_has_emergencies(night, operator, client_of, cluster):
    shown, _ = create(client_of(operator), emergency="I am in a hurry")
    assert b'name="emergency"' not in shown.content
    assert topics(cluster) == set()
    api = Program(operator)
    plan = api.plan("create-topic", **CREATE).json()
    assert api.apply(plan, emergency="I am in a hurry").status_code == 202
    assert topics(cluster) == set()


def test_an_emergency_by_the_api_too(night, administrator, cluster):
    api = Program(administrator)
    plan = api.plan("create-topic", **CREATE).json()
    assert api.apply(plan, emergency="The disk is full").json()["applied"] is True
    assert topics(cluster) == {"prod.new"}


def test_an_emergency_does_not_replace_the_second_person(night, administrator, client_of, cluster):
    ChangeRule.objects.create(
        name="two", definition={"kind": "approval", "actions": ["create topic"], "objects": ["*"]}, actor_name="root"
    )
    _, answer = create(client_of(administrator), emergency="The disk is full")
    assert answer.url.startswith("/changes/")
    assert topics(cluster) == set()


def test_a_second_person_asked_for_later_is_asked_for(night, operator, client_of, cluster, clock_now):
    """What waited for its time alone is no way around a rule that came meanwhile."""
    browser = client_of(operator)
    create(browser)
    number = ProposedChange.objects.get().pk
    ChangeRule.objects.create(
        name="two", definition={"kind": "approval", "actions": ["create topic"], "objects": ["*"]}, actor_name="root"
    )
    clock_now.now = NOON.replace(hour=22)
    answer = carry_out(browser, number)
    assert (answer.status_code, "second person" in answer.content.decode()) == (409, True)
    assert topics(cluster) == set()


def test_approving_before_its_time_is_refused_with_the_time(night, operator, administrator, client_of, cluster):
    ChangeRule.objects.create(
        name="two", definition={"kind": "approval", "actions": ["create topic"], "objects": ["*"]}, actor_name="root"
    )
    create(client_of(operator))
    number = ProposedChange.objects.get().pk
    answer = carry_out(client_of(administrator), number)
    assert (answer.status_code, "possible from" in answer.content.decode()) == (409, True)
    assert carry_out(client_of(administrator), number, emergency="It burns").status_code == 302
    assert topics(cluster) == {"prod.new"}


def test_what_is_under_way_goes_on(night, operator, cluster, collect, clock_now):
    """A drain that was confirmed within its window does not stop at its end."""
    from console.kit.plans.gate import pass_gate
    from console.kit.plans.plan import Plan, PlanLine
    from console.kit.plans.posted import goes_on

    plan = Plan("drain broker", "topic", "prod.x", (PlanLine("a", 1, 2),), ())
    with goes_on():
        pass_gate(plan, operator)
