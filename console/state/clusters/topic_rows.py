"""What the collector keeps of topics, and what changed between two looks. Pure.

A row is what the database stores: the newest metadata, the last known offsets (a silent leader does not blank them) and
the rate.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from console.kit.common.rates import RateWindow
from console.kit.gateway.brokers.interface import ReplicaSizes
from console.kit.gateway.groups.interface import TopicPartition
from console.kit.gateway.interface import PartitionView, TopicView


class PartitionRow(NamedTuple):
    """A tuple, for thousands of them are made and compared at each look."""

    partition: int
    leader: int | None
    leader_epoch: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    first_offset: int | None
    next_offset: int | None
    records_per_second: float | None
    #: (broker, bytes) of each replica whose broker has said, sorted.
    sizes: tuple[tuple[int, int], ...] = ()
    #: Of the replicas, those a move brings.
    adding: tuple[int, ...] = ()
    #: Its leader did not answer at the newest look: the offsets are those of an earlier one.
    is_end_old: bool = False

    @property
    def out_of_sync(self) -> list[int]:
        """The replicas out of sync, without those that a move is still copying."""
        return [replica for replica in self.replicas if replica not in self.isr and replica not in self.adding]

    @property
    def copying(self) -> list[int]:
        return [item for item in self.adding if item not in self.isr]

    @property
    def record_count(self) -> int:
        if self.first_offset is None or self.next_offset is None:
            return 0
        return self.next_offset - self.first_offset


@dataclass(frozen=True, slots=True)
class TopicRow:
    name: str
    topic_id: str
    is_internal: bool
    partitions: tuple[PartitionRow, ...]
    min_insync_replicas: int | None = None
    retention_ms: int | None = None
    cleanup_policy: str = ""
    #: When a look last found more records than the one before; 0: never.
    last_record_at_ms: int = 0

    @property
    def partition_count(self) -> int:
        return len(self.partitions)

    @property
    def size_bytes(self) -> int:
        """The bytes on disk of all replicas together."""
        return sum(size for partition in self.partitions for _, size in partition.sizes)

    @property
    def replication_factor(self) -> int:
        return max((len(partition.replicas) for partition in self.partitions), default=0)

    @property
    def under_replicated_count(self) -> int:
        return sum(bool(partition.out_of_sync) for partition in self.partitions)

    @property
    def under_min_isr_count(self) -> int:
        least = self.min_insync_replicas or 1
        return sum(
            partition.leader is not None and len(partition.isr) < min(least, len(partition.replicas))
            for partition in self.partitions
        )

    @property
    def leaderless_count(self) -> int:
        return sum(partition.leader is None for partition in self.partitions)

    @property
    def record_count(self) -> int:
        return sum(partition.record_count for partition in self.partitions)

    @property
    def records_per_second(self) -> float | None:
        known = [
            partition.records_per_second for partition in self.partitions if partition.records_per_second is not None
        ]
        return round(sum(known), 1) if known else None


@dataclass(frozen=True, slots=True)
class TopicChanges:
    """`deleted` comes first when applied: a topic that was deleted and created again is in both lists."""

    deleted: list[str] = field(default_factory=list)
    created: list[TopicRow] = field(default_factory=list)
    #: The topic as it is now, and those of its partitions that changed.
    changed: list[tuple[TopicRow, list[PartitionRow]]] = field(default_factory=list)

    #: Names among `changed` of which a leader, a replica or the ISR is another.
    moved: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.deleted or self.created or self.changed)

    @property
    def is_list_changed(self) -> bool:
        return bool(self.deleted or self.created)


def topic_row(
    view: TopicView,
    previous: TopicRow | None,
    rates: RateWindow,
    at_ms: int,
    sizes: ReplicaSizes,
    arriving: Mapping[TopicPartition, frozenset[int]],
) -> TopicRow:
    """Return the row that follows from the one before and a look; the one before where it reads the same."""
    settings: TopicView | TopicRow = view
    last_record_at_ms = 0
    if previous is None or is_recreated(previous, view.topic_id):
        known = {}
    else:
        known = {partition.partition: partition for partition in previous.partitions}
        settings = previous if view.min_insync_replicas is None else view
        last_record_at_ms = at_ms if _has_grown(view, known) else previous.last_record_at_ms
    row = TopicRow(
        name=view.name,
        topic_id=view.topic_id,
        is_internal=view.is_internal,
        partitions=tuple(
            _partition_row(view, partition, known.get(partition.partition), rates, at_ms, sizes, arriving)
            for partition in view.partitions
        ),
        min_insync_replicas=settings.min_insync_replicas,
        retention_ms=settings.retention_ms,
        cleanup_policy=settings.cleanup_policy,
        last_record_at_ms=last_record_at_ms,
    )
    return previous if previous is not None and row == previous else row


def _has_grown(view: TopicView, known: Mapping[int, PartitionRow]) -> bool:
    return any(
        partition.next_offset is not None
        and partition.partition in known
        and partition.next_offset > (known[partition.partition].next_offset or 0)
        for partition in view.partitions
    )


def _partition_row(
    topic: TopicView,
    view: PartitionView,
    known: PartitionRow | None,
    rates: RateWindow,
    at_ms: int,
    sizes: ReplicaSizes,
    arriving: Mapping[TopicPartition, frozenset[int]],
) -> PartitionRow:
    records_per_second = None
    first_offset, next_offset, leader_epoch = view.first_offset, view.next_offset, view.leader_epoch
    if next_offset is not None:
        records_per_second = rates.observe(rate_key(topic, view.partition), next_offset, at_ms)
    elif known is not None:
        first_offset, next_offset, leader_epoch = known.first_offset, known.next_offset, known.leader_epoch
    row = PartitionRow(
        partition=view.partition,
        leader=view.leader,
        leader_epoch=leader_epoch,
        replicas=view.replicas,
        isr=view.isr,
        first_offset=first_offset,
        next_offset=next_offset,
        records_per_second=records_per_second,
        sizes=_sizes_of(view, sizes.get((topic.name, view.partition), {}), known),
        adding=tuple(sorted(arriving.get((topic.name, view.partition), frozenset()).intersection(view.replicas))),
        is_end_old=view.next_offset is None and next_offset is not None,
    )
    return known if known is not None and row == known else row


def _sizes_of(view: PartitionView, sizes: Mapping[int, int], known: PartitionRow | None) -> tuple[tuple[int, int], ...]:
    """Return sizes of the current replicas; a broker that did not answer keeps the last known size."""
    if known is not None and known.replicas == view.replicas and sizes.items() <= set(known.sizes):
        return known.sizes
    before = dict(known.sizes) if known is not None else {}
    return tuple(sorted((item, size) for item, size in {**before, **sizes}.items() if item in view.replicas))


def rate_key(topic: TopicView | TopicRow, partition: int) -> tuple[str, str, int]:
    return topic.name, topic.topic_id, partition


def is_recreated(previous: TopicRow, topic_id: str) -> bool:
    """Return True if the name now belongs to another topic. An id that was not known before is no new topic."""
    return bool(previous.topic_id and topic_id and previous.topic_id != topic_id)


def compare(before: Mapping[str, TopicRow], after: Mapping[str, TopicRow]) -> TopicChanges:
    changes = TopicChanges(deleted=sorted(before.keys() - after.keys()))
    for name, row in after.items():
        previous = before.get(name)
        if previous is row:
            continue
        if previous is None:
            changes.created.append(row)
        elif is_recreated(previous, row.topic_id) or len(row.partitions) < len(previous.partitions):
            changes.deleted.append(name)
            changes.created.append(row)
        elif previous != row:
            # What a partition's state is called hangs on the topic's minimum.
            is_same_minimum = previous.min_insync_replicas == row.min_insync_replicas
            known = {partition.partition: partition for partition in previous.partitions} if is_same_minimum else {}
            changes.changed.append(
                (row, [partition for partition in row.partitions if known.get(partition.partition) != partition])
            )
            if _is_moved(previous, row):
                changes.moved.append(name)
    return changes


def _is_moved(before: TopicRow, after: TopicRow) -> bool:
    if len(before.partitions) != len(after.partitions):
        return True
    pairs = zip(before.partitions, after.partitions, strict=True)
    return any((was.leader, was.replicas, was.isr) != (now.leader, now.replicas, now.isr) for was, now in pairs)
