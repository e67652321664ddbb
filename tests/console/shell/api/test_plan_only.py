"""A token with the scope `plan` changes nothing, whatever parameters it sends; nor does any while changes are off."""

import json

import pytest

from console.kit.access.models import ReadOnlyMode
from console.kit.audit.models import AuditEvent
from console.kit.plans.digest import digest_of
from console.kit.plans.posted import CONFIRMATION_FIELDS, Posted, PostMode
from console.processes.models import ManagedProcess
from console.shell.api import door
from console.shell.api.actions import ACTIONS
from console.shell.api.plans import Confirmed

JOB = {"job": "dedupe", "name": "doubles", "input.topic": "orders", "output.topic": "orders-once"}


@pytest.fixture
def there(cluster, collect):
    for name in ("orders", "orders-once"):
        cluster.create_topic(name, 2, 1)
    collect()
    return cluster


@pytest.mark.parametrize("is_read_only", [False, True])
def test_a_plan_is_not_carried_out_by_a_digest_among_its_parameters(program, administrator, there, is_read_only):
    if is_read_only:
        ReadOnlyMode.objects.create(scope="console", by_name="root", reason="an audit")
    planner = program(administrator, ("plan",))
    plan = planner.plan("add-stream", **JOB).json()
    again = planner.plan("add-stream", **plan["apply"]["parameters"], digest=plan["digest"])
    assert not ManagedProcess.objects.exists()
    assert not AuditEvent.objects.filter(action="add stream job").exists()
    assert (again.status_code, "digest is no parameter" in again.json()["detail"]) == (422, True)


@pytest.mark.parametrize("field", sorted(CONFIRMATION_FIELDS))
@pytest.mark.parametrize("action", ["add-stream", "create-topic"])
def test_fields_of_a_confirmation_are_no_parameters(program, administrator, there, action, field):
    api, values = program(administrator), JOB if action == "add-stream" else {"name": "clicks"}
    answers = [
        api.plan(action, **values, **{field: "1"}),
        api.post("plans/apply", action=action, parameters=values | {field: "1"}, digest="0" * 32),
    ]
    for answer in answers:
        assert (answer.status_code, f"{field} is no parameter" in answer.json()["detail"]) == (422, True)
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    arguments = {"action": action, "parameters": values | {field: "1"}}
    message["params"] = {"name": "plan", "arguments": arguments}
    result = api.post("mcp", **message).json()["result"]
    assert result["isError"]
    assert f"{field} is no parameter" in json.dumps(result)


def test_all_that_confirms_a_plan_is_known_as_a_field_of_a_confirmation():
    sent = {name for name, _ in Confirmed("d", "n", "r", "e").pairs}
    assert sent <= CONFIRMATION_FIELDS
    declared = {name for action in ACTIONS.values() for name in (*action.path, *action.query, *action.form)}
    assert not declared & CONFIRMATION_FIELDS


def test_a_page_that_is_only_looked_at_cannot_carry_its_plan_out(administrator, there):
    """Not even if the fields of a confirmation reach it: a look is another mode than a confirmation."""
    path, form = "/streams/+add/dedupe/", [(name, value) for name, value in JOB.items() if name != "job"]
    shown = door.look(administrator, path, (), form).shown["plan"]
    confirmed = [*form, ("digest", digest_of(shown, administrator))]
    assert door.look(administrator, path, (), confirmed).shown["error"] == ""
    refused = door.ask(administrator, path, (), confirmed, Posted(path, mode=PostMode.LOOK))
    assert "Only the plan" in refused.shown["error"]
    assert not ManagedProcess.objects.exists()
    assert door.ask(administrator, path, (), confirmed).has_led_on
    assert ManagedProcess.objects.get().name == "doubles"
