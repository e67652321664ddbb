"""Ending a process for good as a plan: what it costs and what is in the way. Pure."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from console.kit.plans.plan import Plan, PlanLine
from console.processes.restarts import Policy

if TYPE_CHECKING:
    from console.processes.models import ManagedProcess

REMOVE = "remove process"
#: Partitions named as examples.
NAMED_MAX = 3
_NOT_SERVED = "No process takes over the work of {}: its clients are refused, and the copying it does stops."


def removal_plan(
    process: "ManagedProcess", holds: Iterable[str] = (), unknown: str = "", meaning: Iterable[str] = ()
) -> Plan:
    """Plan a removal. `holds`: partitions with a replica on it, as the cluster itself says; `unknown`: why it could not
    be asked; `meaning`: what its end means to others.
    """
    held = sorted(holds)
    runs = process.pid is not None
    stops = f"{process.name} is stopped first, in order (SIGTERM)." if runs else f"{process.name} does not run."
    return Plan(
        action=REMOVE,
        object_type="process",
        object_name=process.name,
        lines=(PlanLine(process.name, process.state, None, is_told=True),),
        read=(process.name, str(process.spec), f"holds={held}", f"unknown={unknown}", f"runs={runs}"),
        touches=(f"{stops} Then the console forgets it.", f"Its files stay, in {process.data_dir}.", *meaning),
        losses=(_NOT_SERVED.format(process.name),) if process.kind != "broker" else (),
        safe_because="It holds no replica, and its files stay.",
        undo="add it again with the same settings; they are kept.",
        typed_name=process.name,
        obstacle=_why_not_removed(process, held, unknown),
    )


def _why_not_removed(process: "ManagedProcess", held: list[str], unknown: str) -> str:
    if process.kind == "zookeeper":
        return "A ZooKeeper server leaves its ensemble first; that is done on the ZooKeeper page."
    if process.is_leaving:
        return f"{process.name} is being removed already."
    if unknown:
        return f"Whether it holds replicas could not be read: {unknown}"
    if held:
        named = ", ".join(held[:NAMED_MAX]) + (f" and {len(held) - NAMED_MAX:,} more" if len(held) > NAMED_MAX else "")
        plural = "" if len(held) == 1 else "s"
        return (
            f"It holds {len(held):,} replica{plural} ({named}). They have to be moved to other brokers first: "
            "removed now, every one of those partitions would have a replica less for good."
        )
    return ""


def restart_policy_text(policy: str) -> str:
    """Return the policy's meaning, for the page."""
    if policy == Policy.ALWAYS:
        return "started again when it ended by itself: after 1 s, then 2, 4 … 60 s"
    return "not started again, whatever it ended from"
