"""Offsets as they were before records that are in the log but not committed yet.

Whoever fetches is told these meanwhile: a coordinator that takes over may never have had the newer ones, and a commit
that takes long is no reason to wait.
"""

from collections import deque

from broker.common.types import TopicPartition
from broker.coordinator.group.records import CommittedOffset, OffsetKey

#: Topic: partition: what is committed.
OfGroup = dict[str, dict[int, CommittedOffset]]


class Superseded:
    """The last committed values of keys whose newest record is not committed yet; None for no value."""

    def __init__(self) -> None:
        self._of_group: dict[str, dict[TopicPartition, deque[CommittedOffset | None]]] = {}
        #: In the order of the log: (where it ends with the newer record, whose it is).
        self._in_order: deque[tuple[int, OffsetKey]] = deque()

    def add(self, key: OffsetKey, before: CommittedOffset | None, end_offset: int) -> None:
        """Keep `before` as current until the log is committed up to `end_offset`."""
        self._of_group.setdefault(key.group_id, {}).setdefault(key.partition, deque()).append(before)
        self._in_order.append((end_offset, key))

    def committed(self, high_watermark: int) -> None:
        while self._in_order and self._in_order[0][0] <= high_watermark:
            self._drop_oldest(self._in_order.popleft()[1])

    def _drop_oldest(self, key: OffsetKey) -> None:
        partitions = self._of_group[key.group_id]
        partitions[key.partition].popleft()
        if not partitions[key.partition]:
            del partitions[key.partition]
        if not partitions:
            del self._of_group[key.group_id]

    def instead_of(self, newest: OfGroup, group_id: str) -> OfGroup:
        """Return the committed offsets of the group, of which the log has `newest`."""
        superseded = self._of_group.get(group_id)
        if not superseded:
            return newest
        committed = dict(newest)
        for topic in {partition.topic for partition in superseded}:
            committed[topic] = dict(newest.get(topic, {}))
        for (topic, index), befores in superseded.items():
            committed[topic].pop(index, None)
            if befores[0] is not None:
                committed[topic][index] = befores[0]
        return {topic: partitions for topic, partitions in committed.items() if partitions}

    def has_group(self, group_id: str) -> bool:
        return group_id in self._of_group

    def __contains__(self, key: OffsetKey) -> bool:
        return key.partition in self._of_group.get(key.group_id, ())

    def clear(self) -> None:
        self._of_group.clear()
        self._in_order.clear()
