"""Looking at the groups again and again: what they committed, how far that is from the log's end, and since when.

Commits are read first and log ends are those of the collector's last look: a commit may then lie beyond the end that is
known, which is no error until an end read later than the commit says the same.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from console.consumers.commits import CommitRing
from console.consumers.log_ends import LogEnds
from console.consumers.memory import RetentionMemory, UnreadMemory
from console.consumers.rows import GROUP_NAME_LENGTH_MAX, MEMBER_ID_LENGTH_MAX, GroupRow, PlaceRow
from console.consumers.trend import LagWindow
from console.consumers.verdict import Evidence, judge
from console.gateway.errors import GatewayError
from console.gateway.group_views import GroupView, Place, UnreadView
from console.gateway.interface import ClusterGateway
from console.live.rows import PartitionRow, TopicRow

logger = logging.getLogger(__name__)

#: A group that is told of no more is forgotten after this long: while a coordinator moves, nobody tells of its groups.
FORGET_AFTER_MS = 3_000
#: Up to so many offsets before an end that rests may all be markers.
MARKERS_SUSPECTED_MAX = 20


class GroupWatch:
    """For one thread."""

    def __init__(self, gateway: ClusterGateway, clock_ms: Callable[[], int], known: Mapping[str, GroupRow]):
        self._gateway = gateway
        self._now_ms = clock_ms
        self._rows = dict(known)
        self._seen_at_ms = dict.fromkeys(known, clock_ms())
        self._rings: dict[tuple[str, Place], CommitRing] = {}
        self._ends: dict[Place, LogEnds] = {}
        self._lags: dict[str, LagWindow] = {}
        #: (group, place) → committed offset, and when it was first seen to be that.
        self._settled: dict[tuple[str, Place], tuple[int, int]] = {}
        self._unread = UnreadMemory(gateway)
        self._retention = RetentionMemory(gateway, clock_ms)

    @property
    def rows(self) -> Mapping[str, GroupRow]:
        return self._rows

    def look(self, topics: Mapping[str, TopicRow], ends_at_ms: int) -> dict[str, GroupRow]:
        """The rows of all groups. `topics` were read at `ends_at_ms`. Raises GatewayError if no broker answers."""
        view = self._gateway.groups.describe()
        groups = [group for group in view.groups if len(group.group_id) <= GROUP_NAME_LENGTH_MAX]
        self._take_commits()
        at_ms = self._now_ms()
        partitions = {(topic.name, each.partition): each for topic in topics.values() for each in topic.partitions}
        self._take_ends(groups, partitions, ends_at_ms)
        self._learn_unread(groups, partitions, at_ms)
        rows = {group.group_id: self._row(group, partitions, ends_at_ms, at_ms) for group in groups}
        self._keep_absent(rows, view.answered, at_ms)
        self._forget_gone(rows)
        self._rows = rows
        return rows

    def _take_commits(self) -> None:
        try:
            commits = self._gateway.groups.commits()
        except GatewayError as error:
            logger.debug("commits not read: %s", error)
            return
        for commit in commits:
            ring = self._rings.setdefault((commit.group_id, commit.place), CommitRing())
            if commit.offset is None:
                ring.forget()
                continue
            ends = self._ends.get(commit.place)
            ring.add(commit.offset, commit.at_ms, ends.last if ends is not None else None)

    def _take_ends(
        self, groups: Iterable[GroupView], partitions: Mapping[Place, PartitionRow], ends_at_ms: int
    ) -> None:
        watched = {place for group in groups for place in _places(group)}
        for place in watched & partitions.keys():
            next_offset = partitions[place].next_offset
            if next_offset is not None:
                self._ends.setdefault(place, LogEnds()).observe(next_offset, ends_at_ms)
        for gone in self._ends.keys() - watched:
            del self._ends[gone]

    def _learn_unread(self, groups: Iterable[GroupView], partitions: Mapping[Place, PartitionRow], at_ms: int) -> None:
        """Ask for the first unread record where our own samples do not reach back, or only markers may be left."""
        doubtful: dict[Place, set[int]] = {}
        for group in groups:
            for place, committed in group.committed.items():
                partition, ends = partitions.get(place), self._ends.get(place)
                if partition is None or ends is None or not committed < (partition.next_offset or 0):
                    continue
                position = max(committed, partition.first_offset or 0)
                is_near = partition.next_offset - position <= MARKERS_SUSPECTED_MAX
                is_resting = at_ms - (ends.resting_since_ms() or at_ms) > 0
                if ends.appended_at_ms(position) is None or (is_near and is_resting):
                    doubtful.setdefault(place, set()).add(position)
        self._unread.learn(doubtful, {place: partitions[place].next_offset for place in doubtful})

    def _row(self, group: GroupView, partitions: Mapping[Place, PartitionRow], ends_at_ms: int, at_ms: int) -> GroupRow:
        holders = {place: member.member_id for member in group.members for place in member.assigned}
        rows = tuple(
            self._place_row(group, place, partitions.get(place), holders.get(place, ""), ends_at_ms, at_ms)
            for place in sorted(_places(group))
        )
        row = GroupRow(
            group.group_id,
            group.state,
            group.protocol_type,
            group.coordinator,
            tuple((m.member_id, m.client_id, m.host, m.instance_id, len(m.assigned)) for m in group.members),
            rows,
        )
        window = self._lags.setdefault(group.group_id, LagWindow())
        per_second = None if row.lag is None else window.observe(row.lag, at_ms)
        return replace(row, lag_per_second=per_second)

    def _place_row(
        self,
        group: GroupView,
        place: Place,
        partition: PartitionRow | None,
        member_id: str,
        ends_at_ms: int,
        at_ms: int,
    ) -> PlaceRow:
        committed = group.committed.get(place)
        first, following = (None, None) if partition is None else (partition.first_offset, partition.next_offset)
        if committed is not None and following is not None and committed > following:
            following = self._believed_end(group.group_id, place, committed, following, ends_at_ms, at_ms)
        position = _position(committed, first)
        unread = self._unread.of(place, position, following) if position is not None else None
        lag = None if position is None or following is None else max(0, following - position)
        if unread is not None and unread.offset is None:
            lag = 0
        since = self._waiting_since_ms(place, position, unread) if lag else None
        ring = self._rings.setdefault((group.group_id, place), CommitRing())
        if committed is not None and not ring.has(committed):
            ring.add(committed, at_ms, following)
        lost = max(0, (first or 0) - committed) if committed is not None else 0
        evidence = Evidence(ring, committed, first, following, lag == 0 and not lost, since, bool(group.members), at_ms)
        keeps_ms = self._retention.of(place[0]) if since is not None else None
        return PlaceRow(
            topic=place[0],
            partition=place[1],
            committed=committed,
            first_offset=first,
            next_offset=following,
            lag=lag,
            behind_since_ms=since,
            expires_at_ms=since + keeps_ms if since is not None and keeps_ms is not None else None,
            verdict=judge(evidence),
            member_id=member_id[:MEMBER_ID_LENGTH_MAX],
            lost=lost,
        )

    def _waiting_since_ms(self, place: Place, position: int, unread: UnreadView | None) -> int | None:
        """By the log's growth; older than that by the record's own time. Markers before the record do not wait."""
        first = position if unread is None or unread.offset is None else unread.offset
        appended_at_ms = self._ends[place].appended_at_ms(first) if place in self._ends else None
        if appended_at_ms is None and unread is not None:
            return unread.at_ms
        return appended_at_ms

    def _believed_end(
        self, group_id: str, place: Place, committed: int, following: int, ends_at_ms: int, at_ms: int
    ) -> int:
        """The log's end, or the commit where the end was read before it: who commits an offset has seen it."""
        known, since_ms = self._settled.get((group_id, place), (None, at_ms))
        if known != committed:
            self._settled[group_id, place] = (committed, at_ms)
            return committed
        return following if ends_at_ms > since_ms else committed

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
        kept = {(name, (each.topic, each.partition)) for name, row in rows.items() for each in row.places}
        for memory in (self._rings, self._settled):
            for gone in memory.keys() - kept:
                del memory[gone]
        for memory in (self._lags, self._seen_at_ms):
            for gone in memory.keys() - rows.keys():
                del memory[gone]


def _places(group: GroupView) -> set[Place]:
    """Where it has committed, and where a member is to read."""
    return set(group.committed).union(*(member.assigned for member in group.members))


def _position(committed: int | None, first: int | None) -> int | None:
    """The first offset that is unread and still there. Without a commit everything that is there is unread."""
    if committed is None:
        return first
    return max(committed, first or 0)
