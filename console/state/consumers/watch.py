"""Looking at the groups again and again: what they committed, how far that is from the log's end, and since when."""

import logging
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import replace

from console.kit.gateway.errors import GatewayError
from console.kit.gateway.groups.interface import SHARE, STREAMS, GroupView, TopicPartition
from console.kit.gateway.interface import ClusterGateway
from console.state.clusters.topic_rows import PartitionRow, TopicRow
from console.state.consumers.idle_groups import IdleGroup, IdleGroups, may_rest
from console.state.consumers.members import member_row
from console.state.consumers.partitions import LagReading, PartitionWatch, partitions_of
from console.state.consumers.rows import GROUP_NAME_LENGTH_MAX, GroupPartitionRow, GroupRow, with_beginnings
from console.state.consumers.trend import LagHistory, Trend, trend_of
from console.state.consumers.verdict import Company, Evidence, LagVerdict, company_of, is_late, judge

logger = logging.getLogger(__name__)

#: A group that is told of no more is forgotten after this long: while a coordinator moves, nobody tells of its groups.
FORGET_AFTER_MS = 3_000


class GroupWatch:
    """Not thread-safe: one thread uses it."""

    def __init__(self, gateway: ClusterGateway, clock_ms: Callable[[], int], known: Mapping[str, GroupRow]):
        self._gateway = gateway
        self._now_ms = clock_ms
        self._rows = dict(known)
        self._seen_at_ms = dict.fromkeys(known, clock_ms())
        self._places = PartitionWatch(gateway, clock_ms, known)
        self._histories: dict[str, LagHistory] = {}
        self._rests = IdleGroups()
        self._views: dict[str, GroupView] = {}
        self._ends_at_ms = 0

    @property
    def rows(self) -> Mapping[str, GroupRow]:
        return self._rows

    def look(self, topics: Mapping[str, TopicRow], ends_at_ms: int) -> dict[str, GroupRow]:
        """Return the rows of all groups. `topics` were read at `ends_at_ms`. Raises GatewayError if no broker
        answers.
        """
        view = self._gateway.groups.describe()
        groups = {
            group.group_id: _with_partitions_that_are(group, topics)
            for group in view.groups
            if len(group.group_id) <= GROUP_NAME_LENGTH_MAX
        }
        empty = {name for name, group in groups.items() if not group.members and self._was_empty(name)}
        have_committed, at_ms = self._take_commits(empty), self._now_ms()
        resting, woken = self._rests.look(groups.values(), topics, ends_at_ms, at_ms, have_committed)
        for rest in woken:
            self._places.take_ends_at_rest(rest.row, self._ends_at_ms)
        awake = [group for name, group in groups.items() if name not in resting]
        look = LagReading(_partitions_read(awake, topics), ends_at_ms, at_ms)
        self._places.take_ends(awake, look)
        if self._are_others(groups, awake):
            self._places.forget_ends_but(groups.values())
        self._places.learn_unread(awake, look)
        rows = {
            name: self._rested(resting[name], at_ms) if name in resting else self._row(group, look)
            for name, group in groups.items()
        }
        self._begin_rests(awake, rows, look)
        self._keep_absent(rows, view.answered, at_ms)
        self._forget_gone(rows, resting)
        self._rows, self._views, self._ends_at_ms = rows, groups, ends_at_ms
        return rows

    def _was_empty(self, name: str) -> bool:
        return name in self._views and not self._views[name].members

    def _take_commits(self, empty: Container[str]) -> set[str]:
        """Take the commits and return the groups that have committed."""
        try:
            commits = self._gateway.groups.commits()
        except GatewayError as error:
            logger.debug("commits not read: %s", error)
            return set()
        self._places.take_commits(commits, self._now_ms(), empty)
        return {commit.group_id for commit in commits}

    def _are_others(self, groups: Mapping[str, GroupView], awake: Iterable[GroupView]) -> bool:
        """Return whether there are other groups, or places they use, than at the last look."""
        before = self._views
        return before.keys() != groups.keys() or any(
            partitions_of(before[group.group_id]) != partitions_of(group) for group in awake
        )

    def _rested(self, rest: IdleGroup, at_ms: int) -> GroupRow:
        self._histories[rest.row.name].observe(0, rest.appended, at_ms, rest.counted)
        return rest.row

    def _begin_rests(self, awake: Iterable[GroupView], rows: Mapping[str, GroupRow], look: LagReading) -> None:
        for group in awake:
            row, places = rows[group.group_id], sorted(partitions_of(group))
            if may_rest(row, look.partitions) and self._places.have_rested(places):
                appended = sum(partition.next_offset or 0 for partition in row.partitions)
                if self._histories[row.name].is_still(0, appended):
                    self._rests.begun(IdleGroup(group, row, appended, _counted(places)))

    def _row(self, group: GroupView, look: LagReading) -> GroupRow:
        holders = _holders(group)
        by_partition = [
            (place, self._places.evidence(group, place, holders, look)) for place in sorted(partitions_of(group))
        ]
        gains, arrives = self._pace(group, by_partition, look.at_ms)
        row = GroupRow(
            group.group_id,
            group.state,
            group.protocol_type,
            group.coordinator,
            tuple(map(member_row, group.members)),
            self._partition_rows(group, by_partition, trend_of(None if gains is None else 1, gains, arrives)),
            lag_per_second=gains,
            arriving_per_second=arrives,
            group_type=group.group_type,
            details=group.details,
        )
        return with_beginnings(row, self._rows.get(group.group_id), look.at_ms)

    def _pace(
        self, group: GroupView, by_partition: list[tuple[TopicPartition, Evidence]], at_ms: int
    ) -> tuple[float | None, float | None]:
        counted = [
            (place, partition, end) for place, partition in by_partition if (end := partition.next_offset) is not None
        ]
        appended = sum(end for *_, end in counted)
        unread = appended - sum(min(evidence.committed or 0, end) for _, evidence, end in counted)
        if group.group_type == SHARE:
            # Records beyond the start offset may be acknowledged.
            unread = sum(evidence.lag or 0 for _, evidence, _ in counted)
        behind_ms = max((evidence.behind_ms for _, evidence, _ in counted if evidence.lag), default=0)
        history = self._histories.setdefault(group.group_id, LagHistory())
        history.observe(unread, appended, at_ms, _counted(place for place, *_ in counted))
        return history.pace(unread, appended, at_ms, behind_ms)

    def _partition_rows(
        self, group: GroupView, by_partition: list[tuple[TopicPartition, Evidence]], trend: Trend
    ) -> tuple[GroupPartitionRow, ...]:
        late = [is_late(item) if item.lag else False for _, item in by_partition]
        company = (
            company_of((evidence for _, evidence in by_partition), trend is Trend.SHRINKING) if any(late) else Company()
        )
        before = self._rows.get(group.group_id)
        rows = []
        for (place, evidence), is_behind in zip(by_partition, late, strict=True):
            verdict = judge(evidence, company)
            evidence.commits.was_late = is_behind
            if verdict is LagVerdict.UNKNOWN and before is not None:
                verdict = _still(before.partitions, place, evidence)
            rows.append(self._places.row(group, place, evidence, verdict))
        return tuple(rows)

    def _keep_absent(self, rows: dict[str, GroupRow], answered: frozenset[int], at_ms: int) -> None:
        """Keep groups that were not answered: one with a silent coordinator as it was, an unlisted one for a moment."""
        self._seen_at_ms.update(dict.fromkeys(rows, at_ms))
        for name, row in self._rows.items():
            if name in rows:
                continue
            if row.coordinator not in answered:
                self._seen_at_ms[name] = at_ms
                rows[name] = replace(row, is_silent=True)
            elif at_ms - self._seen_at_ms.get(name, 0) < FORGET_AFTER_MS:
                rows[name] = row

    def _forget_gone(self, rows: Mapping[str, GroupRow], resting: Container[str]) -> None:
        self._places.forget_all_but(rows, resting)
        for memory in (self._histories, self._seen_at_ms):
            for gone in memory.keys() - rows.keys():
                del memory[gone]


