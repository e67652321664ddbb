"""What the probe's topic needs so that every broker leads one of its partitions (as Kafka Monitor's topic management).

Partitions are added and never taken away; a broker that is away for a while loses none. Pure: one step at a time, to be
taken when the one before has come true.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class PartitionState:
    """`replicas`: the preferred leader first. `leader` -1: none."""

    index: int
    leader: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class View:
    """Brokers that are registered, with their racks, and the topic's partitions; none: there is no topic."""

    brokers: Mapping[int, str | None]
    partitions: tuple[PartitionState, ...] = ()


@dataclass(frozen=True, slots=True)
class TopicCreation:
    assignments: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Add:
    """`assignments` are of the new ones."""

    count: int
    assignments: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class ReplicaMove:
    replicas: Mapping[int, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Elect:
    partitions: tuple[int, ...]


Step: TypeAlias = TopicCreation | Add | ReplicaMove | Elect


def next_step(view: View, factor: int) -> Step | None:
    """Return the next step to spread the topic, None if nothing can or need be done.

    `factor`: replicas of each partition.
    """
    if not view.brokers:
        return None
    copies = min(factor, len(view.brokers))
    if not view.partitions:
        return TopicCreation(tuple(_replicas(view.brokers, broker, copies) for broker in sorted(view.brokers)))
    return _cover(view, copies) or _thicken(view, copies) or _elect(view)


def _cover(view: View, copies: int) -> Step | None:
    """Return a step that adds a partition for each broker that is no preferred leader; None if all are."""
    preferred = [partition.replicas[0] for partition in view.partitions if partition.replicas]
    uncovered = sorted(view.brokers.keys() - set(preferred))
    if not uncovered:
        return None
    room = len(view.brokers) - len(view.partitions)
    there = len(view.partitions[0].replicas)  # Kafka takes new ones with as many replicas as the first has
    if room > 0 and 0 < there <= len(view.brokers):
        added = tuple(_replicas(view.brokers, number, there) for number in uncovered[:room])
        return Add(len(view.partitions) + len(added), added)
    spare = _spare(view, preferred)
    return ReplicaMove(
        {state.index: _led_by(broker, state, view, copies) for broker, state in zip(uncovered, spare, strict=False)}
    )


def _spare(view: View, preferred: Sequence[int]) -> list[PartitionState]:
    """Return spare partitions: those whose preferred leader is gone, then those of brokers with more than one."""
    left = {broker: preferred.count(broker) for broker in view.brokers}
    gone, doubled = [], []
    for partition in view.partitions:
        first = partition.replicas[0] if partition.replicas else -1
        if first not in view.brokers:
            gone.append(partition)
        elif left[first] > 1:
            left[first] -= 1
            doubled.append(partition)
    return gone + doubled


def _led_by(broker: int, state: PartitionState, view: View, copies: int) -> tuple[int, ...]:
    """Return replicas led by `broker`, keeping as many as fit, so that little has to be copied."""
    staying = [other for other in state.replicas if other != broker and other in view.brokers]
    return _filled([broker, *staying][:copies], view.brokers, copies)


def _thicken(view: View, copies: int) -> Step | None:
    """Return a step that adds replicas to partitions made when there were fewer brokers."""
    thin = [partition for partition in view.partitions if len(partition.replicas) < copies]
    return ReplicaMove({state.index: _filled(state.replicas, view.brokers, copies) for state in thin}) if thin else None


def _elect(view: View) -> Step | None:
    """Return a preferred election when a broker leads none."""
    leaders = {partition.leader for partition in view.partitions}
    if view.brokers.keys() <= leaders:
        return None
    ready = tuple(
        partition.index
        for partition in view.partitions
        if partition.replicas
        and partition.leader != partition.replicas[0]
        and partition.replicas[0] in set(partition.isr) & view.brokers.keys()
    )
    return Elect(ready) if ready else None


def _replicas(brokers: Mapping[int, str | None], leader: int, copies: int) -> tuple[int, ...]:
    return _filled([leader], brokers, copies)


def _filled(kept: Iterable[int], brokers: Mapping[int, str | None], copies: int) -> tuple[int, ...]:
    """Fill the replicas with brokers of other racks first, then the next in the ring."""
    chosen = list(kept)
    ring = sorted(brokers)
    while len(chosen) < copies:
        racks = {brokers.get(item) for item in chosen}
        after = [item for item in ring if item > chosen[0]] + [item for item in ring if item <= chosen[0]]
        left = [item for item in after if item not in chosen]
        chosen.append(min(left, key=lambda number: (brokers[number] in racks, left.index(number))))
    return tuple(chosen)
