"""Replicas and leaders so that brokers are as alike as chosen goals ask, with few moves and little to copy. Pure.

Greedy: the broker that is furthest above the mean of a goal gives something away, of what may go that which evens all
chosen goals best for the bytes it costs; a leadership costs none. Of each proposal this holds: a partition keeps as
many replicas, on different brokers that are open to them and on as many racks as before; no goal is traded for
another beyond the sum of all, so a proposal never makes the whole less even than it was.
"""

from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from console.cluster.placement.propose import PlacementProposal
from console.kit.gateway.groups.interface import TopicPartition


class Goal(StrEnum):
    """What of brokers is to be alike."""

    REPLICAS = "replicas"
    LEADERS = "leaders"
    DISK = "disk"
    IN = "in"  #: bytes a second that arrive, from producers and from leaders
    OUT = "out"  #: bytes a second that leave, to followers and consumers


GOALS = tuple(Goal)
#: As long as a broker is further from the mean of a goal than this, it is uneven.
TOLERANCE = 0.05
#: Of a broker's partitions, and of brokers that hold little: as many are tried in a step.
_TRIED, _TAKERS = 24, 6
_LEAST_GAIN = 1e-9


@dataclass(frozen=True, slots=True)
class Weighed:
    """A partition as it is, preferred leader first; bytes of one replica, bytes a second in and to consumers."""

    place: TopicPartition
    replicas: tuple[int, ...]
    size_bytes: int = 0
    in_per_second: float = 0.0
    read_per_second: float = 0.0

    def weights(self, *, leads: bool) -> tuple[float, ...]:
        """Return what a replica adds to its broker's load, in the order of GOALS."""
        out = self.in_per_second * (len(self.replicas) - 1) + self.read_per_second
        return (1, leads, self.size_bytes, self.in_per_second, out if leads else 0.0)


@dataclass(frozen=True, slots=True)
class Spread:
    """Spread of one goal over all open brokers: the most and the least that one has, before and after."""

    goal: Goal
    before: tuple[float, float]
    after: tuple[float, float]


def propose_balance(
    partitions: Iterable[Weighed], racks: Mapping[int, str], goals: Collection[Goal], changes_max: int
) -> PlacementProposal:
    """Propose a balance that changes at most `changes_max` partitions.

    `racks`: the registered brokers ("" without one).
    """
    balance = _Balance(partitions, racks, goals)
    while len(balance.changed) < changes_max and balance.improve():
        pass
    return PlacementProposal(balance.changed, is_cut=len(balance.changed) >= changes_max and balance.is_uneven)


def loads_of(partitions: Iterable[Weighed], racks: Mapping[int, str]) -> dict[int, list[float]]:
    """Return each broker's load for each goal, in the order of GOALS."""
    return _Balance(partitions, racks, GOALS).loads


def spreads(
    partitions: Sequence[Weighed], racks: Mapping[int, str], targets: Mapping[TopicPartition, tuple[int, ...]]
) -> list[Spread]:
    """Return the spread of every goal, chosen or not."""
    before = loads_of(partitions, racks)
    moved = [
        Weighed(
            partition.place,
            targets.get(partition.place, partition.replicas),
            partition.size_bytes,
            partition.in_per_second,
            partition.read_per_second,
        )
        for partition in partitions
    ]
    after = loads_of(moved, racks)
    return [Spread(goal, _ends(before, at), _ends(after, at)) for at, goal in enumerate(GOALS)]


def _ends(loads: Mapping[int, list[float]], at: int) -> tuple[float, float]:
    values = [load[at] for load in loads.values()]
    return max(values, default=0.0), min(values, default=0.0)