def _holders(group: GroupView) -> dict[TopicPartition, str]:
    """Return the member that holds each partition; empty where several share it."""
    holders: dict[TopicPartition, str] = {}
    for member in group.members:
        for place in member.assigned:
            holders[place] = "" if place in holders else member.member_id
    return holders


def _with_partitions_that_are(group: GroupView, topics: Mapping[str, TopicRow]) -> GroupView:
    """Return the group without partitions that its topics do not have.

    A streams task reads its number's partition of each source topic that has one: numbers come from the largest topic.
    """
    if group.group_type != STREAMS:
        return group

    def is_there(place: TopicPartition) -> bool:
        return place[0] not in topics or place[1] < topics[place[0]].partition_count

    members = (
        replace(
            member,
            assigned=tuple(filter(is_there, member.assigned)),
            target=None if member.target is None else tuple(filter(is_there, member.target)),
        )
        for member in group.members
    )
    return replace(group, members=tuple(members))


def _partitions_read(groups: Iterable[GroupView], topics: Mapping[str, TopicRow]) -> dict[TopicPartition, PartitionRow]:
    names = {topic for group in groups for topic, _ in partitions_of(group)} & topics.keys()
    return {(name, partition.partition): partition for name in names for partition in topics[name].partitions}


def _counted(places: Iterable[TopicPartition]) -> int:
    """Return a number that identifies the partitions of a lag's history."""
    return hash(tuple(places))


def _still(before: tuple[GroupPartitionRow, ...], place: TopicPartition, evidence: Evidence) -> LagVerdict:
    """Return the former verdict until there is evidence: after a restart of the collector trouble is no news."""
    for row in before:
        if row.partition == place[1] and row.topic == place[0] and row.verdict.is_bad and evidence.lag:
            if row.verdict is LagVerdict.ABANDONED and evidence.has_reader:
                return LagVerdict.UNKNOWN
            stays = row.committed == evidence.committed or row.verdict is LagVerdict.SLOW
            return row.verdict if stays else LagVerdict.UNKNOWN
    return LagVerdict.UNKNOWN
