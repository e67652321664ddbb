"""Offsets nobody needs any more (KIP-211): whose group has been empty for offsets.retention.minutes, whose topic no
member has been subscribed to for so long, and at once those of topics that were deleted.

Groups are looked at in turn, a slice at a time: many thousands may be due at once, and neither the broker's loop nor
one batch of tombstones should be the longer for it. A group that is empty and has no offsets goes with them.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping

from broker.common.types import TopicPartition
from broker.coordinator.group.administration import may_be_forgotten
from broker.coordinator.group.config import TIMER_RETRY_MS, GroupConfig
from broker.coordinator.group.deleted_partitions import DeletedPartitions
from broker.coordinator.group.group import Group
from broker.coordinator.group.offsets import Offsets
from broker.coordinator.group.records import (
    NO_TIMESTAMP,
    CommittedOffset,
    OffsetKey,
    encode_group_key,
    encode_offset_key,
)
from broker.coordinator.group.states import GroupState
from broker.coordinator.group.subscriptions import subscribed_topics
from broker.coordinator.outcome import Outcome, Turn

#: What one slice looks at, and what it writes, at most, unless fewer fill a batch: a few milliseconds.
_OFFSETS_PER_SLICE = 2_000
_TOMBSTONES_PER_SLICE = 500
#: Between two tries to write tombstones for deleted partitions.
_REFUSED_PAUSE_MS = 10_000


class Expiry:
    """Proposes tombstones for the groups of one coordinator whenever its deadline has come."""

    def __init__(self, config: GroupConfig, offsets: Offsets, deleted: DeletedPartitions):
        self._retention_ms = config.offsets_retention_minutes * 60_000
        self._interval_ms = config.offsets_retention_check_interval_ms
        self._offsets = offsets
        self._queue: deque[str] = deque()  #: ids of groups the present round has not looked at yet
        self._deleted = deleted
        #: Whether the present round is to be followed by another, and how soon: partitions were deleted meanwhile, or
        #: groups were left out.
        self._again_in_ms: int | None = None
        self.next_deadline_ms: int | None = None
        self._last: Outcome | None = None  #: of the last slice

    def begin(self, now_ms: int) -> None:
        """From now on there are rounds; the first is due at once if partitions were deleted lately."""
        self.next_deadline_ms = now_ms + (0 if self._deleted else self._interval_ms)

    def stop(self) -> None:
        self.next_deadline_ms = None
        self._queue.clear()

    def partitions_deleted(self, partitions: Collection[TopicPartition], now_ms: int, wall_ms: int) -> None:
        """Their offsets go as soon as possible; those that are committed for successors of the same name stay."""
        self._deleted.note(partitions, wall_ms)
        self._again_in_ms, self.next_deadline_ms = 0, now_ms

    def look_at_some(self, groups: Mapping[str, Group], turn: Turn) -> None:
        """One slice of a round, if its time has come; a group with a record on its way is left for the next round."""
        if self.next_deadline_ms is None or self.next_deadline_ms > turn.now_ms:
            return
        if not self._queue:
            self._queue.extend(groups)
            self._again_in_ms = None
            self._deleted.forget_others_than_of_the_last_hour(turn.wall_ms)
        seen, written_before = 0, len(turn.outcome.records)
        while self._queue and seen < _OFFSETS_PER_SLICE:
            left = _TOMBSTONES_PER_SLICE - (len(turn.outcome.records) - written_before)
            if left <= 0 or turn.is_full:
                break
            group = groups.get(self._queue.popleft())
            if group is not None and group.proposal is None:
                seen += 1 + self._look_at(group, left, turn)
            elif group is not None and self._deleted and self._again_in_ms is None:
                self._again_in_ms = TIMER_RETRY_MS
        self._last = turn.outcome
        pause_ms = self._interval_ms if self._again_in_ms is None else self._again_in_ms
        self.next_deadline_ms = turn.now_ms + (0 if self._queue else pause_ms)

    def abort(self, outcome: Outcome, now_ms: int) -> None:
        """The records could not be appended. If they are those of the last slice, the next waits: it would fail too.

        It waits less long while there are offsets that the successors of deleted partitions must not have.
        """
        if outcome is self._last and self.next_deadline_ms is not None:
            pause_ms = min(self._interval_ms, _REFUSED_PAUSE_MS) if self._deleted else self._interval_ms
            self.next_deadline_ms = now_ms + pause_ms

    def _look_at(self, group: Group, tombstones_max: int, turn: Turn) -> int:
        """How many offsets the group has. What is too much for this slice is left for the next."""
        count = self._offsets.count(group.group_id)
        written, is_more = 0, False
        for partition in self._expired(group, turn.wall_ms) if count else ():
            is_more = written == tombstones_max or turn.is_full
            if is_more:
                break
            turn.append(encode_offset_key(OffsetKey(group.group_id, partition)), None)
            written += 1
        if written:
            turn.note("offsets expired", group_id=group.group_id, count=written)
        if is_more:
            self._queue.appendleft(group.group_id)
        elif written == count:
            self._maybe_delete(group, turn)
        return count

    def _maybe_delete(self, group: Group, turn: Turn) -> None:
        if may_be_forgotten(group, self._offsets):
            turn.append(encode_group_key(group.group_id), None)
            turn.note("group is forgotten: it is empty and has no offsets", group_id=group.group_id)

    def _expired(self, group: Group, wall_ms: int) -> Iterator[TopicPartition]:
        """Those of deleted topics, and those that are too old unless an open transaction is about to replace them."""
        is_too_old = self._rule(group, wall_ms)
        for partition, committed in self._offsets.of_group(group.group_id):
            gone_since_ms = self._deleted.since_ms(partition)
            is_gone = gone_since_ms is not None and committed.commit_timestamp_ms <= gone_since_ms
            if is_gone or (
                is_too_old(partition, committed) and not self._offsets.is_pending(OffsetKey(group.group_id, partition))
            ):
                yield partition

    def _rule(self, group: Group, wall_ms: int) -> Callable[[TopicPartition, CommittedOffset], bool]:
        """Which offsets of the group are too old."""
        if group.state is GroupState.EMPTY:
            # Whoever never was a group with members is measured by its commits, others by when the last member left.
            since_ms = group.state_timestamp_ms if group.protocol_type is not None else NO_TIMESTAMP
            return lambda _, committed: self._is_old(committed, since_ms, wall_ms)
        topics = subscribed_topics(group) if group.state is GroupState.STABLE else None
        if topics is None:
            return lambda *_: False
        return lambda partition, committed: (
            partition.topic not in topics and self._is_old(committed, NO_TIMESTAMP, wall_ms)
        )

    def _is_old(self, committed: CommittedOffset, since_ms: int, wall_ms: int) -> bool:
        if committed.expire_timestamp_ms != NO_TIMESTAMP:
            return wall_ms >= committed.expire_timestamp_ms
        counted_from_ms = committed.commit_timestamp_ms if since_ms == NO_TIMESTAMP else since_ms
        return wall_ms - counted_from_ms >= self._retention_ms
