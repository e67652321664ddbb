"""Deadlines of one coordinator: a heap with at most one live entry per key.

Heartbeats move a deadline later many times before it is ever reached, so moving it later only notes the new time; the
entry already in the heap is put back with that time when it surfaces. Entries that stand for nothing any more are
dropped when they are most of the heap: a member's time may be half an hour, and it may come and go every millisecond.
Nothing here waits: the time is an argument.
"""

from heapq import heapify, heappop, heappush
from typing import Generic, TypeVar

from broker.coordinator.outcome import Remains

K = TypeVar("K")

#: Entries that are never worth a look at all of them.
_ENTRIES_MIN = 1_000


class Timers(Generic[K]):
    def __init__(self) -> None:
        self._deadlines: dict[K, int] = {}
        #: (deadline, order of scheduling, key). Invariant: each key in `_deadlines` has an entry not later than its
        #: deadline.
        self._heap: list[tuple[int, int, K]] = []
        #: Deadline of the earliest heap entry that stands for the key.
        self._queued: dict[K, int] = {}
        self._order = 0

    def schedule(self, key: K, deadline_ms: int) -> None:
        """Set, or move, the deadline of `key`."""
        self._deadlines[key] = deadline_ms
        queued = self._queued.get(key)
        if queued is None or deadline_ms < queued:
            self._push(key, deadline_ms)

    def schedule_once(self, key: K, deadline_ms: int) -> None:
        """Set the deadline of `key` unless it has one."""
        if key not in self._deadlines:
            self.schedule(key, deadline_ms)

    def cancel(self, key: K) -> None:
        """Forget the deadline of `key`, if it has one."""
        self._deadlines.pop(key, None)
        self._drop_if_most_are_stale()

    def next_deadline_ms(self) -> int | None:
        """Return the earliest deadline, None when there is none."""
        self._drop_stale()
        return self._heap[0][0] if self._heap else None

    def take_expired(self, now_ms: int) -> K | None:
        """Remove and return the earliest key whose deadline has come, None if none has.

        One at a time, since what is done about one may move or cancel the next.
        """
        deadline_ms = self.next_deadline_ms()
        if deadline_ms is None or deadline_ms > now_ms:
            return None
        _, _, key = heappop(self._heap)
        del self._queued[key], self._deadlines[key]
        return key

    def forget(self) -> list[Remains]:
        """Clear all timers, and return what was removed."""
        remains: list[Remains] = [self._deadlines, self._heap, self._queued]
        self._deadlines, self._heap, self._queued = {}, [], {}
        return remains

    def _push(self, key: K, deadline_ms: int) -> None:
        self._order += 1
        self._queued[key] = deadline_ms
        heappush(self._heap, (deadline_ms, self._order, key))
        self._drop_if_most_are_stale()

    def _drop_if_most_are_stale(self) -> None:
        if len(self._heap) <= 2 * len(self._deadlines) + _ENTRIES_MIN:
            return
        self._queued = dict(self._deadlines)
        self._heap = [(deadline_ms, order, key) for order, (key, deadline_ms) in enumerate(self._deadlines.items())]
        heapify(self._heap)
        self._order = len(self._heap)

    def _drop_stale(self) -> None:
        """Drop cancelled or superseded entries, and put moved ones back, until the heap's top is a true deadline."""
        while self._heap:
            queued_ms, _, key = self._heap[0]
            if self._queued.get(key) != queued_ms:
                heappop(self._heap)  # a later entry of a key that was moved earlier
                continue
            deadline_ms = self._deadlines.get(key)
            if deadline_ms == queued_ms:
                return
            heappop(self._heap)
            del self._queued[key]
            if deadline_ms is not None:
                self._push(key, deadline_ms)
