"""A change that needs a second person: proposed, shown, approved or not; and no way around."""

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from console.kit.access.reach import EVERYTHING
from console.kit.audit.models import AuditEvent
from console.kit.live import groups
from console.kit.plans.digest import digest_of
from console.kit.plans.gate import the_gate
from console.shell.changes.models import ChangeRule, ProposedChange
from console.state.clusters.models import Topic
from tests.console.confirming import digest_in
from tests.console.shell.api.conftest import Program

APPROVAL = {"kind": "approval", "actions": ["*"], "objects": ["prod.*"], "why": "Customers read it"}


@pytest.fixture
def rule(db):
    return ChangeRule.objects.create(name="prod", definition=APPROVAL, actor_name="root")


@pytest.fixture
def there(cluster, collect):
    cluster.create_topic("prod.orders", 2, 1)
    cluster.create_topic("test.orders", 2, 1)
    collect()
    return cluster


@pytest.fixture
def second(db) -> User:
    user = User.objects.create_user("second", password="correct-horse-battery")
    user.groups.add(Group.objects.get_or_create(name="operator")[0])
    return user


@pytest.fixture
def propose(rule, there, operator, client_of):
    """The deletion of a topic, as the page's form confirms it."""

    def ask(name="prod.orders", person=None, **more):
        browser, address = client_of(person or operator), f"/topics/{name}/+delete/"
        shown = browser.get(address)
        return browser.post(address, {"digest": digest_in(shown), "typed_name": name, **more})

    return ask


def topics(cluster) -> set[str]:
    return {topic.name for topic in cluster.describe_topics()}


def approve(browser: Client, number: int, **more):
    shown = browser.get(f"/changes/{number}/")
    plan, user = shown.context.get("plan"), shown.context["user"]
    form = {"digest": digest_of(plan, user), "typed_name": plan.typed_name} if plan else {"digest": "-"}
    return browser.post(f"/changes/{number}/+approve/", {**form, **more})


def audited() -> list[tuple[str, str, str]]:
    return [(event.actor_name, event.action, event.result) for event in AuditEvent.objects.order_by("id")]


def test_it_is_proposed_and_done_when_somebody_else_approves(propose, there, second, client_of):
    answer = propose(reason_to_change="Nobody reads it")
    change = ProposedChange.objects.get()
    assert (answer.status_code, answer.url) == (302, f"/changes/{change.pk}/")
    assert "prod.orders" in topics(there)
    assert (change.reason, change.rules, change.state) == ("Nobody reads it", ["prod"], "waiting")
    browser = client_of(second)
    assert "Nobody reads it" in browser.get("/changes/").content.decode()
    assert approve(browser, change.pk).status_code == 302
    assert "prod.orders" not in topics(there)
    change.refresh_from_db()
    assert (change.state, change.decided_by) == ("done", "second")
    assert audited() == [
        ("operator", "propose change", "done"),
        ("operator", "delete topic", "done"),
        ("second", "approve change", "done"),
    ]
    done = AuditEvent.objects.get(action="delete topic")
    assert done.detail == f"Change {change.pk}, proposed by operator, approved by second."


def test_what_no_rule_is_about_is_done_at_once(propose, there):
    assert propose("test.orders").url == "/topics/"
    assert topics(there) == {"prod.orders"}
    assert not ProposedChange.objects.exists()


def test_nobody_approves_what_is_their_own(propose, there, operator, client_of):
    propose()
    change = ProposedChange.objects.get()
    browser = client_of(operator)
    assert b"Another user has to approve it" in browser.get(f"/changes/{change.pk}/").content
    assert approve(browser, change.pk).status_code == 409
    api = Program(operator)
    plan = api.plan("approve-change", number=change.pk).json()
    answer = api.apply(plan, typed_name=plan["typed_name"])
    assert (answer.status_code, "Another user" in answer.json()["detail"]) == (409, True)
    assert "prod.orders" in topics(there)


def test_who_may_not_do_it_may_not_approve_it(propose, there, viewer, tenant, client_of):
    propose()
    change = ProposedChange.objects.get()
    for person in (viewer, tenant):
        browser = client_of(person)
        assert browser.get(f"/changes/{change.pk}/").status_code in (403, 404)
        assert browser.post(f"/changes/{change.pk}/+approve/", {"digest": "-"}).status_code in (403, 404)
    assert "prod.orders" in topics(there)


