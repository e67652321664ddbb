"""What is known of groups in partitions: their commits, how the logs grow, and which record is the first unread.

Offsets are asked first, then commits are read, and log ends are those of the collector's last look: a commit may then
lie beyond the end that is known, which is no error until an end read later than the commit says the same.
"""

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass

from console.kit.gateway.groups.interface import SHARE, CommitView, GroupView, TopicPartition, UnreadView
from console.kit.gateway.interface import ClusterGateway
from console.state.clusters.topic_rows import PartitionRow
from console.state.consumers.commits import CommitRing
from console.state.consumers.log_ends import LogEnds
from console.state.consumers.losses import NO_LOSS, Loss, PlaceReads, observe_loss
from console.state.consumers.memory import RetentionMemory, UnreadMemory
from console.state.consumers.rows import MEMBER_ID_LENGTH_MAX, GroupPartitionRow, GroupRow
from console.state.consumers.verdict import Evidence, LagVerdict

#: Up to so many offsets before an end that rests may all be markers.
MARKERS_SUSPECTED_MAX = 20


@dataclass(frozen=True, slots=True)
class LagReading:
    """`partitions` of the groups that do not rest were read at `ends_at_ms`, the groups at `at_ms`."""

    partitions: Mapping[TopicPartition, PartitionRow]
    ends_at_ms: int
    at_ms: int


