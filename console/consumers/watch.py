"""Looking at the groups again and again: what they committed, how far that is from the log's end, and since when."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace

from console.clusters.topic_rows import TopicRow
from console.consumers.partitions import Look, PartitionWatch, partitions_of
from console.consumers.rows import GROUP_NAME_LENGTH_MAX, GroupPartitionRow, GroupRow
from console.consumers.trend import LagHistory, Trend, trend_of
from console.consumers.verdict import Company, Evidence, Verdict, company_of, is_late, judge
from console.gateway.errors import GatewayError
from console.gateway.group_views import GroupView, TopicPartition
from console.gateway.interface import ClusterGateway

logger = logging.getLogger(__name__)

#: A group that is told of no more is forgotten after this long: while a coordinator moves, nobody tells of its groups.
FORGET_AFTER_MS = 3_000


class GroupWatch:
    """For one thread."""

    def __init__(self, gateway: ClusterGateway, clock_ms: Callable[[], int], known: Mapping[str, GroupRow]):
        self._gateway = gateway
        self._now_ms = clock_ms
        self._rows = dict(known)
        self._seen_at_ms = dict.fromkeys(known, clock_ms())
        self._places = PartitionWatch(gateway, clock_ms, known)
        self._histories: dict[str, LagHistory] = {}

    @property
    def rows(self) -> Mapping[str, GroupRow]:
        return self._rows

    def look(self, topics: Mapping[str, TopicRow], ends_at_ms: int) -> dict[str, GroupRow]:
        """The rows of all groups. `topics` were read at `ends_at_ms`. Raises GatewayError if no broker answers."""
        view = self._gateway.groups.describe()
        groups = [group for group in view.groups if len(group.group_id) <= GROUP_NAME_LENGTH_MAX]
        self._take_commits()
        partitions = {(topic.name, each.partition): each for topic in topics.values() for each in topic.partitions}
        look = Look(partitions, ends_at_ms, self._now_ms())
        self._places.take_ends(groups, look)
        self._places.learn_unread(groups, look)
        rows = {group.group_id: self._row(group, look) for group in groups}
        self._keep_absent(rows, view.answered, look.at_ms)
        self._forget_gone(rows)
        self._rows = rows
        return rows

    def _take_commits(self) -> None:
        try:
            commits = self._gateway.groups.commits()
        except GatewayError as error:
            logger.debug("commits not read: %s", error)
            return
        self._places.take_commits(commits, self._now_ms())

    def _row(self, group: GroupView, look: Look) -> GroupRow:
        holders = {place: member.member_id for member in group.members for place in member.assigned}
        found = [(place, self._places.evidence(group, place, holders, look)) for place in sorted(partitions_of(group))]
        gains, arrives = self._pace(group.group_id, found, look.at_ms)
        return GroupRow(
            group.group_id,
            group.state,
            group.protocol_type,
            group.coordinator,
            tuple((m.member_id, m.client_id, m.host, m.instance_id, len(m.assigned)) for m in group.members),
            self._partition_rows(group.group_id, found, trend_of(None if gains is None else 1, gains, arrives)),
            lag_per_second=gains,
            arriving_per_second=arrives,
        )

    def _pace(
        self, group_id: str, found: list[tuple[TopicPartition, Evidence]], at_ms: int
    ) -> tuple[float | None, float | None]:
        counted = [(place, each, end) for place, each in found if (end := each.next_offset) is not None]
        appended = sum(end for *_, end in counted)
        unread = appended - sum(min(each.committed or 0, end) for _, each, end in counted)
        behind_ms = max((each.behind_ms for _, each, _ in counted if each.lag), default=0)
        history = self._histories.setdefault(group_id, LagHistory())
        history.observe(unread, appended, at_ms, hash(tuple(place for place, *_ in counted)))
        return history.pace(unread, appended, at_ms, behind_ms)

    def _partition_rows(
        self, group_id: str, found: list[tuple[TopicPartition, Evidence]], trend: Trend
    ) -> tuple[GroupPartitionRow, ...]:
        late = [is_late(each) if each.lag else False for _, each in found]
        company = company_of((each for _, each in found), trend is Trend.SHRINKING) if any(late) else Company()
        before = self._rows.get(group_id)
        rows = []
        for (place, evidence), is_behind in zip(found, late, strict=True):
            verdict = judge(evidence, company)
            evidence.commits.was_late = is_behind
            if verdict is Verdict.UNKNOWN and before is not None:
                verdict = _still(before.partitions, place, evidence)
            rows.append(self._places.row(place, evidence, verdict))
        return tuple(rows)

    def _keep_absent(self, rows: dict[str, GroupRow], answered: frozenset[int], at_ms: int) -> None:
        """A group whose coordinator is silent stays as it was; one nobody tells of stays for a moment."""
        self._seen_at_ms.update(dict.fromkeys(rows, at_ms))
        for name, row in self._rows.items():
            if name in rows:
                continue
            if row.coordinator not in answered:
                self._seen_at_ms[name] = at_ms
                rows[name] = replace(row, is_silent=True)
            elif at_ms - self._seen_at_ms.get(name, 0) < FORGET_AFTER_MS:
                rows[name] = row

    def _forget_gone(self, rows: Mapping[str, GroupRow]) -> None:
        self._places.forget_all_but(rows)
        for memory in (self._histories, self._seen_at_ms):
            for gone in memory.keys() - rows.keys():
                del memory[gone]


def _still(before: tuple[GroupPartitionRow, ...], place: TopicPartition, evidence: Evidence) -> Verdict:
    """Trouble is no news after a restart of the collector: it stays until there is evidence."""
    for row in before:
        if row.partition == place[1] and row.topic == place[0] and row.verdict.is_bad and evidence.lag:
            stays = row.committed == evidence.committed or row.verdict is Verdict.SLOW
            return row.verdict if stays else Verdict.UNKNOWN
    return Verdict.UNKNOWN
