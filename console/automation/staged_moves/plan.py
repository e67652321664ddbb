"""A move in batches as a plan: every partition that moves, when it begins and how many go at once. Pure."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime, timedelta

from console.cluster.placement.move import MovePlan
from console.kit.gateway.groups.interface import TopicPartition
from console.kit.plans.plan import Plan, PlanLine

#: As long as a plan may wait for its time.
AHEAD_MAX = timedelta(days=30)
#: Open at one time.
OPEN_MAX = 20
UNDO = (
    "as long as it is not through it can be paused, and called off; what has arrived can be planned back, batch by "
    "batch, from the placement page."
)


def staged_plan(
    move: MovePlan, action: str, size: int, begins_at: datetime | None, bootstrap_servers: str,
    obstacle: str = "",
) -> Plan:  # fmt: skip
    """Plan a staged move. `obstacle`: why not, besides what prevents the move itself."""
    base = move.as_plan(bootstrap_servers, action)
    if base.is_empty:
        return base
    batches = -(-len(move.moves) // size)
    when = f"{begins_at:%Y-%m-%d %H:%M} UTC" if begins_at else "at once"
    lines = (PlanLine("begins", None, when), PlanLine("partitions at once", None, size))
    return replace(
        base,
        lines=(*base.lines, *lines),
        touches=(
            f"It begins {when}." if begins_at else "It begins at once.",
            *base.touches,
            f"It goes in {batches:,} batch{'' if batches == 1 else 'es'}; "
            "the next begins when the one before has arrived.",
            "When it begins, and before each batch, it is checked again: if a partition was moved meanwhile, or "
            "a broker is missing, it pauses with the reason. Windows and freezes hold for each batch.",
        ),
        undo=UNDO,
        begins_at=begins_at,
        obstacle=base.obstacle or obstacle,
    )


def obstacle_of(
    begins_at: datetime | None, now: datetime, places: Collection[TopicPartition], others: Collection[TopicPartition],
    open_count: int,
) -> str:  # fmt: skip
    """Return an obstacle; `others` are the partitions of moves that are planned already."""
    if begins_at is not None and begins_at < now:
        return "That time is past: choose a later one, or none to begin at once."
    if begins_at is not None and begins_at > now + AHEAD_MAX:
        return f"A move is planned at most {AHEAD_MAX.days} days ahead."
    if open_count >= OPEN_MAX:
        return f"{OPEN_MAX} moves in batches are open already: wait for one to end, or call one off."
    both = sorted(set(places) & set(others))
    if both:
        more = f" and {len(both) - 1:,} more" if len(both) > 1 else ""
        return f"Another move in batches has {both[0][0]}-{both[0][1]}{more} already: call it off first."
    return ""


def throttle_plan(
    object_type: str, object_name: str, topics: Collection[str], former: int | None, rate: int | None, number: int
) -> Plan:
    """Plan another throttle for the running and the following batches; without lines if nothing changes."""
    lines = () if former == rate else (PlanLine("throttle, bytes per second", former, rate),)
    touches = [
        "It takes effect at once for open reassignments, and for every later batch.",
        "Without a throttle brokers copy as fast as they can." if rate is None else
        "It is taken away by itself when the last partition of a batch has arrived.",
    ]  # fmt: skip
    return Plan(
        action="change throttle of move",
        object_type=object_type,
        object_name=object_name,
        lines=lines,
        losses=(),
        safe_because="Replicas that are copied from stay until the copies are in sync, at any rate.",
        read=(f"move={number}", f"throttle={former}"),
        touches=tuple(touches),
        undo="change it again.",
        about=tuple(topics),
    )
