"""Stop, restart and kill as plans: what they mean to others, and what is typed where somebody is refused. Pure."""

from typing import TYPE_CHECKING

from console.kit.plans.plan import Plan, PlanLine

if TYPE_CHECKING:
    from console.processes.consequences import Consequence
    from console.processes.models import ManagedProcess

STOP, RESTART, KILL = "stop", "restart", "kill process"
_OUTCOMES = {STOP: "stopped", RESTART: "restarted", KILL: "killed (SIGKILL)"}


def ending_plan(action: str, process: "ManagedProcess", consequence: "Consequence") -> Plan:
    """Plan to end a process. `consequence` is what that means, as `consequences` computed it just now.

    Whoever confirms it has seen which partitions go offline or fall below their minimum, and that it is this very
    process: what has become otherwise since is another plan.
    """
    is_typed = action == KILL or consequence.is_harmful
    return Plan(
        action=action,
        object_type="process",
        object_name=process.name,
        lines=(PlanLine("process", _now(process), _OUTCOMES[action], is_told=True),),
        read=(process.name, str(process.pid), process.run_token, *consequence.confirmed),
        touches=(*consequence.course, _how(action, process)),
        safe_because=_why_safe(action, consequence),
        losses=(*consequence.harms, *((_KILLED,) if action == KILL else ())),
        undo="none is needed, it runs again as before." if action == RESTART else "start it again.",
        command=f"kill {'-9 ' if action == KILL else ''}{process.pid}" if process.pid is not None else "",
        typed_name=process.name if is_typed else "",
        obstacle=_obstacle(action, process),
    )


_KILLED = (
    "Nothing is handed over, flushed or closed: brokers and clients notice when it stops answering, and "
    "its next start checks its data. It stays stopped until it is started; Stop ends it in order."
)


def _why_safe(action: str, consequence: "Consequence") -> str:
    """Return why the end is safe; judged only for brokers and ZooKeeper servers."""
    if action == KILL or not consequence.is_judged or consequence.is_harmful or consequence.is_throttled:
        return ""
    return "No partition goes offline or below its minimum, and the quorum stays."


def _now(process: "ManagedProcess") -> str:
    return f"{process.state}, pid {process.pid}" if process.pid is not None else process.state


def _how(action: str, process: "ManagedProcess") -> str:
    if action == KILL:
        return "It is ended at once (SIGKILL)."
    again = " It is started again as soon as it has gone." if action == RESTART else ""
    return f"It is asked to end (SIGTERM), and killed if it has not after {process.grace_s} s.{again}"


def _obstacle(action: str, process: "ManagedProcess") -> str:
    """Return an obstacle: a process waiting for a restart cannot be killed, but can be told to stay stopped."""
    if process.pid is not None or (action != KILL and process.waits_for_restart):
        return ""
    return f"{process.name} does not run."