class PartitionWatch:
    """For one thread. `known` are the rows of an earlier watch."""

    def __init__(self, gateway: ClusterGateway, clock_ms: Callable[[], int], known: Mapping[str, GroupRow]):
        self._rings = _rings_of_uncommitted(known)
        self._ends: dict[TopicPartition, LogEnds] = {}
        self._unread = UnreadMemory(gateway)
        self._retention = RetentionMemory(gateway, clock_ms)
        self._losses = {
            name: {(row.topic, row.partition): row.loss for row in group.partitions} for name, group in known.items()
        }
        self._reads: dict[str, dict[TopicPartition, PlaceReads]] = {}

    def take_ends_at_rest(self, row: GroupRow, ends_at_ms: int) -> None:
        """Take the ends of an idle group's row as those until now."""
        for partition in row.partitions:
            ends = self._ends.get((partition.topic, partition.partition))
            if ends is not None and partition.next_offset is not None:
                ends.observe(partition.next_offset, ends_at_ms)

    def have_rested(self, places: Iterable[TopicPartition]) -> bool:
        """Return whether no end has moved for more than a look."""
        return all(place in self._ends and self._ends[place].is_flat for place in places)

    def take_commits(self, commits: Iterable[CommitView], at_ms: int, empty: Container[str] = ()) -> None:
        """Take commits; `empty`: groups without members since the last look, whose backward moves are resets."""
        for commit in commits:
            ring = self._ring(commit.group_id, commit.place, at_ms)
            if commit.offset is None:
                ring.forget()
                continue
            if commit.is_set or (commit.group_id in empty and ring.is_before(commit.offset)):
                ring.set_to(commit.offset, at_ms)
                continue
            ends, made_ms = self._ends.get(commit.place), min(commit.at_ms, at_ms)
            log_end = None if ends is None else ends.last
            ring.add(commit.offset, made_ms, log_end, _waited_ms(ring, ends, made_ms), at_ms)

    def take_ends(self, groups: Iterable[GroupView], look: LagReading) -> None:
        watched = {place for group in groups for place in partitions_of(group)}
        for place in watched & look.partitions.keys():
            next_offset = look.partitions[place].next_offset
            if next_offset is not None:
                self._ends.setdefault(place, LogEnds()).observe(next_offset, look.ends_at_ms)

    def forget_ends_but(self, groups: Iterable[GroupView]) -> None:
        """Forget the ends of partitions that none of these groups reads."""
        for gone in self._ends.keys() - {place for group in groups for place in partitions_of(group)}:
            del self._ends[gone]

    def learn_unread(self, groups: Iterable[GroupView], look: LagReading) -> None:
        """Ask for the first unread record where our own samples do not reach back, or only markers may be left."""
        doubtful: dict[TopicPartition, set[int]] = {}
        next_offsets: dict[TopicPartition, int] = {}
        for group in groups:
            for place, committed in group.committed.items():
                partition, ends = look.partitions.get(place), self._ends.get(place)
                if partition is None or partition.next_offset is None or ends is None:
                    continue
                if committed >= partition.next_offset:
                    continue
                position = max(committed, partition.first_offset or 0)
                is_near = partition.next_offset - position <= MARKERS_SUSPECTED_MAX
                is_resting = look.at_ms - (ends.resting_since_ms() or look.at_ms) > 0
                if ends.appended_at_ms(position) is None or (is_near and is_resting):
                    doubtful.setdefault(place, set()).add(position)
                    next_offsets[place] = partition.next_offset
        self._unread.learn(doubtful, next_offsets)

    def evidence(
        self, group: GroupView, place: TopicPartition, holders: Mapping[TopicPartition, str], look: LagReading
    ) -> Evidence:
        """Return the evidence on the group in the partition."""
        partition, committed = look.partitions.get(place), group.committed.get(place)
        first, following = (None, None) if partition is None else (partition.first_offset, partition.next_offset)
        ring, ends = self._ring(group.group_id, place, look.at_ms), self._ends.get(place)
        has_reader = place in holders or (bool(group.members) and not holders)
        ring.note_reader(has_reader, look.at_ms)
        if committed is not None:
            if place in group.are_set:
                ring.set_to(committed, look.at_ms)
            elif committed != ring.seen_offset:
                ring.see(committed, look.at_ms, following, _waited_ms(ring, ends, look.at_ms))
            is_old = partition is not None and partition.is_end_old
            following = _believed_end(ring, committed, following, look.ends_at_ms, is_old=is_old)
        position = _position(committed, first)
        lag = None if position is None or following is None else max(0, following - position)
        if group.group_type == SHARE:
            lag = _share_lag(group.lags.get(place), committed, lag)
        unread = self._unread.of(place, position, following) if lag and position is not None else None
        if unread is not None and unread.offset is None:
            lag = 0
        evidence = Evidence(
            ring,
            committed,
            first,
            following,
            lag,
            behind_since_ms=None,
            older_than_ms=None if ends is None else ends.since_ms,
            has_reader=has_reader,
            now_ms=look.at_ms,
            member_id=holders.get(place, ""),
        )
        self._date(evidence, ends, position, unread, bool(group.committed))
        return evidence

    def row(
        self, group: GroupView, place: TopicPartition, evidence: Evidence, verdict: LagVerdict
    ) -> GroupPartitionRow:
        loss = self._observe_loss(group.group_id, place, evidence, is_lost=verdict is LagVerdict.LOST)
        reads = self._reads.setdefault(group.group_id, {}).setdefault(place, PlaceReads())
        reads.observe(
            committed=evidence.committed,
            first_offset=evidence.first_offset,
            at_ms=evidence.now_ms,
            is_set=place in group.are_set,
        )
        since_ms = evidence.behind_since_ms
        keeps_ms = None if since_ms is None or evidence.committed is None else self._retention.of(place[0])
        return GroupPartitionRow(
            topic=place[0],
            partition=place[1],
            committed=evidence.committed,
            first_offset=evidence.first_offset,
            next_offset=evidence.next_offset,
            lag=evidence.lag,
            behind_since_ms=since_ms,
            expires_at_ms=None if since_ms is None or keeps_ms is None else since_ms + keeps_ms,
            verdict=verdict,
            member_id=evidence.member_id[:MEMBER_ID_LENGTH_MAX],
            lost=loss.count,
            lost_since_ms=loss.since_ms,
            lost_at_ms=loss.at_ms,
            lost_until=loss.until,
            read_per_second=reads.per_second,
        )

    def forget_all_but(self, groups: Mapping[str, GroupRow], resting: Container[str]) -> None:
        """Forget all other groups; one in a rebalance keeps what is known of it, as it has no assignment for a
        moment.
        """
        for memory in (self._rings, self._losses, self._reads):
            for gone in memory.keys() - groups.keys():
                memory.pop(gone)
        for name, row in groups.items():
            rings = self._rings.get(name)
            if rings and name not in resting and row.state in ("Stable", "Empty", "Dead"):
                for place in rings.keys() - {(partition.topic, partition.partition) for partition in row.partitions}:
                    del rings[place]
                    self._losses.get(name, {}).pop(place, None)
                    self._reads.get(name, {}).pop(place, None)

    def _observe_loss(self, group_id: str, place: TopicPartition, evidence: Evidence, *, is_lost: bool) -> Loss:
        losses = self._losses.setdefault(group_id, {})
        losses[place] = observe_loss(
            losses.get(place, NO_LOSS),
            committed=evidence.committed,
            first_offset=evidence.first_offset,
            next_offset=evidence.next_offset,
            is_lost=is_lost,
            now_ms=evidence.now_ms,
            is_first_look=place not in losses,
        )
        return losses[place]

    def _ring(self, group_id: str, place: TopicPartition, at_ms: int) -> CommitRing:
        rings = self._rings.setdefault(group_id, {})
        ring = rings.get(place)
        if ring is None:
            ring = rings[place] = CommitRing(at_ms)
        return ring

    def _date(
        self, evidence: Evidence, ends: LogEnds | None, position: int | None, unread: UnreadView | None, commits: bool
    ) -> None:
        """Date the oldest unread record and the oldest lost one. `commits`: the group does so elsewhere."""
        if evidence.committed is None:
            evidence.behind_since_ms = _held_since_ms(evidence, commits) if evidence.lag else None
            return
        if evidence.lag and position is not None:
            evidence.behind_since_ms = _waiting_since_ms(ends, position, unread)
        evidence.lost = max(0, (evidence.first_offset or 0) - evidence.committed)
        if evidence.lost and ends is not None:
            evidence.lost_since_ms = ends.appended_at_ms(evidence.committed)