class _Balance:
    """Partitions as they would lie, and what each open broker would have of each goal."""

    def __init__(self, partitions: Iterable[Weighed], racks: Mapping[int, str], goals: Collection[Goal]):
        self._partitions = {partition.place: partition for partition in partitions}
        self._racks = dict(racks)
        self._chosen = [at for at, goal in enumerate(GOALS) if goal in goals]
        self.changed: dict[TopicPartition, tuple[int, ...]] = {}
        self.loads = {broker_id: [0.0] * len(GOALS) for broker_id in racks}
        self._held: dict[int, list[tuple[int, TopicPartition]]] = {broker_id: [] for broker_id in racks}
        for partition in self._partitions.values():
            for at, broker_id in enumerate(partition.replicas):
                if broker_id in self.loads:
                    self._count(broker_id, partition.weights(leads=at == 0), 1)
                    self._held[broker_id].append((partition.size_bytes, partition.place))
        for held in self._held.values():
            held.sort()
        count = len(self.loads) or 1
        self._means = [sum(load[at] for load in self.loads.values()) / count or 1.0 for at in range(len(GOALS))]
        sizes = [partition.size_bytes for partition in self._partitions.values()]
        self._mean_size = sum(sizes) / len(sizes) if sum(sizes) else 1.0

    @property
    def is_uneven(self) -> bool:
        return any(self._excess(broker_id, at) > TOLERANCE for broker_id in self.loads for at in self._chosen)

    def improve(self) -> bool:
        """Move one replica or leadership off an overloaded broker; False if nothing improves the balance."""
        uneven = (
            (self._excess(broker_id, at), at, broker_id)
            for broker_id in self.loads
            for at in self._chosen
            if self._excess(broker_id, at) > TOLERANCE
        )
        for _, at, broker_id in sorted(uneven, reverse=True):
            best = max(self._ways(broker_id, at), default=None)
            if best is not None:
                self._take(best[1], best[2])
                return True
        return False

    def _excess(self, broker_id: int, at: int) -> float:
        return self.loads[broker_id][at] / self._means[at] - 1

    def _ways(self, over: int, at: int) -> Iterator[tuple[float, TopicPartition, tuple[int, ...]]]:
        """Yield (gain for its cost, partition, its replicas then) of helpful moves."""
        takers = sorted(self.loads, key=lambda load: (self.loads[load][at], load))[:_TAKERS]
        for place in self._candidates(over, at, takers[0]):
            partition = self._partitions[place]
            replicas = self._replicas_of(partition)
            if not self.loads.keys() >= {*replicas}:
                continue  # a move ends when all of its target is in sync
            for target, is_copied in self._targets(replicas, over, takers):
                gain = self._gain(partition, replicas, target)
                if gain > _LEAST_GAIN:
                    cost = 1 + partition.size_bytes / self._mean_size if is_copied else 1
                    yield gain / cost, place, target

    def _targets(
        self, replicas: tuple[int, ...], over: int, takers: Sequence[int]
    ) -> Iterator[tuple[tuple[int, ...], bool]]:
        """Yield targets: another leader among the replicas where `over` leads; another broker in the place of
        `over`.
        """
        if replicas[0] == over:
            for replica in replicas[1:]:
                yield (replica, *(over if one == replica else one for one in replicas[1:])), False
        for taker in takers:
            if taker not in replicas:
                target = tuple(taker if replica == over else replica for replica in replicas)
                if self._rack_count(target) >= self._rack_count(replicas):
                    yield target, True

    def _candidates(self, over: int, at: int, under: int) -> list[TopicPartition]:
        """Return partitions of `over`: those that fill half of the difference of bytes, and those cheapest to move."""
        held = self._held[over]
        if GOALS[at] in (Goal.LEADERS, Goal.OUT):
            led = [place for _, place in held if self._replicas_of(self._partitions[place])[0] == over]
            key = GOALS.index(Goal.OUT) if GOALS[at] is Goal.OUT else GOALS.index(Goal.DISK)
            led.sort(key=lambda place: (-self._partitions[place].weights(leads=True)[key], place))
            return [*led[:_TRIED], *led[-_TRIED:]]
        if GOALS[at] is Goal.IN:
            busy = sorted(held, key=lambda pair: (-self._partitions[pair[1]].in_per_second, pair[1]))
            return [place for _, place in (*busy[:_TRIED], *busy[-_TRIED:])]
        disk = GOALS.index(Goal.DISK)
        ideal = bisect_left(held, (int(self.loads[over][disk] - self.loads[under][disk]) // 2,))
        near = held[max(0, ideal - _TRIED // 2) : ideal + _TRIED // 2]
        return [place for _, place in (*held[:_TRIED], *near)]

    def _gain(self, partition: Weighed, before: tuple[int, ...], after: tuple[int, ...]) -> float:
        """Return by how much the sum over chosen goals of (load / mean)² becomes less."""
        led, follows = partition.weights(leads=True), partition.weights(leads=False)
        difference: dict[int, list[float]] = {}
        for replicas, sign in ((before, -1), (after, 1)):
            for at, broker_id in enumerate(replicas):
                mine = difference.setdefault(broker_id, [0.0] * len(GOALS))
                weights = led if at == 0 else follows
                for goal in self._chosen:
                    mine[goal] += sign * weights[goal]
        gain = 0.0
        for broker_id, changes in difference.items():
            for goal in self._chosen:
                if change := changes[goal]:
                    gain -= change * (2 * self.loads[broker_id][goal] + change) / self._means[goal] ** 2
        return gain

    def _take(self, place: TopicPartition, replicas: tuple[int, ...]) -> None:
        partition = self._partitions[place]
        before = self._replicas_of(partition)
        for old, sign in ((before, -1), (replicas, 1)):
            for at, broker_id in enumerate(old):
                self._count(broker_id, partition.weights(leads=at == 0), sign)
        entry = (partition.size_bytes, place)
        for gone in set(before) - set(replicas):
            del self._held[gone][bisect_left(self._held[gone], entry)]
        for come in set(replicas) - set(before):
            insort(self._held[come], entry)
        if replicas == partition.replicas:
            self.changed.pop(place, None)
        else:
            self.changed[place] = replicas

    def _count(self, broker_id: int, weights: Sequence[float], sign: int) -> None:
        load = self.loads[broker_id]
        for at, weight in enumerate(weights):
            load[at] += sign * weight

    def _replicas_of(self, partition: Weighed) -> tuple[int, ...]:
        return self.changed.get(partition.place, partition.replicas)

    def _rack_count(self, replicas: Iterable[int]) -> int:
        return len({self._racks[replica] for replica in replicas} - {""})
