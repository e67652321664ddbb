"""A topic deleted after a day of grace: planned, shown, called off; by the beat deleted, or kept with a reason."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone

from console.cluster.topics import due, grace_actions, schedule
from console.cluster.topics.due import carry_out_due
from console.cluster.topics.grace import DeletionFacts, Traces, traces_of, why_kept
from console.cluster.topics.models import OPEN, PlannedDeletion
from console.cluster.topics.tasks import delete_what_is_due
from console.ecosystem.connectors.models import Connector
from console.kit.access.models import NameRule, ReadOnlyMode
from console.kit.access.reach import EVERYTHING
from console.kit.access.read_only import CONSOLE
from console.kit.audit.models import AuditEvent
from console.shell.changes.models import ChangeRule, ProposedChange
from console.signals.overview.queries import health_within
from tests.console.confirming import digest_in
from tests.console.shell.api.conftest import Program

PAGE, KEEP, PLANNED = "/topics/orders/+delete/?when=later", "/topics/+keep/", "/topics/+planned/"


@pytest.fixture(autouse=True)
def _topics(cluster, collect):
    for name in ("orders", "clicks", "secret-plans"):
        cluster.create_topic(name, 3, 1)
    cluster.append("orders", 0, 1_500)
    cluster.commit("readers", "orders", 0, 10)
    collect()


def names(cluster) -> set[str]:
    return {topic.name for topic in cluster.describe_topics()}


def plan_it(client: Client, name: str = "orders", **options):
    address = f"/topics/{name}/+delete/?when=later"
    return client.post(address, {"when": "later", "digest": digest_in(client.get(address))}, **options)


def call_off(client: Client, *topics: str, **options):
    shown = client.get(KEEP, {"topic": topics})
    return client.post(KEEP, {"topic": topics, "digest": digest_in(shown)}, **options)


def let_a_day_pass(hours: float = 24.1) -> None:
    for row in PlannedDeletion.objects.filter(state__in=OPEN):
        PlannedDeletion.objects.filter(pk=row.pk).update(due_at=row.due_at - timedelta(hours=hours))


def row(topic: str = "orders") -> PlannedDeletion:
    return PlannedDeletion.objects.filter(topic=topic).first()


def audited() -> list[tuple[str, str, str, str]]:
    rows = AuditEvent.objects.order_by("id")
    return [(event.actor_name, event.action, event.object_name, event.result) for event in rows]


def text_of(response) -> str:
    return response.content.decode().replace("\u202f", " ")


class TestPlanning:
    def test_the_page_says_when_what_is_lost_then_and_that_it_can_be_called_off(self, operator, client_of):
        text = text_of(client_of(operator).get(PAGE))
        assert "Up to 1 500 records" in text
        assert "1 consumer group loses its place: readers." in text
        assert "Undo: call it off before then: nothing has happened to it." in text
        assert "Consumers without a group" in text
        assert "typed_name" not in text

    def test_the_topic_stays_and_everybody_is_shown_that_it_goes(self, cluster, operator, viewer, client_of):
        answer = plan_it(client_of(operator), follow=True)
        assert names(cluster) == {"orders", "clicks", "secret-plans"}
        assert "unless it is called off" in text_of(answer)
        assert audited() == [("operator", "delete topic later", "orders", "done")]
        browser = client_of(viewer)
        for address in ("/topics/orders/", "/topics/orders/+settings/", "/topics/orders/+consumers/"):
            assert "This topic will be deleted at" in text_of(browser.get(address)), address
        assert "goes" in text_of(browser.get("/topics/")).split("orders</a>")[1].split("</td>")[0]
        assert "will be deleted at" in text_of(browser.get("/"))
        assert "orders" in text_of(browser.get(PLANNED))

    def test_what_a_rule_hides_is_hidden_here_too(self, operator, limited, client_of):
        plan_it(client_of(operator), "secret-plans")
        browser = client_of(limited)
        for address in (PLANNED, "/"):
            assert "secret" not in text_of(browser.get(address)), address
        assert b"secret" not in b"".join(browser.get(f"{PLANNED}?format=csv").streaming_content)
        assert browser.get(KEEP, {"topic": "secret-plans"}).status_code == 403

    @pytest.mark.parametrize("person", ["viewer", "outsider"])
    def test_others_are_refused(self, person, request, client_of):
        browser = client_of(request.getfixturevalue(person))
        assert browser.get(PAGE).status_code == 403
        assert browser.post(PAGE, {"when": "later", "digest": "x"}).status_code == 403
        assert browser.get(KEEP, {"topic": "orders"}).status_code == 403
        assert not PlannedDeletion.objects.exists()

    def test_a_digest_of_deleting_now_plans_nothing_and_the_other_way_round(self, cluster, operator, client_of):
        browser = client_of(operator)
        at_once, later = (digest_in(browser.get(item)) for item in ("/topics/orders/+delete/", PAGE))
        assert browser.post(PAGE, {"when": "later", "digest": at_once, "typed_name": "orders"}).status_code == 409
        form = {"digest": later, "typed_name": "orders"}
        assert browser.post("/topics/orders/+delete/", form).status_code == 409
        assert ("orders" in names(cluster), PlannedDeletion.objects.count()) == (True, 0)

    def test_a_new_reader_makes_it_another_plan(self, cluster, collect, operator, client_of):
        browser = client_of(operator)
        digest = digest_in(browser.get(PAGE))
        cluster.commit("billing", "orders", 1, 0)
        collect()
        assert browser.post(PAGE, {"when": "later", "digest": digest}).status_code == 409

    def test_it_is_not_planned_twice(self, operator, client_of):
        browser = client_of(operator)
        digest = digest_in(browser.get(PAGE))
        plan_it(browser)
        assert browser.post(PAGE, {"when": "later", "digest": digest}).status_code == 409
        assert "planned already" in text_of(browser.get(PAGE))
        assert PlannedDeletion.objects.count() == 1

    def test_kafkas_own_and_what_nobody_could_compare_goes_at_once_or_not_at_all(
        self, cluster, collect, collector, operator, administrator, client_of
    ):
        cluster.create_topic("__own", 1, 1)
        collect()
        response = client_of(administrator).get("/topics/__own/+delete/?when=later")
        assert "is Kafka's own" in response.context["plan"].obstacle
        cluster.stop_broker(1)
        assert "Some partitions" in client_of(operator).get(PAGE).context["plan"].obstacle
        assert plan_it(client_of(operator)).status_code == 409

    def test_a_cluster_without_topic_ids_says_that_only_now_is_possible(self, operator, client_of):
        from console.state.clusters.models import Topic

        Topic.objects.filter(name="orders").update(topic_id="")
        assert "can only be deleted now" in client_of(operator).get(PAGE).context["plan"].obstacle

    def test_no_more_are_open_than_there_is_room_for(self, operator, client_of, monkeypatch):
        monkeypatch.setattr("console.cluster.topics.grace_plans.OPEN_MAX", 1)
        plan_it(client_of(operator), "clicks")
        assert "call some off" in client_of(operator).get(PAGE).context["plan"].obstacle

    def test_of_those_that_are_over_the_newest_are_kept(self, operator, client_of, monkeypatch):
        monkeypatch.setattr(grace_actions, "OVER_KEPT", 2)
        for _ in range(5):
            plan_it(client_of(operator))
            call_off(client_of(operator), "orders")
        assert PlannedDeletion.objects.count() <= 3


class TestCallingOff:
    def test_one_is_called_off_and_the_audit_knows(self, cluster, operator, client_of):
        browser = client_of(operator)
        plan_it(browser)
        assert "the deletion was called off" in text_of(call_off(browser, "orders", follow=True))
        let_a_day_pass()
        carry_out_due()
        assert names(cluster) == {"orders", "clicks", "secret-plans"}
        assert audited()[-1] == ("operator", "call off deletion", "orders", "done")
        assert "will be deleted" not in text_of(browser.get("/topics/orders/"))

    def test_many_are_planned_and_called_off_by_one_plan_each(self, cluster, operator, client_of):
        browser, query = client_of(operator), {"topic": ["orders", "clicks"], "do": "delete-later"}
        shown = browser.get("/topics/+many/", query)
        answer = browser.post("/topics/+many/", {**query, "digest": digest_in(shown)}, follow=True)
        assert "2 topics are deleted at" in text_of(answer)
        assert audited() == [("operator", "delete topics later", "2 topics", "done")]
        assert "2 topics stay" in text_of(call_off(browser, "orders", "clicks", follow=True))
        assert audited()[-1] == ("operator", "call off deletion", "2 topics", "done")
        assert not PlannedDeletion.objects.filter(state__in=OPEN).exists()

    @pytest.mark.parametrize("other", ["clicks", "../x", "<script>", "x" * 300])
    def test_what_is_said_and_shown_afterwards_is_of_the_one_that_was_called_off(self, other, operator, client_of):
        browser = client_of(operator)
        plan_it(browser)
        answer = call_off(browser, other, "orders", follow=True)
        assert answer.redirect_chain == [("/topics/orders/", 302)]
        assert "Topic orders stays" in text_of(answer)

    def test_one_that_was_planned_anew_meanwhile_is_another(self, operator, client_of):
        browser = client_of(operator)
        plan_it(browser)
        digest = digest_in(browser.get(KEEP, {"topic": "orders"}))
        call_off(browser, "orders")
        plan_it(browser)
        assert browser.post(KEEP, {"topic": "orders", "digest": digest}).status_code == 409

    def test_one_that_is_being_deleted_is_not_called_off(self, operator, client_of):
        plan_it(client_of(operator))
        PlannedDeletion.objects.update(state="doing")
        assert "too late" in client_of(operator).get(KEEP, {"topic": "orders"}).context["plan"].obstacle
        assert call_off(client_of(operator), "orders").status_code == 409

    def test_nothing_planned_is_nothing_to_call_off(self, operator, client_of):
        assert client_of(operator).get(KEEP, {"topic": "orders"}).status_code == 422
        assert client_of(operator).get(KEEP).status_code == 422

    def test_no_rule_has_it_wait(self, operator, client_of):
        plan_it(client_of(operator))
        ChangeRule.objects.create(
            name="two", definition={"kind": "approval", "actions": ["*"], "objects": ["*"]}, actor_name="root"
        )
        call_off(client_of(operator), "orders")
        assert (row().state, ProposedChange.objects.count()) == ("called off", 0)

    def test_deleting_it_now_ends_what_was_planned(self, cluster, operator, client_of):
        browser, address = client_of(operator), "/topics/orders/+delete/"
        plan_it(browser)
        browser.post(address, {"digest": digest_in(browser.get(address)), "typed_name": "orders"})
        assert "orders" not in names(cluster)
        assert (row().state, row().decided_by) == ("deleted", "operator")


class TestDue:
    @pytest.fixture(autouse=True)
    def _planned(self, operator, client_of):
        plan_it(client_of(operator))

    def keeps(self, cluster, why: str) -> None:
        let_a_day_pass()
        carry_out_due()
        assert "orders" in names(cluster)
        assert (row().state, why in row().outcome) == ("kept", True), row().outcome
        (reason,) = [reason for reason in health_within(EVERYTHING).reasons if reason.key == "kept topic:orders"]
        assert why in reason.evidence
        event = AuditEvent.objects.order_by("-id").first()
        assert (event.action, event.result, why in event.detail) == ("delete topic", "refused", True)

    def test_it_is_deleted_when_the_day_is_over_and_not_before(self, cluster):
        assert not schedule.ONLY_IF["delete-what-is-due"]()
        let_a_day_pass(hours=23.9)
        delete_what_is_due()
        assert "orders" in names(cluster)
        let_a_day_pass(hours=0.2)
        assert schedule.ONLY_IF["delete-what-is-due"]()
        delete_what_is_due()
        assert names(cluster) == {"clicks", "secret-plans"}
        assert row().state == "deleted"
        event = AuditEvent.objects.order_by("-id").first()
        assert (event.actor_name, event.action, event.result) == ("operator", "delete topic", "done")
        assert event.detail.startswith("Planned by operator at ")
        assert not schedule.ONLY_IF["delete-what-is-due"]()

    def test_retention_may_go_on_meanwhile(self, cluster):
        cluster.delete_records("orders", {0: 700})
        let_a_day_pass()
        carry_out_due()
        assert "orders" not in names(cluster)

    def test_written_to_it_is_kept(self, cluster):
        cluster.append("orders", 2, 1)
        self.keeps(cluster, "1 record was written to it since.")

    def test_read_it_is_kept_and_no_group_is_named(self, cluster):
        cluster.commit("readers", "orders", 0, 11)
        cluster.commit("others", "orders", 1, 0)
        self.keeps(cluster, "2 consumer groups have read it since.")
        assert "readers" not in row().outcome

    def test_with_members_that_read_it_it_is_kept(self, cluster):
        cluster.groups.join("readers", "client-1", ("orders", 0))
        self.keeps(cluster, "1 consumer group has members that read it.")

    def test_members_of_other_topics_keep_nothing(self, cluster):
        cluster.groups.join("readers", "client-1", ("clicks", 0))
        let_a_day_pass()
        carry_out_due()
        assert "orders" not in names(cluster)

    def test_with_a_connector_that_runs_it_is_kept(self, cluster):
        Connector.objects.create(name="sink", kind="sink", state="RUNNING", topics=["orders"])
        self.keeps(cluster, "that are running use it (1)")

    def test_another_topic_of_that_name_is_kept(self, cluster):
        cluster.delete_topic("orders")
        cluster.create_topic("orders", 3, 1)
        self.keeps(cluster, "It is another topic of that name")

    def test_with_more_partitions_it_is_kept(self, cluster):
        cluster.add_partitions("orders", 5)
        self.keeps(cluster, "It has 5 partitions now, and had 3.")

    def test_in_read_only_mode_it_is_kept(self, cluster):
        ReadOnlyMode.objects.create(scope=CONSOLE, by_name="root", since=timezone.now(), reason="audit")
        self.keeps(cluster, "read-only")

    def test_in_a_freeze_it_is_kept(self, cluster):
        now = timezone.now()
        rule = {"kind": "freeze", "actions": ["delete topic"], "objects": ["orders"], "why": "Black Friday"}
        rule |= {"from": f"{now - timedelta(days=1):%Y-%m-%dT%H:%M}", "to": f"{now + timedelta(days=1):%Y-%m-%dT%H:%M}"}
        ChangeRule.objects.create(name="sale", definition=rule, actor_name="root")
        self.keeps(cluster, "Black Friday")

    def test_a_rule_of_approval_that_came_since_keeps_it(self, cluster):
        rule = {"kind": "approval", "actions": ["delete topic"], "objects": ["orders"]}
        ChangeRule.objects.create(name="two", definition=rule, actor_name="root")
        self.keeps(cluster, "It needs a second person (rule two).")

    def test_of_somebody_who_may_not_delete_it_any_more_it_is_kept(self, cluster, operator):
        NameRule.objects.create(user=operator, resource="topic", pattern="orders", level="viewer")
        operator.groups.clear()
        self.keeps(cluster, "operator may not delete it any more.")

    def test_of_somebody_who_is_gone_it_is_kept(self, cluster, operator):
        operator.is_active = False
        operator.save()
        self.keeps(cluster, "operator has no account any more")

    def test_after_another_day_it_is_kept_though_all_is_well(self, cluster):
        let_a_day_pass(hours=24)
        self.keeps(cluster, "could not be carried out for a day")

    def test_while_the_cluster_is_away_it_waits_and_says_so(self, cluster):
        let_a_day_pass()
        cluster.cut_off()
        carry_out_due()
        assert (row().state, bool(row().outcome)) == ("waiting", True)
        cluster.cut_off(False)
        carry_out_due()
        assert "orders" not in names(cluster)

    def test_a_cluster_that_is_away_for_a_day_keeps_it(self, cluster):
        let_a_day_pass(hours=49)
        cluster.cut_off()
        carry_out_due()
        cluster.cut_off(False)
        assert (row().state, "orders" in names(cluster)) == ("kept", True)
        assert audited()[-1] == ("operator", "delete topic", "orders", "refused")

    def test_a_partition_that_does_not_answer_is_waited_for(self, cluster, collector):
        let_a_day_pass()
        cluster.stop_broker(1)
        carry_out_due()
        assert (row().state, "Some partitions" in row().outcome) == ("waiting", True)

    def test_what_is_gone_already_is_over_and_nobody_deleted_it_here(self, cluster, collect):
        cluster.delete_topic("orders")
        collect()
        let_a_day_pass()
        carry_out_due()
        assert (row().state, "another user" in row().outcome) == ("deleted", True)
        assert audited()[-1][1] == "delete topic later"

    def test_a_worker_that_dies_after_the_deletion_is_made_up_for_by_the_next_one(self, cluster, monkeypatch):
        let_a_day_pass()
        monkeypatch.setattr("console.cluster.topics.due._end", lambda *_: (_ for _ in ()).throw(SystemExit))
        with pytest.raises(SystemExit):
            carry_out_due()
        assert (row().state, "orders" in names(cluster)) == ("doing", False)
        monkeypatch.undo()

    def test_what_died_before_the_deletion_is_gone_on_with(self, cluster):
        let_a_day_pass()
        PlannedDeletion.objects.update(state="doing")
        carry_out_due()
        assert (row().state, "orders" in names(cluster)) == ("deleted", False)

    def test_what_died_after_it_is_in_the_audit_all_the_same(self, cluster, collect):
        let_a_day_pass()
        PlannedDeletion.objects.update(state="doing")
        cluster.delete_topic("orders")
        carry_out_due()
        assert row().state == "deleted"
        assert audited()[-1] == ("operator", "delete topic", "orders", "done")

    def test_one_that_was_kept_is_planned_anew_or_called_off(self, cluster, operator, client_of):
        cluster.append("orders", 2, 1)
        let_a_day_pass()
        carry_out_due()
        assert "was kept" in text_of(client_of(operator).get("/topics/orders/"))
        plan_it(client_of(operator))
        assert list(PlannedDeletion.objects.values_list("state", flat=True)) == ["waiting", "called off"]
        assert not [reason for reason in health_within(EVERYTHING).reasons if "kept" in reason.key]
        let_a_day_pass()
        carry_out_due()
        assert "orders" not in names(cluster)

    def test_what_is_too_much_for_one_beat_is_left_to_the_next(self, cluster, operator, client_of, monkeypatch):
        plan_it(client_of(operator), "clicks")
        monkeypatch.setattr(due, "AT_ONCE", 1)
        monkeypatch.setattr(due, "BEAT_MAX_MS", -1)
        let_a_day_pass()
        carry_out_due()
        assert len(names(cluster)) == 2
        carry_out_due()
        assert names(cluster) == {"secret-plans"}

    def test_one_that_was_called_off_and_planned_anew_while_it_was_looked_at_has_its_own_day(
        self, cluster, operator, client_of, monkeypatch
    ):
        def meanwhile(*arguments):
            monkeypatch.undo()
            call_off(client_of(operator), "orders")
            plan_it(client_of(operator))
            return due.traces_now(*arguments)

        let_a_day_pass()
        monkeypatch.setattr(due, "traces_now", meanwhile)
        carry_out_due()
        assert "orders" in names(cluster)
        assert list(PlannedDeletion.objects.values_list("state", flat=True)) == ["waiting", "called off"]

    def test_one_that_is_kept_holds_up_no_other(self, cluster, operator, client_of):
        plan_it(client_of(operator), "clicks")
        cluster.append("orders", 2, 1)
        let_a_day_pass()
        carry_out_due()
        assert names(cluster) == {"orders", "secret-plans"}


def test_who_approved_the_planning_has_approved_the_deletion(cluster, operator, client_of):
    rule = {"kind": "approval", "actions": ["delete topic"], "objects": ["*"]}
    ChangeRule.objects.create(name="two", definition=rule, actor_name="root")
    plan_it(client_of(operator))
    assert not PlannedDeletion.objects.exists()
    change = ProposedChange.objects.get()
    second = User.objects.create_user("second", password="correct-horse-battery")
    second.groups.add(Group.objects.get_or_create(name="operator")[0])
    browser = client_of(second)
    shown = browser.get(f"/changes/{change.pk}/")
    browser.post(f"/changes/{change.pk}/+approve/", {"digest": digest_in(shown)})
    assert row().approver == second
    let_a_day_pass()
    carry_out_due()
    assert "orders" not in names(cluster)
    assert "approved by second" in AuditEvent.objects.order_by("-id").first().detail


def test_programs_plan_it_and_call_it_off_too(cluster, operator):
    program = Program(operator)
    plan = program.plan("delete-topic", name="orders", when="later").json()
    assert program.apply(plan).status_code == 200
    assert row().state == "waiting"
    plan = program.plan("keep-topics", topic=["orders"]).json()
    assert program.apply(plan).status_code == 200
    assert row().state == "called off"


def test_a_partition_that_was_added_and_does_not_answer_is_counted_as_empty():
    then, now = Traces("id", (5,), {}), DeletionFacts(Traces("id", (5, None), {}))
    assert list(why_kept(then, now)) == ["It has 2 partitions now, and had 1."]


def test_a_group_that_cannot_be_described_may_read_any_topic(cluster):
    cluster.groups.make("later", "quorum")
    spans = cluster.record_spans("orders", committed_only=False)
    traces = traces_of("orders", "", 3, spans, cluster.groups.describe(), cluster.broker_count)
    assert "it is unknown which groups read it" in traces.unknown