def partitions_of(group: GroupView) -> set[TopicPartition]:
    """Return the partitions that the group has committed or is assigned."""
    return set(group.committed).union(*(member.assigned for member in group.members))


def _rings_of_uncommitted(known: Mapping[str, GroupRow]) -> dict[str, dict[TopicPartition, CommitRing]]:
    """Return the time since which each partition is held without a commit; it is stored nowhere else."""
    return {
        name: {
            (partition.topic, partition.partition): CommitRing(partition.behind_since_ms)
            for partition in row.partitions
            if partition.committed is None and partition.behind_since_ms is not None
        }
        for name, row in known.items()
    }


def _position(committed: int | None, first: int | None) -> int | None:
    """Return the first offset that is unread and still there. Without a commit everything that is there is unread."""
    if committed is None:
        return first
    return max(committed, first or 0)


def _believed_end(
    ring: CommitRing, committed: int, following: int | None, ends_at_ms: int, *, is_old: bool
) -> int | None:
    """Return the log's end, or the commit where the end was read before it: a client has seen what it commits.

    `is_old`: the leader did not answer at `ends_at_ms`, so the end is from an unknown moment before.
    """
    if following is None or committed <= following or (ends_at_ms > ring.seen_since_ms and not is_old):
        return following
    return committed


def _share_lag(counted: int | None, start: int | None, waiting: int | None) -> int | None:
    """Return the records of a share partition that are not acknowledged; None: not known.

    `counted` is the coordinator's count, which may be newer than the log's end; None where it tells none (before Kafka
    4.2). `waiting`, the records from the start offset on, is the most that it can be. Without a start
    offset a group may begin anywhere.
    """
    if counted is not None:
        return counted if waiting is None else min(counted, waiting)
    return waiting if start is not None or waiting == 0 else None


def _waited_ms(ring: CommitRing, ends: LogEnds | None, made_ms: int) -> int | None:
    """Return how long the first record of a commit had waited for it; None: longer than is remembered."""
    if ring.last is None or ends is None or ends.last is None:
        return None
    if ring.last.offset >= ends.last:
        return 0
    appended_ms = ends.appended_at_ms(ring.last.offset)
    return None if appended_ms is None else max(0, made_ms - appended_ms)


def _held_since_ms(evidence: Evidence, commits: bool) -> int:
    """Return since when the partition is held without a commit; a group that commits elsewhere may have begun at its
    end.
    """
    ring = evidence.commits
    if ring.held_end is None or (commits and evidence.next_offset == ring.held_end):
        ring.held_end = evidence.next_offset
        ring.since_ms = evidence.now_ms if commits else ring.since_ms
    return ring.since_ms


def _waiting_since_ms(ends: LogEnds | None, position: int, unread: UnreadView | None) -> int | None:
    """Return since when the oldest unread record waits, by the log's growth; older ones by the record's own time.
    Markers before the record do not wait.
    """
    if ends is None or ends.since_ms is None:
        return None
    appended_at_ms = ends.appended_at_ms(position if unread is None or unread.offset is None else unread.offset)
    if appended_at_ms is None and unread is not None and unread.at_ms is not None:
        return min(unread.at_ms, ends.since_ms)
    return appended_at_ms
