"""Groups that have read everything and stand still: nothing they are judged by changes, so their rows are kept. Pure.

Such a group is told of as at the last look, has committed nothing since, and the topics that it reads have the same
rows. Its past, of the lag and of the logs' ends, is flat: for how long it has been so tells nothing more.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from console.kit.gateway.groups.interface import GroupView, TopicPartition
from console.state.clusters.topic_rows import PartitionRow, TopicRow
from console.state.consumers.rows import GroupPartitionRow, GroupRow
from console.state.consumers.verdict import LagVerdict


@dataclass(frozen=True, slots=True)
class IdleGroup:
    """`appended` and `counted` is what the history of its lag is told at each look, of a group at rest the same."""

    view: GroupView
    row: GroupRow
    appended: int
    counted: int


class IdleGroups:
    """For one thread. A group rests from the look after the one at which it has `begun`."""

    def __init__(self) -> None:
        self._rests: dict[str, IdleGroup] = {}
        self._topics: Mapping[str, TopicRow] = {}
        self._ends_at_ms = self._at_ms = 0

    def look(
        self,
        groups: Iterable[GroupView],
        topics: Mapping[str, TopicRow],
        ends_at_ms: int,
        at_ms: int,
        have_committed: Collection[str],
    ) -> tuple[dict[str, IdleGroup], list[IdleGroup]]:
        """Return the groups that stay idle, by name, and those that do not; a clock set back wakes all."""
        rests, self._rests = self._rests, {}
        if ends_at_ms >= self._ends_at_ms and at_ms >= self._at_ms:
            others = self._stirred(topics)
            for group in groups:
                rest = rests.get(group.group_id)
                if rest is None or group.group_id in have_committed or not others.isdisjoint(_topics_of(rest)):
                    continue
                if rest.view is group or rest.view == group:
                    self._rests[group.group_id] = rest
        woken = [rest for name, rest in rests.items() if name not in self._rests]
        self._topics, self._ends_at_ms, self._at_ms = topics, ends_at_ms, at_ms
        return dict(self._rests), woken

    def begun(self, rest: IdleGroup) -> None:
        self._rests[rest.row.name] = rest

    def _stirred(self, topics: Mapping[str, TopicRow]) -> set[str]:
        before = self._topics
        return {name for name, row in topics.items() if before.get(name) is not row} | (before.keys() - topics.keys())


def may_rest(row: GroupRow, partitions: Mapping[TopicPartition, PartitionRow]) -> bool:
    """Return whether the group may be idle: it has read everything, and neither it nor its topics have moved for a
    while.
    """
    return row.lag_per_second == row.arriving_per_second == 0 and all(
        partition.committed is not None
        and partition.lag == 0
        and partition.verdict is LagVerdict.OK
        and not partition.lost
        and not partition.read_per_second
        and _is_end(partition, partitions)
        for partition in row.partitions
    )


def _is_end(row: GroupPartitionRow, partitions: Mapping[TopicPartition, PartitionRow]) -> bool:
    partition = partitions.get((row.topic, row.partition))
    return partition is not None and partition.next_offset == row.committed


def _topics_of(rest: IdleGroup) -> set[str]:
    return {partition.topic for partition in rest.row.partitions}
