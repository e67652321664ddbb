"""A decommission as a plan: every replica that moves, and the broker's end. Pure."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from console.cluster.placement.move import MovePlan
from console.kit.gateway.groups.interface import TopicPartition
from console.kit.plans.plan import Plan, PlanLine

if TYPE_CHECKING:
    from console.processes.models import ManagedProcess

ACTION = "drain and remove broker"
#: Partitions named that have nowhere to go.
NAMED_MAX = 3
Stuck: TypeAlias = Mapping[TopicPartition, str]


def decommission_plan(
    process: "ManagedProcess", move: MovePlan, stuck: Stuck, bootstrap_servers: str, offices: Iterable[str] = ()
) -> Plan:
    """Plan a decommission. `move` empties the broker; `stuck` are partitions that have nowhere to go, with why;
    `offices` are sentences on the broker's other roles: it holds nothing when it is stopped, so no partition does.
    """
    moving = move.as_plan(bootstrap_servers)
    end = PlanLine(process.name, process.state, None, is_told=True)
    return Plan(
        action=ACTION,
        object_type="process",
        object_name=process.name,
        lines=(*moving.lines, end),
        read=(process.name, *moving.read, *(f"stuck={place}" for place in stuck)),
        touches=(
            *moving.touches,
            f"When it holds nothing any more {process.name} is stopped in order and the console forgets it. Its files "
            f"stay, in {process.data_dir}. No partition goes offline or below its minimum by that.",
            *offices,
        ),
        losses=moving.losses,
        safe_because="Its replicas are copied to other brokers before it is stopped, and its files stay.",
        undo="while it is drained it can be called off, and what has moved be moved back on the placement page; "
        "afterwards the broker can be added again, empty.",
        command=moving.command,
        typed_name=process.name,
        obstacle=_stuck_sentence(stuck) or moving.obstacle,
    )


def _stuck_sentence(stuck: Stuck) -> str:
    if not stuck:
        return ""
    named = ", ".join(f"{topic}-{partition}" for topic, partition in list(stuck)[:NAMED_MAX])
    more = f" and {len(stuck) - NAMED_MAX:,} more" if len(stuck) > NAMED_MAX else ""
    return (
        f"Nowhere to go for {named}{more}: {next(iter(stuck.values()))} Add a broker first, or ask for fewer replicas."
    )
