"""What electing preferred leaders changes: which partitions move, which cannot, what each broker leads then. Pure."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from console.kit.gateway.commands import shell_command
from console.kit.plans.plan import Plan, PlanLine
from console.state.clusters.models import Partition

_TOUCHES = (
    "The new leaders are in sync: no record is lost. Producers and consumers look for the new leader, "
    "usually within a second. Leadership cannot be given back by hand."
)


@dataclass(frozen=True, slots=True)
class LeaderMove:
    topic: str
    partition: int
    leader: int | None
    preferred: int

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.partition}"


@dataclass(frozen=True, slots=True)
class Stay:
    """A partition not led by its first replica, which cannot change now."""

    move: LeaderMove
    why: str


@dataclass(frozen=True, slots=True)
class Load:
    """Partitions a broker leads."""

    broker_id: int
    before: int
    after: int

    @property
    def change(self) -> int:
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class ElectionPlan:
    moves: tuple[LeaderMove, ...]
    stays: tuple[Stay, ...]
    loads: tuple[Load, ...]

    def as_plan(self, bootstrap_servers: str) -> Plan:
        """Return the plan that is shown, confirmed and kept."""
        return Plan(
            action="elect preferred leaders",
            object_type="cluster",
            object_name="all topics",
            lines=tuple(PlanLine(move.name, move.leader, move.preferred) for move in self.moves),
            read=tuple(f"{move.name} {move.leader} {move.preferred}" for move in self.moves),
            touches=(_TOUCHES,),
            losses=(),
            safe_because="Only replicas in sync are elected.",
            about=tuple(sorted({move.name.rpartition("-")[0] for move in self.moves})),
            command=shell_command(
                "kafka-leader-election",
                bootstrap_servers,
                {"election-type": "preferred", "all-topic-partitions": True},
            ),
        )


def plan_election(partitions: Iterable[Partition], registered: frozenset[int]) -> ElectionPlan:
    """Plan an election as the controller decides it: the first replica leads if its broker is registered and in the
    ISR.
    """
    moves, stays = [], []
    before, after = Counter(dict.fromkeys(registered, 0)), Counter(dict.fromkeys(registered, 0))
    for partition in partitions:
        leader = partition.leader
        if partition.preferred_leader is not None and not partition.is_led_by_preferred:
            move = LeaderMove(partition.topic.name, partition.partition, partition.leader, partition.preferred_leader)
            why = _why_not(partition, registered)
            if why:
                stays.append(Stay(move, why))
            else:
                moves.append(move)
                leader = partition.preferred_leader
        before.update([partition.leader] if partition.leader is not None else [])
        after.update([leader] if leader is not None else [])
    loads = (Load(broker_id, before[broker_id], after[broker_id]) for broker_id in sorted(before.keys() | after.keys()))
    return ElectionPlan(tuple(moves), tuple(stays), tuple(loads))


def _why_not(partition: Partition, registered: frozenset[int]) -> str:
    if partition.preferred_leader not in registered:
        return f"broker {partition.preferred_leader} is not registered"
    if partition.preferred_leader not in partition.isr:
        return f"the replica on broker {partition.preferred_leader} is out of sync"
    return ""