def test_an_operator_does_not_approve_what_only_administrators_may_do(rule, there, administrator, second, client_of):
    """The page of declarations is open to operators, and says of the plan what stands against it."""
    ChangeRule.objects.update(definition={**APPROVAL, "objects": ["*"]})
    form = {"text": "quotas: [{ip: 127.0.0.9, connection_creation_rate: 5}]", "file": "quotas.yaml"}
    browser, seconds = client_of(administrator), client_of(second)
    shown = browser.post("/declaration/", form)
    assert browser.post("/declaration/", {**form, "digest": digest_in(shown)}).status_code == 302
    change = ProposedChange.objects.get()
    page = seconds.get(f"/changes/{change.pk}/")
    assert (page.context["plan"], "needs the role admin" in page.context["why"]) == (None, True)
    plan = browser.get(f"/changes/{change.pk}/").context["plan"]
    answer = seconds.post(f"/changes/{change.pk}/+approve/", {"digest": digest_of(plan, second)})
    assert (answer.status_code, there.quotas.describe()) == (409, {})
    third = User.objects.create_user("third", password="correct-horse-battery")
    third.groups.add(Group.objects.get_or_create(name="admin")[0])
    assert approve(client_of(third), change.pk).status_code == 302
    assert there.quotas.describe()


def test_what_is_hidden_is_hidden_among_changes(rule, there, administrator, limited, client_of, collect):
    rule.definition = {**APPROVAL, "objects": ["*"]}
    rule.save()
    there.create_topic("secret-plans", 1, 1)
    collect()
    browser = client_of(administrator)
    shown = browser.get("/topics/secret-plans/+delete/")
    browser.post("/topics/secret-plans/+delete/", {"digest": digest_in(shown), "typed_name": "secret-plans"})
    number = ProposedChange.objects.get().pk
    page = client_of(limited).get("/changes/")
    assert b"secret-plans" not in page.content
    assert NOTHING_WAITS in page.text
    assert client_of(limited).get(f"/changes/{number}/").status_code == 404
    assert client_of(limited).post(f"/changes/{number}/+discard/").status_code == 404
    rows = Program(limited).get("changes").json()["rows"]
    assert rows == []


def test_who_may_not_see_all_of_it_does_not_decide_about_it(propose, rule, there, limited, client_of, collect):
    """The deletion tells of groups that only who proposed it may see."""
    there.groups.commit("secret-group", "prod.orders", 0, 0)
    collect()
    propose()
    change = ProposedChange.objects.get()
    browser = client_of(limited)
    page = browser.get(f"/changes/{change.pk}/")
    assert (page.status_code, page.context["plan"]) == (200, None)
    assert b"objects beyond your rights" in page.content
    assert b"secret-group" not in page.content
    assert not browser.get("/changes/").context["rules"]
    assert approve(browser, change.pk).status_code == 409
    assert "prod.orders" in topics(there)


def test_a_plan_that_has_become_another_is_shown_and_not_done(propose, there, second, client_of, collect):
    propose()
    change = ProposedChange.objects.get()
    browser = client_of(second)
    seen = browser.get(f"/changes/{change.pk}/")
    assert seen.context["is_as_proposed"]
    there.groups.commit("readers", "prod.orders", 0, 0)
    collect()
    form = {"digest": digest_of(seen.context["plan"], second), "typed_name": "prod.orders"}
    answer = browser.post(f"/changes/{change.pk}/+approve/", form)
    assert answer.status_code == 409
    assert "has changed since it was shown" in answer.content.decode()
    assert not answer.context["is_as_proposed"]
    assert "prod.orders" in topics(there)
    change.refresh_from_db()
    assert change.is_waiting
    assert approve(browser, change.pk).status_code == 302
    assert "prod.orders" not in topics(there)


def test_the_name_is_typed_by_who_approves_too(propose, there, second, client_of):
    propose()
    answer = approve(client_of(second), ProposedChange.objects.get().pk, typed_name="prod")
    assert (answer.status_code, "prod.orders" in topics(there)) == (422, True)


def test_it_is_discarded_by_another_and_withdrawn_by_oneself(propose, there, second, operator, client_of):
    propose()
    propose()
    first, last = ProposedChange.objects.order_by("id")
    client_of(second).post(f"/changes/{first.pk}/+discard/", {"why": "It is read on Sundays"})
    client_of(operator).post(f"/changes/{last.pk}/+discard/")
    first.refresh_from_db()
    assert (first.state, first.outcome) == ("discarded", "It is read on Sundays")
    assert audited()[-2:] == [("second", "discard change", "done"), ("operator", "withdraw change", "done")]
    assert approve(client_of(second), first.pk).status_code == 409
    assert "prod.orders" in topics(there)


