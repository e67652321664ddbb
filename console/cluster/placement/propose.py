"""Where replicas should go: away from brokers, evenly over all of them, with another factor, or led by others. Pure.

A proposal is a wish like one that was typed: it becomes a plan, which is shown and confirmed. Of each this holds:
a partition's replicas lie on different brokers that are open to them, on as many racks as before if those offer as
many, and no more replicas move than are needed. Load is a broker's share of replicas plus its share of bytes.
"""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from console.kit.gateway.groups.interface import TopicPartition

#: A proposal changes no more partitions than one plan holds; what is left is proposed the next time.
CHANGES_MAX = 2_000
#: A move ends when every replica of its target is in sync.
_AWAY = "Broker {} holds a replica and is away: the move could not end."


@dataclass(frozen=True, slots=True)
class HeldReplicas:
    """A partition as it is: replicas, preferred leader first, and the bytes of one of them."""

    place: TopicPartition
    replicas: tuple[int, ...]
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class PlacementProposal:
    """`targets` of the partitions that change; `stuck` are those that should and cannot, with a sentence why."""

    targets: Mapping[TopicPartition, tuple[int, ...]] = field(default_factory=dict)
    stuck: Mapping[TopicPartition, str] = field(default_factory=dict)
    #: More should change than one plan holds.
    is_cut: bool = False


def propose_drain(
    held: Iterable[HeldReplicas], racks: Mapping[int, str], leaving: Collection[int]
) -> PlacementProposal:
    """Propose moving all replicas off `leaving`; each successor takes its place in the order.

    `racks`: the registered brokers ("" without one).
    """
    board = _Board(held, {item: rack for item, rack in racks.items() if item not in leaving})
    targets: dict[TopicPartition, tuple[int, ...]] = {}
    stuck: dict[TopicPartition, str] = {}
    for partition in sorted(board.partitions, key=lambda one: (-one.size_bytes, one.place)):
        if not set(partition.replicas) & set(leaving):
            continue
        if len(targets) >= CHANGES_MAX:
            return PlacementProposal(targets, stuck, is_cut=True)
        away = board.away(partition, leaving)
        replicas = None if away else board.replaced(partition, leaving)
        if away:
            stuck[partition.place] = _AWAY.format(min(away))
        elif replicas is None:
            stuck[partition.place] = (
                f"{len(partition.replicas)} replicas need as many other brokers; {len(board.racks)} stay."
            )
        else:
            targets[partition.place] = replicas
    return PlacementProposal(targets, stuck)


def propose_spread(held: Iterable[HeldReplicas], racks: Mapping[int, str]) -> PlacementProposal:
    """Propose replicas from brokers that hold many to those that hold few, until none holds two more than another.

    Of the replicas that may move, the one is taken that evens the bytes out best. Then preferred leaders are spread in
    the same way, by the order of replicas alone.
    """
    board = _Board(held, racks)
    levels = _Levels(board)
    while len(board.changed) < CHANGES_MAX and levels.move_one():
        pass
    is_cut = len(board.changed) >= CHANGES_MAX
    board.spread_leaders()
    return PlacementProposal(board.changed, is_cut=is_cut)


def propose_factor(
    held: Iterable[HeldReplicas], racks: Mapping[int, str], factor: int, topic: str
) -> PlacementProposal:
    """Propose `factor` replicas for each partition of `topic`: added where least is held, removed where most is.

    Preferred leaders stay.
    """
    board = _Board(held, racks)
    stuck: dict[TopicPartition, str] = {}
    for partition in (one for one in board.partitions if one.place[0] == topic):
        if board.away(partition):
            stuck[partition.place] = _AWAY.format(min(board.away(partition)))
            continue
        if len(board.changed) >= CHANGES_MAX:
            return PlacementProposal(board.changed, stuck, is_cut=True)
        replicas = partition.replicas
        while len(replicas) > max(1, factor):
            replicas = board.without_one(partition, replicas)
        while len(replicas) < factor:
            fresh = board.best(partition, replicas)
            if fresh is None:
                stuck[partition.place] = f"{factor} replicas need as many brokers; {len(board.racks)} are registered."
                break
            board.count(fresh, partition, 1)
            replicas = (*replicas, fresh)
        if partition.place not in stuck:
            board.place(partition, replicas)
    return PlacementProposal({place: to for place, to in board.changed.items() if place not in stuck}, stuck)


