"""Changes by a program: planned, confirmed by the plan's digest, carried out by the code of the pages."""

import pytest

from console.automation.staged_moves.models import StagedMove
from console.kit.access.models import ReadOnlyMode
from console.kit.audit.models import AuditEvent
from console.processes.models import ManagedProcess
from console.shell.api.actions import ACTIONS


@pytest.fixture
def there(cluster, collect):
    cluster.create_topic("orders", 2, 1)
    collect()
    return cluster


def topics(cluster) -> set[str]:
    return {topic.name for topic in cluster.describe_topics()}


def test_a_topic_is_planned_and_then_created(program, operator, there):
    api = program(operator)
    plan = api.plan("create-topic", name="clicks", partition_count=3, replication_factor=1).json()
    assert plan["object_name"] == "clicks"
    assert "clicks" not in topics(there)
    assert "--create" in plan["command"]

    answer = api.apply(plan)
    assert (answer.status_code, answer.json()) == (200, {"applied": True, "messages": ["Topic clicks was created."]})
    assert "clicks" in topics(there)
    event = AuditEvent.objects.filter(action="create topic").get()
    assert (event.actor_name, event.object_name, event.result) == (operator.username, "clicks", "done")


@pytest.mark.parametrize("parameters", [{"name": "\ud800"}, {"name": ["\ud800"]}, {"configs\udfff": "1"}])
def test_half_of_a_character_is_refused_in_words(program, operator, there, parameters):
    answer = program(operator).plan("delete-topic", **parameters)
    assert (answer.status_code, "Half of a character" in answer.json()["detail"]) == (422, True)


def test_what_cannot_be_undone_needs_its_name(program, operator, there):
    api = program(operator)
    plan = api.plan("delete-topic", name="orders").json()
    assert plan["typed_name"] == "orders"
    refused = api.apply(plan)
    assert (refused.status_code, "orders" in topics(there)) == (422, True)
    assert "type the name exactly" in refused.json()["detail"]
    assert api.apply(plan, typed_name="orders").json()["applied"] is True
    assert "orders" not in topics(there)


def test_settings_are_planned_by_a_query_and_confirmed_at_another_address(program, operator, there):
    api = program(operator)
    wanted = {"segment.bytes": "60000", "max.message.bytes": "2000"}
    plan = api.plan("change-topic", name="orders", setting=list(wanted), value=list(wanted.values()))
    assert {change["name"] for change in plan.json()["changes"]} == {"segment.bytes", "max.message.bytes"}
    assert api.apply(plan.json(), typed_name=plan.json()["typed_name"]).json()["applied"] is True
    values = {setting.name: setting.value for setting in there.topic_settings("orders")}
    assert wanted.items() <= values.items()


def test_a_setting_that_another_action_changes_is_not_passed_by(program, operator, there):
    answer = program(operator).plan(
        "change-topic", name="orders", setting=["retention.ms", "max.message.bytes"], value=[1, 2000]
    )
    assert (answer.status_code, "not everything" in answer.json()["detail"]) == (422, True)


def test_a_plan_that_is_not_so_any_more_is_refused_and_shown_anew(program, operator, there, collect):
    api = program(operator)
    plan = api.plan("add-partitions", name="orders", partition_count=4).json()
    api.apply(api.plan("add-partitions", name="orders", partition_count=3).json())
    collect()
    answer = api.apply(plan)
    assert answer.status_code == 409
    assert "has changed since it was shown" in answer.json()["detail"]
    assert answer.json()["plan"]["digest"] != plan["digest"]


def test_a_digest_is_its_persons_alone(program, operator, administrator, there):
    plan = program(operator).plan("delete-topic", name="orders").json()
    assert program(administrator).apply(plan, typed_name="orders").status_code == 409
    assert "orders" in topics(there)