def test_it_expires_when_nobody_decides(propose, there, second, client_of, monkeypatch):
    propose()
    change = ProposedChange.objects.get()
    later = change.expires_at
    monkeypatch.setattr("django.utils.timezone.now", lambda: later)
    assert approve(client_of(second), change.pk).status_code == 409
    assert "prod.orders" in topics(there)
    client_of(second).get("/changes/")
    change.refresh_from_db()
    assert change.state == "expired"
    assert audited()[-1] == ("system", "let change expire", "done")


def test_who_lost_the_right_meanwhile_has_nothing_done(propose, there, second, operator, client_of):
    propose()
    operator.groups.clear()
    answer = approve(client_of(second), ProposedChange.objects.get().pk)
    assert answer.status_code == 409
    operator.is_active = False
    operator.save()
    assert approve(client_of(second), ProposedChange.objects.get().pk).status_code == 409
    assert "prod.orders" in topics(there)


def test_two_who_approve_at_once_do_it_once(propose, there, second, administrator, client_of):
    propose()
    change = ProposedChange.objects.get()
    seen = client_of(second).get(f"/changes/{change.pk}/")
    ProposedChange.objects.filter(pk=change.pk).update(state="doing", decided_at=change.at)
    form = {"digest": digest_of(seen.context["plan"], second), "typed_name": "prod.orders"}
    answer = client_of(second).post(f"/changes/{change.pk}/+approve/", form)
    assert (answer.status_code, "prod.orders" in topics(there)) == (409, True)


# -- no way around


def test_the_api_answers_202_with_the_change(propose, rule, there, operator, second):
    api = Program(operator)
    plan = api.plan("delete-topic", name="prod.orders").json()
    answer = api.apply(plan, typed_name="prod.orders", reason="Nobody reads it")
    change = ProposedChange.objects.get()
    assert answer.status_code == 202
    assert (answer.json()["applied"], answer.json()["change"]) == (False, change.pk)
    assert (change.reason, "prod.orders" in topics(there)) == ("Nobody reads it", True)
    other = Program(second)
    assert [row["change"] for row in other.get("changes").json()["rows"]] == [change.pk]
    decided = other.plan("approve-change", number=change.pk).json()
    assert decided["object_name"] == "prod.orders"
    assert other.apply(decided, typed_name=decided["typed_name"]).json()["applied"] is True
    assert "prod.orders" not in topics(there)


def test_files_wait_as_a_whole(rule, there, operator, second, client_of, collect):
    text = """\
topics:
  prod.bills: {partitions: 1, replication_factor: 1}
  test.bills: {partitions: 1, replication_factor: 1}
"""
    form = {"text": text, "file": "shop.yaml"}
    browser = client_of(operator)
    shown = browser.post("/declaration/", form)
    assert "needs a second person" in shown.content.decode()
    browser.post("/declaration/", {**form, "digest": digest_in(shown)})
    assert topics(there) == {"prod.orders", "test.orders"}
    change = ProposedChange.objects.get()
    assert approve(client_of(second), change.pk).status_code == 302
    assert topics(there) == {"prod.orders", "test.orders", "prod.bills", "test.bills"}
    assert ("operator", "create topic", "done") in audited()


def test_undo_waits_too(rule, there, operator, client_of, collect):
    there.create_topic("prod.empty", 1, 1)
    collect()
    from console.kit.plans.models import KeptInverse

    kept = KeptInverse.objects.create(
        actor_name="operator", action="create topic", object_type="topic", object_name="prod.empty", values={}
    )
    rule.definition = {**APPROVAL, "actions": ["delete topic"]}
    rule.save()
    browser, address = client_of(operator), f"/topics/prod.empty/+delete/?undo={kept.pk}"
    shown = browser.get(address)
    browser.post("/topics/prod.empty/+delete/", {"digest": digest_in(shown), "undo": kept.pk})
    assert "prod.empty" in topics(there)
    assert ProposedChange.objects.get().action == "undo create topic"


def test_many_topics_wait_for_the_one(rule, there, operator, second, client_of):
    from console.cluster.topics.many import TOPICS_MAX, deletion_of_many
    from console.cluster.topics.queries import doomed

    rule.definition = {**APPROVAL, "actions": ["delete topic"]}
    rule.save()
    rows = Topic.objects.filter(name__in=("prod.orders", "test.orders"))
    plan = deletion_of_many([doomed(row, EVERYTHING) for row in rows], "b:9092")
    assert TOPICS_MAX >= len(plan.about) == 2
    assert the_gate().outlook(plan).needs_person