def propose_demote(held: Iterable[HeldReplicas], racks: Mapping[int, str], demoted: int) -> PlacementProposal:
    """Propose that `demoted` leads nothing after preferred elections: it becomes the last replica of what it would
    lead.

    Of the other replicas the one comes first that would lead least. No record is copied.
    """
    partitions = list(held)
    leads = Counter(partition.replicas[0] for partition in partitions if partition.replicas)
    targets: dict[TopicPartition, tuple[int, ...]] = {}
    stuck: dict[TopicPartition, str] = {}
    for partition in (one for one in partitions if one.replicas[:1] == (demoted,)):
        others = [broker_id for broker_id in partition.replicas if broker_id != demoted]
        able = [broker_id for broker_id in others if broker_id in racks]
        if not able:
            stuck[partition.place] = "No other running broker has a replica that could lead it instead."
            continue
        if len(targets) >= CHANGES_MAX:
            return PlacementProposal(targets, stuck, is_cut=True)
        first = min(able, key=lambda broker_id: (leads[broker_id], broker_id))
        leads[first] += 1
        targets[partition.place] = (first, *(broker_id for broker_id in others if broker_id != first), demoted)
    return PlacementProposal(targets, stuck)


class _Board:
    """Partitions as they would lie, and what each broker that is open to replicas would hold."""

    def __init__(self, held: Iterable[HeldReplicas], racks: Mapping[int, str]):
        self.partitions = list(held)
        self.racks = dict(racks)
        self.changed: dict[TopicPartition, tuple[int, ...]] = {}
        self.counts = Counter(dict.fromkeys(racks, 0))
        self.bytes = Counter(dict.fromkeys(racks, 0))
        for partition in self.partitions:
            for broker_id in partition.replicas:
                self.count(broker_id, partition, 1)
        self._all_counts = sum(self.counts.values()) or 1
        self._all_bytes = sum(self.bytes.values()) or 1

    def count(self, broker_id: int, partition: HeldReplicas, by: int) -> None:
        self.counts[broker_id] += by
        self.bytes[broker_id] += by * partition.size_bytes

    def load(self, broker_id: int) -> float:
        return self.counts[broker_id] / self._all_counts + self.bytes[broker_id] / self._all_bytes

    def away(self, partition: HeldReplicas, leaving: Collection[int] = ()) -> set[int]:
        """Return brokers that hold a replica which stays, and that take no further ones."""
        return set(partition.replicas) - self.racks.keys() - set(leaving)

    def replicas_of(self, partition: HeldReplicas) -> tuple[int, ...]:
        return self.changed.get(partition.place, partition.replicas)

    def place(self, partition: HeldReplicas, replicas: tuple[int, ...]) -> None:
        if replicas == partition.replicas:
            self.changed.pop(partition.place, None)
        else:
            self.changed[partition.place] = replicas

    def best(self, partition: HeldReplicas, besides: Collection[int]) -> int | None:
        """Return the broker for a further replica: on a new rack if possible, then with the fewest replicas; None
        without one.
        """
        taken = {self.racks.get(beside) for beside in besides} - {None, ""}
        free = (rack for rack in self.racks if rack not in besides)
        return min(free, key=lambda number: (self.racks[number] in taken, self.load(number), number), default=None)

    def replaced(self, partition: HeldReplicas, leaving: Collection[int]) -> tuple[int, ...] | None:
        """Return the replicas with a successor for each on `leaving`; None if there are too few brokers."""
        replicas = list(partition.replicas)
        for at, broker_id in enumerate(replicas):
            if broker_id not in leaving:
                continue
            others = {*replicas[:at], *replicas[at + 1 :]}
            successor = self.best(partition, others - set(leaving))
            if successor is None:
                return None
            self.count(successor, partition, 1)
            replicas[at] = successor
        return tuple(replicas)

    def without_one(self, partition: HeldReplicas, replicas: tuple[int, ...]) -> tuple[int, ...]:
        """Return the replicas without one: never the preferred leader, rather one on a shared rack, then on the fullest
        broker.
        """
        shared = Counter(self.racks.get(replica, "") for replica in replicas)
        gone = max(
            replicas[1:], key=lambda replica: (shared[self.racks.get(replica, "")] > 1, self.load(replica), replica)
        )
        self.count(gone, partition, -1)
        return tuple(replica for replica in replicas if replica != gone)

    def spread_leaders(self) -> None:
        """Exchange first replicas until no broker is preferred leader of two more partitions than another."""
        preferred = Counter(dict.fromkeys(self.racks, 0))
        led: dict[int, list[HeldReplicas]] = {}
        for partition in self.partitions:
            first = self.replicas_of(partition)[:1]
            preferred.update(first)
            for broker_id in first:
                led.setdefault(broker_id, []).append(partition)
        for over in sorted(led, key=lambda number: -preferred[number]):
            for held in led[over]:
                replicas = self.replicas_of(held)
                open_ones = [one for one in replicas[1:] if one in self.racks]
                under = min(open_ones, key=lambda one: (preferred[one], one), default=over)
                if preferred[over] - preferred[under] < 2 or self.away(held) or not self._has_room_for(held):
                    continue
                self.place(held, (under, *(one if one != under else over for one in replicas[1:])))
                preferred.subtract([over])
                preferred.update([under])

    def _has_room_for(self, partition: HeldReplicas) -> bool:
        return partition.place in self.changed or len(self.changed) < CHANGES_MAX


