"""Consumer groups of the cluster in memory."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from broker.common.errors import ErrorCode
from console.kit.gateway.errors import refusal
from console.kit.gateway.groups.interface import (
    CLASSIC,
    NO_DETAILS,
    SHARE,
    UNDERSTOOD_TYPES,
    UNKNOWN_STATE,
    CommitView,
    GroupDetails,
    GroupsView,
    GroupView,
    MemberView,
    OffsetBounds,
    OffsetRefusals,
    TopicPartition,
    UnreadView,
    is_ledger,
)
from console.kit.gateway.interface import TopicView


@dataclass
class FakeGroup:
    """`committed` are start offsets of a share group."""

    committed: dict[TopicPartition, int] = field(default_factory=dict)
    members: dict[str, MemberView] = field(default_factory=dict)
    group_type: str = CLASSIC
    details: GroupDetails = NO_DETAILS
    are_set: set[TopicPartition] = field(default_factory=set)


class FakeCluster(Protocol):
    """What groups need of the rest of the cluster in memory."""

    @property
    def broker_count(self) -> int: ...

    def alive_brokers(self) -> list[int]: ...

    def describe_topics(self) -> list[TopicView]: ...

    def written_at_ms(self, name: str, partition: int, offset: int) -> int: ...

    def append(self, name: str, partition: int, record_count: int) -> None: ...

    def now_ms(self) -> int: ...


class FakeGroups:
    """Tests move it with `commit`, `join` and `leave`. Brokers coordinate the groups in turn."""

    def __init__(self, cluster: FakeCluster):
        self._cluster = cluster
        self._groups: dict[str, FakeGroup] = {}
        self._commits: list[CommitView] = []
        #: Markers of transactions, which take an offset and are no records.
        self._markers: set[tuple[str, int, int]] = set()

    # What the console asks -------------------------------------------------------------------------------------------

    def describe(self) -> GroupsView:
        alive = self._cluster.alive_brokers()
        views = (self._view(name) for name in sorted(self._groups) if not is_ledger(name))
        return GroupsView(tuple(view for view in views if view.coordinator in alive), frozenset(alive))

    def describe_one(self, group_id: str) -> GroupView:
        alive = self._cluster.alive_brokers()
        if group_id not in self._groups:
            return GroupView(group_id, "Dead", "", alive[0], (), {})
        return self._view(group_id)

    def commits(self) -> list[CommitView]:
        self._cluster.alive_brokers()
        arrived, self._commits = self._commits, []
        return arrived

    def first_unread(self, positions: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, UnreadView]:
        known = self.bounds(positions)
        views = {}
        for place, position in positions.items():
            bounds = known.get(place)
            if bounds is None or position < bounds.first or position > bounds.next:
                continue
            while (*place, position) in self._markers:
                position += 1
            is_there = position < bounds.next
            at_ms = self._cluster.written_at_ms(*place, position) if is_there else None
            views[place] = UnreadView(position if is_there else None, at_ms)
        return views

    def bounds(self, places: Iterable[TopicPartition]) -> Mapping[TopicPartition, OffsetBounds]:
        known = {
            (topic.name, partition.partition): OffsetBounds(partition.first_offset, partition.next_offset)
            for topic in self._cluster.describe_topics()
            for partition in topic.partitions
            if partition.first_offset is not None and partition.next_offset is not None
        }
        return {place: known[place] for place in places if place in known}

    def offsets_at(self, places: Iterable[TopicPartition], at_ms: int) -> Mapping[TopicPartition, int]:
        return {
            place: next(
                (n for n in range(bounds.first, bounds.next) if self._cluster.written_at_ms(*place, n) >= at_ms),
                bounds.next,
            )
            for place, bounds in self.bounds(places).items()
        }

    def commit_offsets(self, group_id: str, offsets: Mapping[TopicPartition, int]) -> OffsetRefusals:
        self._cluster.alive_brokers()
        if group_id in self._groups and self._groups[group_id].members:
            raise refusal(ErrorCode.UNKNOWN_MEMBER_ID)
        if group_id in self._groups and self._groups[group_id].group_type == SHARE:
            raise refusal(ErrorCode.GROUP_ID_NOT_FOUND)
        for (topic, partition), offset in offsets.items():
            self.commit(group_id, topic, partition, offset, is_set=True)
        return OffsetRefusals()

    def set_share_offsets(self, group_id: str, offsets: Mapping[TopicPartition, int]) -> OffsetRefusals:
        self._cluster.alive_brokers()
        group = self._groups.setdefault(group_id, FakeGroup(group_type=SHARE))
        if group.group_type != SHARE:
            raise refusal(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a share group.")
        if group.members:
            raise refusal(ErrorCode.NON_EMPTY_GROUP)
        group.committed.update(offsets)
        return OffsetRefusals()

    def delete_share_offsets(self, group_id: str, topics: Iterable[str]) -> Mapping[str, str]:
        self._cluster.alive_brokers()
        group = self._existing(group_id)
        if group.group_type != SHARE:
            raise refusal(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a share group.")
        if group.members:
            raise refusal(ErrorCode.NON_EMPTY_GROUP)
        gone = set(topics)
        group.committed = {place: offset for place, offset in group.committed.items() if place[0] not in gone}
        return {}

    def delete_offsets(self, group_id: str, places: Iterable[TopicPartition]) -> OffsetRefusals:
        self._cluster.alive_brokers()
        group = self._existing(group_id)
        subscribed = {topic for member in group.members.values() for topic, _ in member.assigned}
        refused = {}
        for place in places:
            if place[0] in subscribed:
                refused[place] = str(refusal(ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC))
            elif group.committed.pop(place, None) is not None:
                self._commits.append(CommitView(group_id, place, None, self._cluster.now_ms()))
        return OffsetRefusals(refused)

    def delete_group(self, group_id: str) -> None:
        self._cluster.alive_brokers()
        if self._existing(group_id).members:
            raise refusal(ErrorCode.NON_EMPTY_GROUP)
        del self._groups[group_id]

    # What tests do to it ---------------------------------------------------------------------------------------------

    def commit(self, group_id: str, topic: str, partition: int, offset: int, *, is_set: bool = False) -> None:
        """As if a consumer of the group had committed now; `is_set`: as the console does."""
        group = self._groups.setdefault(group_id, FakeGroup())
        group.committed[topic, partition] = offset
        (group.are_set.add if is_set else group.are_set.discard)((topic, partition))
        self._commits.append(CommitView(group_id, (topic, partition), offset, self._cluster.now_ms(), is_set))

    def join(self, group_id: str, member_id: str, *assigned: TopicPartition, **more: Any) -> None:
        """As if a consumer had joined and been given these partitions; `more` are other values of a `MemberView`."""
        member = MemberView(member_id, member_id.partition("-")[0], "127.0.0.1", "", tuple(assigned), **more)
        self._groups.setdefault(group_id, FakeGroup()).members[member_id] = member

    def make(self, group_id: str, group_type: str, details: GroupDetails = NO_DETAILS) -> None:
        """As if the first member of such a group had come. One of another type is listed and not described."""
        self._groups[group_id] = FakeGroup(group_type=group_type, details=details)

    def share(self, group_id: str, topic: str, partition: int, start_offset: int) -> None:
        """As if everything before that offset were done with."""
        self._groups[group_id].committed[topic, partition] = start_offset

    def leave(self, group_id: str, member_id: str) -> None:
        del self._groups[group_id].members[member_id]

    def append_marker(self, topic: str, partition: int) -> None:
        """As if a transaction had ended: an offset without a record."""
        self._markers.add((topic, partition, self.bounds([(topic, partition)])[topic, partition].next))
        self._cluster.append(topic, partition, 1)

    def _existing(self, group_id: str) -> FakeGroup:
        if group_id not in self._groups:
            raise refusal(ErrorCode.GROUP_ID_NOT_FOUND)
        return self._groups[group_id]

    def _view(self, group_id: str) -> GroupView:
        group = self._groups[group_id]
        coordinator = 1 + list(self._groups).index(group_id) % self._cluster.broker_count
        if group.group_type not in UNDERSTOOD_TYPES:
            because = GroupDetails(unknown_because=f"This console does not know groups of type {group.group_type}.")
            return GroupView(group_id, UNKNOWN_STATE, "", coordinator, (), {}, group.group_type, because)
        members = tuple(replace(item) for _, item in sorted(group.members.items()))
        state, protocol = ("Stable", "consumer") if members else ("Empty", "")
        committed, lags = dict(group.committed), self._lags(group)
        details = group.details
        are_set = frozenset(group.are_set)
        kind = group.group_type
        return GroupView(group_id, state, protocol, coordinator, members, committed, kind, details, lags, are_set)

    def _lags(self, group: FakeGroup) -> dict[TopicPartition, int]:
        if group.group_type != SHARE:
            return {}
        bounds = self.bounds(group.committed)
        return {place: max(0, item.next - group.committed[place]) for place, item in bounds.items()}
