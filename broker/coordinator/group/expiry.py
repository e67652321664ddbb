"""Expires offsets (KIP-211): of groups that have been empty for offsets.retention.minutes, of topics no member has been
subscribed to for so long, and at once those of deleted topics.

Groups are looked at in turn, a slice at a time: many thousands may be due at once, and neither the broker's loop nor
one batch of tombstones should be the longer for it. A group that is empty and has no offsets goes with them. Groups
with offsets for deleted topics are looked at apart from these rounds, and no others are for a deletion's sake.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from broker.common.types import TopicIdPartition, TopicPartition
from broker.coordinator.consumer_group.groups import ConsumerGroups
from broker.coordinator.group.administration import may_be_forgotten
from broker.coordinator.group.config import TIMER_RETRY_MS, GroupConfig
from broker.coordinator.group.group import ClassicGroup
from broker.coordinator.group.offsets import CommittedOffsets
from broker.coordinator.group.records import (
    NO_TIMESTAMP,
    CommittedOffset,
    OffsetKey,
    encode_group_key,
    encode_offset_key,
)
from broker.coordinator.group.states import GroupState
from broker.coordinator.group.subscriptions import subscribed_topics
from broker.coordinator.outcome import CoordinatorOutcome, CoordinatorTurn

#: What one slice looks at, and what it writes, at most, unless fewer fill a batch: a few milliseconds.
_OFFSETS_PER_SLICE = 2_000
_TOMBSTONES_PER_SLICE = 500
#: Between two tries to write tombstones for deleted partitions.
_REFUSED_PAUSE_MS = 10_000


@dataclass(slots=True)
class _SliceBudget:
    """What may still be looked at and written in one slice."""

    turn: CoordinatorTurn
    offsets_left: int = _OFFSETS_PER_SLICE
    written_before: int = field(init=False)

    def __post_init__(self) -> None:
        self.written_before = len(self.turn.outcome.records)

    @property
    def tombstones_left(self) -> int:
        return _TOMBSTONES_PER_SLICE - (len(self.turn.outcome.records) - self.written_before)

    @property
    def is_spent(self) -> bool:
        return self.offsets_left <= 0 or self.tombstones_left <= 0 or self.turn.is_full


class Expiry:
    """Proposes tombstones for the groups of one coordinator whenever its deadline has come."""

    def __init__(
        self,
        config: GroupConfig,
        offsets: CommittedOffsets,
        consumers: ConsumerGroups,
        steady_now_ms: Callable[[], int] | None = None,
    ):
        """steady_now_ms: the wall time by which offsets are too old, None for a turn's."""
        self._consumers = consumers
        self._steady_now_ms = steady_now_ms
        self._retention_ms = config.offsets_retention_minutes * 60_000
        self._interval_ms = config.offsets_retention_check_interval_ms
        self._offsets = offsets
        self._outdated = offsets.outdated
        self._queue: deque[str] = deque()  #: ids of groups the present round has not looked at yet
        self._round_at_ms: int | None = None
        #: Ids of groups that have offsets for deleted topics, in the order in which they are looked at.
        self._urgent: dict[str, None] = {}
        self._urgent_at_ms = 0
        #: Groups that were looked at in part, with what is left of their partitions.
        self._walks: dict[str, Iterator[TopicPartition]] = {}
        self._last: CoordinatorOutcome | None = None  #: of the last slice
        self._last_urgent: list[str] = []  #: ids of the urgent groups that were looked at in it

    @property
    def next_deadline_ms(self) -> int | None:
        if self._round_at_ms is None:
            return None
        return min(self._round_at_ms, self._urgent_at_ms) if self._urgent else self._round_at_ms

    def begin(self, now_ms: int) -> None:
        """Begin the rounds of expiry. Groups with offsets of recently deleted topics are due at once."""
        self._round_at_ms = now_ms + self._interval_ms
        self._outdated.begin()
        self._hurry(self._outdated.deleted.topics(), now_ms)

    def stop(self) -> None:
        self._round_at_ms = None
        self._queue.clear()
        self._urgent.clear()
        self._walks.clear()

    def partitions_deleted(self, partitions: Iterable[TopicIdPartition], now_ms: int) -> None:
        """Expire the offsets of these deleted partitions as soon as possible."""
        self._hurry(dict.fromkeys(partition.topic for partition, _ in partitions), now_ms)

    def transaction_ended(self, keys: Iterable[OffsetKey]) -> None:
        """Expire, as soon as possible, offsets of deleted topics that the end of a transaction has left or made
        visible.
        """
        if self._round_at_ms is None or not self._outdated.deleted:
            return
        for key in keys:
            committed = self._offsets.committed_for(key)
            if committed is not None and self._outdated.is_outdated(key, committed):
                self._hurry_groups([key.group_id])

    def note_stored(self, key: OffsetKey, committed: CommittedOffset) -> None:
        """Note that an offset was committed now, or will be if its transaction is."""
        if self._outdated.deleted.number:
            self._outdated.note_stored(key, committed, lambda: self._offsets.stored_for(key))

    def _hurry(self, topics: Iterable[str], now_ms: int) -> None:
        for topic in topics:
            self._hurry_groups(self._offsets.groups_of(topic))
        self._urgent_at_ms = now_ms

    def _hurry_groups(self, group_ids: Iterable[str]) -> None:
        """Have the groups looked at from the beginning: what was passed may be due now."""
        for group_id in group_ids:
            self._urgent[group_id] = None
            self._walks.pop(group_id, None)

    def look_at_some(self, groups: Mapping[str, ClassicGroup], turn: CoordinatorTurn) -> None:
        """Check one slice of the groups if a round is due; those with a pending record are left for later."""
        if self.next_deadline_ms is None or self.next_deadline_ms > turn.now_ms:
            return
        self._last, self._last_urgent = turn.outcome, []
        if self._urgent and self._urgent_at_ms <= turn.now_ms:
            self._look_at_urgent(groups, turn)
        else:
            self._look_at_round(groups, turn)

    def _look_at_urgent(self, groups: Mapping[str, ClassicGroup], turn: CoordinatorTurn) -> None:
        budget, busy = _SliceBudget(turn), []
        while self._urgent and not budget.is_spent:
            group = groups.get(group_id := next(iter(self._urgent)))
            del self._urgent[group_id]
            if group is not None and group.proposal is None:
                self._last_urgent.append(group_id)
                if not self._look_at(group, budget):
                    self._urgent[group_id] = None
            elif group is not None:
                busy.append(group_id)
            else:
                self._walks.pop(group_id, None)
        self._urgent_at_ms = turn.now_ms + (0 if self._urgent else TIMER_RETRY_MS)
        self._urgent.update(dict.fromkeys(busy))

    def _look_at_round(self, groups: Mapping[str, ClassicGroup], turn: CoordinatorTurn) -> None:
        if not self._queue:
            self._queue.extend(groups)
            self._queue.extend(group.group_id for group in self._consumers if group.group_id not in groups)
            self._outdated.forget_old(turn.wall_ms)
        budget = _SliceBudget(turn)
        while self._queue and not budget.is_spent:
            group = groups.get(group_id := self._queue.popleft())
            if group is None and group_id in self._consumers:
                budget.offsets_left -= 1
                self._maybe_delete(group_id, turn)
            elif group is None or group.proposal is not None:
                self._walks.pop(group_id, None)
            elif not self._look_at(group, budget):
                self._queue.appendleft(group_id)
        self._round_at_ms = turn.now_ms + (0 if self._queue else self._interval_ms)

    def abort(self, outcome: CoordinatorOutcome, now_ms: int) -> None:
        """Withdraw records that could not be appended. If they are those of the last slice, the next waits: it would
        fail too.

        It waits less long while there are offsets that the successors of deleted partitions must not have.
        """
        if outcome is not self._last or self._round_at_ms is None:
            return
        self._walks.clear()
        if self._last_urgent:
            self._urgent.update(dict.fromkeys(self._last_urgent))
            self._urgent_at_ms = now_ms + min(self._interval_ms, _REFUSED_PAUSE_MS)
        else:
            self._round_at_ms = now_ms + self._interval_ms

    def _look_at(self, group: ClassicGroup, budget: _SliceBudget) -> bool:
        """Look at the group's offsets, from where the last slice stopped; return whether all were looked at."""
        group_id, turn = group.group_id, budget.turn
        walk = self._walks.pop(group_id, None) or self._offsets.walk(group_id)
        count, written, is_whole = self._offsets.count(group_id), 0, False
        wall_ms = turn.wall_ms if self._steady_now_ms is None else self._steady_now_ms()
        is_expired = self._expired(group, wall_ms)
        budget.offsets_left -= 1
        while not is_whole and not budget.is_spent:
            partition = next(walk, None)
            is_whole = partition is None
            budget.offsets_left -= 1
            if partition is not None and is_expired(OffsetKey(group_id, partition)):
                turn.append(encode_offset_key(OffsetKey(group_id, partition)), None)
                written += 1
        if written:
            turn.note("offsets expired", group_id=group_id, count=written)
        if not is_whole:
            self._walks[group_id] = walk
        elif written == count:
            self._maybe_delete(group_id, turn, group)
        return is_whole

    def _maybe_delete(self, group_id: str, turn: CoordinatorTurn, group: ClassicGroup | None = None) -> None:
        consumer_group = self._consumers.get(group_id)
        if consumer_group is not None:
            if consumer_group.members or self._offsets.has_pending(group_id):
                return
            self._consumers.delete(consumer_group, turn)
        elif group is not None and may_be_forgotten(group, self._offsets):
            turn.append(encode_group_key(group_id), None)
        else:
            return
        turn.note("group is forgotten: it is empty and has no offsets", group_id=group_id)

    def _expired(self, group: ClassicGroup, wall_ms: int) -> Callable[[OffsetKey], bool]:
        """Return what tells which of the group's offsets are of deleted topics, or too old, unless an open transaction
        is about to replace them.

        A tombstone would drop what that has written. What is pending for a deleted topic goes with its tombstone.
        """
        is_too_old = self._rule(group, wall_ms)

        def is_expired(key: OffsetKey) -> bool:
            committed = self._offsets.committed_for(key)
            if committed is None:
                return False
            if self._outdated.is_outdated(key, committed):
                return all(self._outdated.is_outdated(key, pending) for pending in self._offsets.pending_for(key))
            return is_too_old(key.partition, committed) and not self._offsets.is_pending(key)

        return is_expired

    def _rule(self, group: ClassicGroup, wall_ms: int) -> Callable[[TopicPartition, CommittedOffset], bool]:
        """Which offsets of the group are too old."""
        consumer_group = self._consumers.get(group.group_id)
        if consumer_group is not None:
            return lambda partition, committed: (
                not consumer_group.is_subscribed(partition.topic) and self._is_old(committed, NO_TIMESTAMP, wall_ms)
            )
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
