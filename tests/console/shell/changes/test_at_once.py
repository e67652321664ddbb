"""What has a button and no page of a plan: rules of changes hold it as they hold any plan. What stops something, they
do not hold."""

from pathlib import Path

import pytest

from console.automation.rolling_restart.models import RollingRestart
from console.kit.audit.models import AuditEvent
from console.kit.operations.models import Operation
from console.processes import tasks
from console.processes.models import ManagedProcess
from console.shell.changes.models import ChangeRule, ProposedChange
from tests.console.shell.api.conftest import Program
from tests.console.shell.changes.test_times import carry_out

ROOT = Path(__file__).parents[4]
FREEZE = {
    "kind": "freeze", "actions": ["*"], "objects": ["*"], "from": "2000-01-01T00:00", "to": "2100-01-01T00:00",
    "why": "Black Friday",
}  # fmt: skip
State = Operation.State
#: Modules that write audit rows of their own, and why no rule of changes holds what they tell.
NOT_HELD = {
    "console/kit/plans/apply.py": "the gate itself",
    "console/shell/changes/actions.py": "deciding about what is held",
    "console/shell/changes/deciding.py": "the gate itself",
    "console/shell/changes/proposing.py": "the gate itself",
    "console/kit/audit/record.py": "where rows are written",
    "console/kit/audit/tally.py": "reading",
    "console/kit/audit/refusals.py": "what was refused",
    "console/people/users/login_views.py": "logging in",
    "console/people/users/actions.py": "one's own password; the rest has plans",
    "console/people/sso/accounts.py": "logging in",
    "console/people/sso/views.py": "logging in",
    "console/shell/api/token_views.py": "one's own tokens",
    "console/signals/alerts/actions.py": "who is told of what; nothing of a cluster",
    "console/state/clusters/management/commands/start_afresh.py": "a command of whoever has the machine",
    "console/signals/overview/quiet_actions.py": "who is told of what; nothing of a cluster",
    "console/automation/healing/actions.py": "what is dismissed; what is confirmed is a plan",
    "console/automation/healing/queue.py": "what is proposed",
    "console/cluster/topics/due.py": "that a planned deletion could not be carried out; what is deleted is a plan",
    "console/shell/fleet/actions.py": "that somebody tried to connect; what is kept is a plan",
    "console/kit/tables/actions.py": "how somebody looks at lists",
}
#: They ask the rules, by `ask_rules`.
HELD = {"console/cluster/records/actions.py", "console/processes/actions.py", "console/kit/operations/rows.py"}


@pytest.fixture(autouse=True)
def _no_worker(monkeypatch):
    monkeypatch.setattr(tasks, "enqueue", lambda task, process: None)


@pytest.fixture
def frozen(cluster, collect, settings) -> ChangeRule:
    """On everything. There are a topic, and a Connect worker that is stopped."""
    cluster.create_topic("orders", 1, 1)
    collect()
    spec = {"directory": str(settings.DATA_DIR / "connect"), "port": 8083, "properties": {}}
    ManagedProcess.objects.create(name="connect", kind="connect", spec=spec, host=settings.HOST_NAME)
    return ChangeRule.objects.create(name="sale", definition=FREEZE, actor_name="root")


@pytest.fixture
def restart(administrator) -> RollingRestart:
    return RollingRestart.objects.create(actor=administrator, actor_name="administrator", state=State.PAUSED)


@pytest.mark.parametrize(
    "address", ["/processes/connect/start", "/processes/connect/restart-never", "/topics/orders/+produce/"]
)
@pytest.mark.parametrize("by_part", [False, True], ids=["by a form", "by a button of htmx"])
def test_in_a_freeze_it_waits(frozen, administrator, client_of, cluster, address, by_part):
    browser = client_of(administrator)
    headers = {"hx-request": "true"} if by_part else {}
    answer = browser.post(address, {"value": "v"}, headers=headers)
    change = ProposedChange.objects.get()
    assert answer.headers["HX-Redirect" if by_part else "Location"] == f"/changes/{change.pk}/"
    row = ManagedProcess.objects.get()
    assert (row.desired, row.restart) == ("stopped", "always")
    assert cluster.open_records("orders", {0: 0}, True).read(0, 100) == []
    assert [event.action for event in AuditEvent.objects.all()] == ["propose change"]


def test_what_waited_is_done_once_its_time_has_come(frozen, operator, client_of):
    browser = client_of(operator)
    browser.post("/processes/connect/start")
    number = ProposedChange.objects.get().pk
    assert carry_out(browser, number).status_code == 409
    ChangeRule.objects.all().delete()
    assert carry_out(browser, number).status_code == 302
    assert ManagedProcess.objects.get().desired == "running"


@pytest.mark.parametrize("by_part", [False, True], ids=["by a form", "by a button of htmx"])
def test_where_a_rule_refuses_it_is_said_and_in_the_audit(frozen, operator, client_of, by_part):
    frozen.definition = {**FREEZE, "outside": "refuse"}
    frozen.save()
    browser = client_of(operator)
    answer = browser.post("/processes/connect/start", headers={"hx-request": "true"} if by_part else {})
    response = browser.get(answer.headers["HX-Redirect"]) if by_part else answer
    assert "Black Friday" in response.content.decode()
    assert by_part or answer.status_code == 409
    assert ManagedProcess.objects.get().desired == "stopped"
    event = AuditEvent.objects.get()
    assert (event.action, event.result, "Black Friday" in event.detail) == ("start", "refused", True)


def test_the_api_says_so_too(frozen, operator):
    answer = Program(operator).post("plans/apply", action="start-process", parameters={"name": "connect"})
    assert (answer.status_code, answer.json()["change"]) == (202, ProposedChange.objects.get().pk)
    frozen.definition = {**FREEZE, "outside": "refuse"}
    frozen.save()
    answer = Program(operator).post("plans/apply", action="start-process", parameters={"name": "connect"})
    assert (answer.status_code, "Black Friday" in answer.json()["detail"]) == (409, True)
    assert ManagedProcess.objects.get().desired == "stopped"


def test_what_is_paused_is_not_resumed_in_a_freeze_but_may_be_called_off(frozen, administrator, client_of, restart):
    browser = client_of(administrator)
    browser.post(f"/processes/+rolling-restart/{restart.pk}/resume")
    restart.refresh_from_db()
    assert (restart.state, ProposedChange.objects.count()) == (State.PAUSED, 1)
    browser.post(f"/processes/+rolling-restart/{restart.pk}/call-off")
    restart.refresh_from_db()
    assert restart.state == State.CALLED_OFF


def test_a_rule_about_beginning_holds_resuming(administrator, client_of, restart, db):
    rule = {"kind": "approval", "actions": ["begin rolling restart"], "objects": ["*"]}
    ChangeRule.objects.create(name="two", definition=rule, actor_name="root")
    client_of(administrator).post(f"/processes/+rolling-restart/{restart.pk}/resume")
    restart.refresh_from_db()
    assert (restart.state, ProposedChange.objects.get().needs_person) == (State.PAUSED, True)


def test_whoever_writes_audit_rows_of_its_own_asks_the_rules_or_says_why_not():
    files = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "console").rglob("*.py")
        if "record_event(" in path.read_text() or "count_event(" in path.read_text()
    }
    assert files == HELD | NOT_HELD.keys()