class _Levels:
    """What each broker holds, sorted by size, so that the replica that evens best is found without looking at all."""

    def __init__(self, board: _Board):
        self._board = board
        self._by_place = {partition.place: partition for partition in board.partitions}
        self._held: dict[int, list[tuple[int, TopicPartition]]] = {broker_id: [] for broker_id in board.counts}
        for partition in board.partitions:
            for broker_id in partition.replicas:
                self._held[broker_id].append((partition.size_bytes, partition.place))
        for sizes in self._held.values():
            sizes.sort()

    def move_one(self) -> bool:
        """Move one replica from the fullest broker to the emptiest; False if that evens nothing out."""
        counts = self._board.counts
        open_ones = sorted(self._board.racks, key=lambda rack: (counts[rack], self._board.bytes[rack], rack))
        for under in open_ones:
            for over in reversed(open_ones):
                if counts[over] - counts[under] < 2:
                    break
                place = self._best_between(over, under)
                if place is not None:
                    self._move(self._by_place[place], over, under)
                    return True
        return False

    def _best_between(self, over: int, under: int) -> TopicPartition | None:
        """Return the movable partition whose size is nearest to half of the difference in bytes."""
        ideal = (self._board.bytes[over] - self._board.bytes[under]) // 2
        sizes = self._held[over]
        right = bisect_left(sizes, (ideal,))
        left = right - 1
        while left >= 0 or right < len(sizes):
            takes_left = right >= len(sizes) or (left >= 0 and ideal - sizes[left][0] <= sizes[right][0] - ideal)
            size_and_place = sizes[left] if takes_left else sizes[right]
            left, right = (left - 1, right) if takes_left else (left, right + 1)
            if self._may_move(self._by_place[size_and_place[1]], over, under):
                return size_and_place[1]
        return None

    def _may_move(self, partition: HeldReplicas, over: int, under: int) -> bool:
        replicas = self._board.replicas_of(partition)
        if under in replicas or self._board.away(partition):
            return False
        racks = self._board.racks
        before = {racks.get(replica, "") for replica in replicas}
        after = {racks.get(under if replica == over else replica, "") for replica in replicas}
        return len(after - {""}) >= len(before - {""})

    def _move(self, partition: HeldReplicas, over: int, under: int) -> None:
        replicas = self._board.replicas_of(partition)
        self._board.place(partition, tuple(under if replica == over else replica for replica in replicas))
        self._board.count(over, partition, -1)
        self._board.count(under, partition, 1)
        entry = (partition.size_bytes, partition.place)
        del self._held[over][bisect_left(self._held[over], entry)]
        insort(self._held[under], entry)
