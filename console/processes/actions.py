"""What an operator may do to a process. Each writes the wish and its audit row together; a Celery task carries it out.

A task that is lost does no harm: the wish is in the row, and the reconcile of every second pursues it too.
"""

from celery import Task
from django.contrib.auth.models import User

from console.kit.audit.record import record_event
from console.kit.common.databases import cluster_atomic, on_cluster_commit
from console.kit.plans.apply import ask_rules, carry_out
from console.kit.plans.inverse import save_inverse
from console.kit.plans.plan import Confirmation, Plan, PlanLine
from console.processes import tasks
from console.processes.announce import push_process
from console.processes.ending import KILL, RESTART, STOP
from console.processes.kinds.spec import Spec
from console.processes.models import ManagedProcess
from console.processes.registry import add_process
from console.processes.restarts import Policy
from console.processes.states import Desired, Request

SET_RESTART = "set restart"
_ENDS = {
    STOP: (Desired.STOPPED, Request.STOP, tasks.stop),
    RESTART: (Desired.RUNNING, Request.RESTART, tasks.restart),
    KILL: (Desired.STOPPED, Request.KILL, tasks.kill),
}


def do_start(actor: User | None, process: ManagedProcess) -> None:
    """Start it now and whenever the console comes up. Does nothing to one that runs."""
    _wish(actor, process, "start", Desired.RUNNING, Request.START, tasks.start)


def do_stop(actor: User, process: ManagedProcess) -> None:
    """End it now (SIGTERM, SIGKILL after its grace) and leave it stopped."""
    _wish(actor, process, "stop", Desired.STOPPED, Request.STOP, tasks.stop)


def do_restart(actor: User, process: ManagedProcess) -> None:
    """End it and start it again as soon as it has gone."""
    _wish(actor, process, "restart", Desired.RUNNING, Request.RESTART, tasks.restart)


def do_start_as_asked(actor: User, process: ManagedProcess) -> None:
    """Start a process for a person, which change rules may hold. Raises NotConfirmedError."""
    line = PlanLine("desired", process.desired, str(Desired.RUNNING))
    ask_rules(actor, Plan("start", "process", process.name, (line,), ()))
    do_start(actor, process)


def do_kill(actor: User, process: ManagedProcess) -> None:
    """End it at once (SIGKILL) and leave it stopped."""
    _wish(actor, process, "kill process", Desired.STOPPED, Request.KILL, tasks.kill)


def do_set_restart(actor: User, process: ManagedProcess, policy: Policy) -> None:
    """Set whether the process is started again after it ended by itself; one that waits for that is started, or not,
    accordingly.

    Raises NotConfirmedError.
    """
    ask_rules(
        actor, Plan(SET_RESTART, "process", process.name, (PlanLine("restart", process.restart, policy.value),), ())
    )
    with cluster_atomic():
        locked = ManagedProcess.objects.select_for_update().get(pk=process.pk)
        before, locked.restart = locked.restart, policy.value
        locked.save(update_fields=["restart"])
        record_event(actor, SET_RESTART, "process", locked.name, {"restart": before}, {"restart": policy.value})
        push_process(locked)


def do_remove(actor: User, process: ManagedProcess) -> None:
    """Stop it if it runs, then forget its row; its files stay. Whoever needs it must have been asked before."""
    _leave(actor, process, "remove")


def do_add_broker(actor: User, plan: Plan, spec: Spec, confirmation: Confirmation) -> None:
    """Write its files, make its row and start it, as planned. Raises NotConfirmedError, SpecError."""

    def add() -> None:
        with cluster_atomic():
            process = add_process("broker", plan.object_name, spec, desired=Desired.RUNNING)
            _wish(actor, process, "", Desired.RUNNING, Request.START, tasks.start)

    carry_out(actor, plan, confirmation, add)


def do_remove_as_planned(actor: User, plan: Plan, process: ManagedProcess, confirmation: Confirmation) -> None:
    """Stop it and forget it; its spec is kept. Raises NotConfirmedError."""

    def remove() -> None:
        save_inverse(actor, plan, {"kind": process.kind, "spec": process.spec})
        _leave(actor, process, "")

    carry_out(actor, plan, confirmation, remove)


def do_end_as_planned(actor: User, plan: Plan, process: ManagedProcess, confirmation: Confirmation) -> None:
    """Stop, restart or kill it, whichever was planned. Raises NotConfirmedError."""
    wish, request, task = _ENDS[plan.action]
    carry_out(actor, plan, confirmation, lambda: _wish(actor, process, "", wish, request, task))


def do_shut_down(process: ManagedProcess) -> None:
    """Stop the process with the console; the next `up` starts it again.

    Runs in the caller, since the worker may be gone.
    """
    _wish(None, process, "shut down", Desired(process.desired), Request.STOP)


def _leave(actor: User, process: ManagedProcess, action: str) -> None:
    with cluster_atomic():
        ManagedProcess.objects.filter(pk=process.pk).update(is_leaving=True)
        _wish(actor, process, action, Desired.STOPPED, Request.STOP, tasks.stop)


def _wish(
    actor: User | None,
    process: ManagedProcess,
    action: str,
    desired: Desired,
    request: Request,
    task: Task | None = None,
) -> None:
    """Set the desired state. Without an `action` the caller writes the audit row."""
    with cluster_atomic():
        locked = ManagedProcess.objects.select_for_update().get(pk=process.pk)
        before = {"desired": locked.desired, "observed": locked.observed}
        locked.desired, locked.request = desired, request
        if desired is Desired.RUNNING:
            locked.is_leaving = False  # wanted again before it had gone
        locked.save(update_fields=["desired", "request", "is_leaving"])
        if action:
            record_event(actor, action, "process", locked.name, before, {"desired": str(desired)})
        push_process(locked)
        if task is not None:
            on_cluster_commit(lambda: tasks.enqueue(task, locked))
    process.desired, process.request = locked.desired, locked.request
