"""What electing preferred leaders changes: which partitions move, which cannot, what each broker leads then. Pure."""

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from console.topics.models import Partition


@dataclass(frozen=True, slots=True)
class Move:
    topic: str
    partition: int
    leader: int | None
    preferred: int

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.partition}"


@dataclass(frozen=True, slots=True)
class Stay:
    """Not led by its first replica, and cannot be now."""

    move: Move
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
    moves: tuple[Move, ...]
    stays: tuple[Stay, ...]
    loads: tuple[Load, ...]

    @property
    def digest(self) -> str:
        """Two plans with the same digest change the same: what is confirmed is what was shown."""
        lines = (f"{each.topic}\n{each.partition}\n{each.leader}\n{each.preferred}\n" for each in self.moves)
        return hashlib.sha256("".join(lines).encode()).hexdigest()[:32]


def plan_election(partitions: Iterable[Partition], registered: frozenset[int]) -> ElectionPlan:
    """As the controller decides it: the first replica is elected if its broker is registered and it is in the ISR."""
    moves, stays = [], []
    before, after = Counter(dict.fromkeys(registered, 0)), Counter(dict.fromkeys(registered, 0))
    for each in partitions:
        leader = each.leader
        if each.preferred_leader is not None and not each.is_led_by_preferred:
            move = Move(each.topic.name, each.partition, each.leader, each.preferred_leader)
            why = _why_not(each, registered)
            if why:
                stays.append(Stay(move, why))
            else:
                moves.append(move)
                leader = each.preferred_leader
        before.update([each.leader] if each.leader is not None else [])
        after.update([leader] if leader is not None else [])
    loads = (Load(broker_id, before[broker_id], after[broker_id]) for broker_id in sorted(before.keys() | after.keys()))
    return ElectionPlan(tuple(moves), tuple(stays), tuple(loads))


def _why_not(partition: Partition, registered: frozenset[int]) -> str:
    if partition.preferred_leader not in registered:
        return f"broker {partition.preferred_leader} is not registered"
    if partition.preferred_leader not in partition.isr:
        return f"the replica on broker {partition.preferred_leader} is out of sync"
    return ""