def test_a_move_of_several_topics_waits_for_the_one(rule, there, operator, client_of, second):
    browser = client_of(operator)
    shown = browser.get("/placement/+move/?drain=1")
    assert len(shown.context["plan"].about) == 2
    fields = dict(shown.context["fields"])
    browser.post("/placement/+move/", {**fields, "digest": digest_in(shown)})
    assert ProposedChange.objects.get().action == "drain broker"
    assert there.moves.under_way() == {}
    assert approve(client_of(second), ProposedChange.objects.get().pk).status_code == 302
    assert there.moves.under_way()


def test_rules_themselves_are_changed_by_two(rule, administrator, client_of):
    browser = client_of(administrator)
    shown = browser.get("/changes/+rules/prod/+remove/")
    answer = browser.post("/changes/+rules/prod/+remove/", {"digest": digest_in(shown)})
    assert answer.url.startswith("/changes/")
    assert ChangeRule.objects.exists()
    other = User.objects.create_user("root2", password="x" * 20)
    other.groups.add(Group.objects.get(name="admin"))
    assert approve(client_of(other), ProposedChange.objects.get().pk).status_code == 302
    assert not ChangeRule.objects.exists()


def test_without_a_request_nothing_gets_through(rule, there, operator):
    from console.cluster.topics.actions import do_add_partitions
    from console.cluster.topics.enlargement import enlargement_plan
    from console.kit.plans.gate import ChangeRefusedNow
    from console.kit.plans.plan import Confirmation

    plan = enlargement_plan(Topic.objects.get(name="prod.orders"), 3, 0, "b:9092")
    with pytest.raises(ChangeRefusedNow, match="second person"):
        do_add_partitions(operator, plan, Confirmation(digest_of(plan, operator)))


def test_what_has_a_secret_does_not_wait(rule, there, administrator, client_of, connect, second):
    rule.definition = {**APPROVAL, "objects": ["*"]}
    rule.save()
    address = "/connectors/+create/org.example.FileSourceConnector/"
    form = {"as": "json", "json": '{"name": "in", "file": "/x", "db.phrase": "hunter2"}'}
    browser = client_of(administrator)
    shown = browser.post(address, form)
    fields = dict(shown.context["fields"])
    browser.post(address, {**fields, "digest": digest_in(shown)})
    assert not connect.changes()
    assert not ProposedChange.objects.exists()


def test_nobody_fills_the_list(propose, there, monkeypatch):
    monkeypatch.setattr("console.shell.changes.proposing.WAITING_OF_ONE_MAX", 2)
    for _ in range(3):
        answer = propose()
    assert ProposedChange.objects.count() == 2
    assert answer.url == "/topics/prod.orders/+delete/"


NOTHING_WAITS = 'id="mark-changes" class="count" data-live hidden'


def test_the_count_is_in_the_navigation_and_pages_are_told(
    propose, second, client_of, listeners, monkeypatch, django_capture_on_commit_callbacks
):
    sent = []
    monkeypatch.setattr("console.kit.live.push.send_now", lambda messages: sent.extend(messages))
    browser = client_of(second)
    assert NOTHING_WAITS in browser.get("/topics/").content.decode()
    with django_capture_on_commit_callbacks(execute=True):
        propose()
    assert 'title="1 waiting"' in browser.get("/topics/").content.decode()
    assert "live-resync" in dict(sent)[groups.WAITING_CHANGES]


def test_what_waits_is_counted_for_who_may_consent_to_it_and_for_nobody_else(
    propose, operator, second, viewer, limited, tenant, give_rule, client_of
):
    propose()
    give_rule(limited, "nothing", "topic", "prod.*")
    give_rule(tenant, "viewer", "topic", "prod.*")
    pages = {item: client_of(item).get("/topics/").content.decode() for item in (operator, second, limited, tenant)}
    assert 'title="1 waiting"' in pages.pop(second)
    assert [item.username for item, page in pages.items() if NOTHING_WAITS not in page] == []
    assert NOTHING_WAITS in client_of(viewer).get("/topics/").content.decode()


def test_what_waits_for_its_time_counts_for_who_proposed_it_too(rule, propose, operator, client_of):
    rule.definition = {**APPROVAL, "kind": "freeze", "from": "2000-01-01T00:00", "to": "2100-01-01T00:00"}
    rule.save()
    propose()
    assert 'title="1 waiting"' in client_of(operator).get("/topics/").content.decode()