def test_without_a_digest_nothing_is_carried_out(program, operator, there):
    plan = program(operator).plan("delete-topic", name="orders").json()
    answer = program(operator).apply(plan | {"digest": ""}, typed_name="orders")
    assert (answer.status_code, "orders" in topics(there)) == (422, True)


def test_what_is_wrong_with_a_parameter_is_said(program, operator, there):
    api = program(operator)
    wrong = api.plan("create-topic", name="no/name", partition_count=0, replication_factor=1)
    assert wrong.status_code == 422
    assert "name: Letters, digits" in wrong.json()["detail"]
    assert "partition_count:" in wrong.json()["detail"]
    assert "has no parameter colour" in api.plan("delete-topic", name="orders", colour="red").json()["detail"]
    assert "needs the parameter name" in api.plan("delete-topic").json()["detail"]
    assert "There is no action make-coffee" in api.plan("make-coffee").json()["detail"]


@pytest.mark.parametrize("scope", ["plan", "apply"])
def test_each_step_needs_its_scope(program, operator, there, scope):
    plan = program(operator).plan("delete-topic", name="orders").json()
    api = program(operator, {"read", "records", "plan", "apply"} - {scope})
    answer = api.plan("delete-topic", name="orders") if scope == "plan" else api.apply(plan, typed_name="orders")
    assert answer.status_code == 403
    assert f"it needs the scope {scope}" in answer.json()["detail"]
    assert "orders" in topics(there)


def test_while_changes_are_off_plans_are_made_and_not_carried_out(program, operator, there):
    api = program(operator)
    ReadOnlyMode.objects.create(scope="console", by_name="root", reason="an audit")
    plan = api.plan("delete-topic", name="orders")
    assert plan.status_code == 200
    answer = api.apply(plan.json(), typed_name="orders")
    assert (answer.status_code, "orders" in topics(there)) == (423, True)
    assert "an audit" in answer.json()["detail"]


def test_a_process_is_started_without_a_plan(program, operator, settings, there):
    ManagedProcess.objects.create(name="broker-9", kind="broker", host=settings.HOST_NAME)
    assert program(operator).plan("start-process", name="broker-9").status_code == 409
    answer = program(operator).post("plans/apply", action="start-process", parameters={"name": "broker-9"})
    assert answer.json()["applied"] is True
    assert ManagedProcess.objects.get(name="broker-9").desired == "running"


@pytest.mark.parametrize("action", ACTIONS.values(), ids=lambda action: action.name)
def test_no_action_opens_what_its_page_does_not(program, viewer, there, action):
    """A viewer with all scopes: refused like the page refuses, whatever is asked."""
    values = {"name": "orders", "group": "readers", "broker_id": "1", "subject": "orders-value", "job": "dedupe"}
    values |= {"partition": "0", "offset": "0", "plugin": "org.example.X", "task": "0", "deed": "pause", "number": "1"}
    values |= {"kind": "disk"}
    parameters = {name: values[name] for name in action.path}
    api = program(viewer)
    applied = api.post("plans/apply", action=action.name, parameters=parameters, digest="0" * 32)
    assert applied.status_code in (403, 404)
    assert not AuditEvent.objects.filter(result="done", actor_name=viewer.username).exists()


def test_a_move_in_batches_is_planned_slowed_paused_and_called_off(program, operator, there):
    api = program(operator)
    plan = api.plan("move-in-batches", moves='{"orders": {"0": [3], "1": [1]}}', size=1, throttle=1).json()
    assert plan["changes"][-1] == {"name": "partitions at once", "old": None, "new": 1}
    assert api.apply(plan).json()["messages"] == ["It begins, as move 1."]
    plan = api.plan("throttle-batches", number="1", throttle="2").json()
    assert api.apply(plan).json()["applied"] is True
    for deed, state in (("pause", "paused"), ("resume", "running"), ("call-off", "called off")):
        api.post("plans/apply", action=f"{deed}-batches", parameters={"number": "1"})
        assert StagedMove.objects.get().state == state
    assert StagedMove.objects.get().rate == 2_000_000
