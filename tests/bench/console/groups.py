"""The groups of the large cluster: each reads a topic; those of topics that grow commit a little behind its end."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace

from console.kit.gateway.groups.interface import (
    CommitView,
    GroupsView,
    GroupView,
    MemberView,
    OffsetBounds,
    TopicPartition,
    UnreadView,
)

GROUPS = 5_000
#: Records that a group of a growing topic has still to read in each partition.
BEHIND = 40


class LargeGroups:
    """Group n reads topic 2n. Each look finds the groups of busy topics as far as the log was at the last one."""

    def __init__(self, cluster, broker_count: int) -> None:
        self._cluster = cluster
        self._answered = frozenset(range(1, broker_count + 1))
        self._views = [_group(number, cluster.views[2 * number], broker_count) for number in range(GROUPS)]
        self._commits: list[CommitView] = []

    def describe(self) -> GroupsView:
        at_ms = time.time_ns() // 1_000_000
        for index in self._cluster.busy:
            if index % 2 == 0 and index // 2 < GROUPS:
                self._views[index // 2] = self._moved_on(self._views[index // 2], index, at_ms)
        return GroupsView(tuple(self._views), self._answered)

    def describe_one(self, group_id: str) -> GroupView:
        return self._views[int(group_id.rpartition("-")[2])]

    def commits(self) -> list[CommitView]:
        arrived, self._commits = self._commits, []
        return arrived

    def bounds(self, places: Iterable[TopicPartition]) -> Mapping[TopicPartition, OffsetBounds]:
        bounds = {}
        for topic, number in places:
            partition = self._cluster.views[int(topic.rpartition("-")[2])].partitions[number]
            bounds[topic, number] = OffsetBounds(partition.first_offset, partition.next_offset)
        return bounds

    def first_unread(self, positions: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, UnreadView]:
        at_ms = time.time_ns() // 1_000_000
        return {place: UnreadView(position, at_ms) for place, position in positions.items()}

    def _moved_on(self, group: GroupView, index: int, at_ms: int) -> GroupView:
        topic = self._cluster.views[index]
        committed = {
            (topic.name, partition.partition): partition.next_offset - BEHIND for partition in topic.partitions
        }
        self._commits += [CommitView(group.group_id, place, offset, at_ms) for place, offset in committed.items()]
        return replace(group, committed=committed)


def _group(number: int, topic, broker_count: int) -> GroupView:
    places = tuple((topic.name, partition.partition) for partition in topic.partitions)
    name = f"group-{number:05d}"
    member = MemberView(f"{name}-member", name, "/127.0.0.1", "", places)
    committed = {(topic.name, partition.partition): partition.next_offset for partition in topic.partitions}
    return GroupView(name, "Stable", "consumer", number % broker_count + 1, (member,), committed)
