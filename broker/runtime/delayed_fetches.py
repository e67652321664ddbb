"""Where requests wait for a partition to move: woken by condition, ended by a deadline, never polled.

A waiter names the partitions it looks at; whoever moves a partition's high watermark calls `wake`. One heap holds all
deadlines and one timer serves it, so ten thousand waiting fetches cost one timer. A waiter leaves every list it is on
when it completes, whatever the cause: a leak here is the classic memory bug of brokers. Who looks and then waits must
do both in one step of the loop, or misses what moves in between; hence `wait` is no coroutine. Where very many wait for
one partition, or for one moment, they go on a few in each pass of the loop: each then reads and answers.
"""

import asyncio
import heapq
from collections import deque
from collections.abc import Iterable

from broker.common.clock import Clock
from broker.common.limits import DELAYED_FETCH_PARTITIONS_MAX, DELAYED_FETCHES_MAX, WAKES_AT_ONCE_MAX
from broker.common.security_limits import DELAYED_FETCH_NEWCOMER_PARTITIONS
from broker.common.shared_budget import UNATTRIBUTED, Owner, SharedBudget
from broker.common.types import TopicPartition

#: What a fetch counts at least of the partitions that are waited for: as many fetches as may wait fill the bound.
_PARTITIONS_MIN = DELAYED_FETCH_PARTITIONS_MAX // DELAYED_FETCHES_MAX


class _FetchWaiter:
    __slots__ = ("deadline_ms", "future", "keys", "owner", "woken")

    def __init__(
        self,
        keys: tuple[TopicPartition, ...],
        owner: Owner,
        deadline_ms: int,
        future: asyncio.Future[set[TopicPartition]],
    ):
        self.keys = keys
        self.owner = owner
        self.deadline_ms = deadline_ms
        self.future = future
        #: Those of its keys that moved, also while it is about to go on.
        self.woken: set[TopicPartition] = set()

    def __lt__(self, other: "_FetchWaiter") -> bool:
        return self.deadline_ms < other.deadline_ms


class DelayedFetches:
    """Parks a request until one of its partitions moves or its time is up."""

    def __init__(self, clock: Clock):
        self._clock = clock
        #: In the order they came in, and are woken in.
        self._waiters: dict[TopicPartition, dict[_FetchWaiter, None]] = {}
        self._deadlines: list[_FetchWaiter] = []
        #: Woken, and waiting until those before have gone on.
        self._queue: deque[_FetchWaiter] = deque()
        self._waiting = 0
        #: By all that wait together.
        self.keys_waited_for = 0
        #: Without it a client that has thousands of fetches wait would have every other consumer ask without pause.
        self._room = SharedBudget(DELAYED_FETCH_PARTITIONS_MAX, DELAYED_FETCH_NEWCOMER_PARTITIONS)
        self._timer: asyncio.TimerHandle | None = None
        self._timer_deadline_ms = 0

    def __len__(self) -> int:
        return self._waiting

    def wait(
        self, keys: Iterable[TopicPartition], timeout_ms: int, owner: Owner = UNATTRIBUTED
    ) -> asyncio.Future[set[TopicPartition]]:
        """Wait from now on: those of `keys` that are woken by the time one is, none when the time is up (or fetches of
        the owner, or of all, wait for too many partitions).
        """
        future = asyncio.get_running_loop().create_future()
        keys = tuple(keys)
        if timeout_ms <= 0 or not self._room.has_room_for(owner, max(len(keys), _PARTITIONS_MIN)):
            future.set_result(set())
            return future
        waiter = _FetchWaiter(keys, owner, self._clock.monotonic_ms() + timeout_ms, future)
        self._add(waiter)
        future.add_done_callback(lambda _: self._remove(waiter))
        return future

    def wake(self, key: TopicPartition) -> None:
        """Wake the requests that wait for this partition."""
        waiters = self._waiters.pop(key, None)
        if waiters is None:
            return
        for waiter in waiters:
            waiter.woken.add(key)
        if len(waiters) <= WAKES_AT_ONCE_MAX:
            for waiter in waiters:
                _go_on(waiter)
            return
        if not self._queue:
            asyncio.get_running_loop().call_soon(self._wake_some)
        self._queue += waiters

    def _wake_some(self) -> None:
        queue = self._queue
        for _ in range(min(len(queue), WAKES_AT_ONCE_MAX)):
            _go_on(queue.popleft())
        if queue:
            asyncio.get_running_loop().call_soon(self._wake_some)

    def _add(self, waiter: _FetchWaiter) -> None:
        self._waiting += 1
        self.keys_waited_for += len(waiter.keys)
        self._room.hold(waiter.owner, max(len(waiter.keys), _PARTITIONS_MIN))
        for key in waiter.keys:
            self._waiters.setdefault(key, {})[waiter] = None
        heapq.heappush(self._deadlines, waiter)
        if self._timer is None or waiter.deadline_ms < self._timer_deadline_ms:
            self._arm()

    def _remove(self, waiter: _FetchWaiter) -> None:
        self._waiting -= 1
        self.keys_waited_for -= len(waiter.keys)
        self._room.hold(waiter.owner, -max(len(waiter.keys), _PARTITIONS_MIN))
        for key in waiter.keys:
            waiters = self._waiters.get(key)
            if waiters is not None:
                waiters.pop(waiter, None)
                if not waiters:
                    del self._waiters[key]
        if len(self._deadlines) > 2 * self._waiting + 64:
            self._deadlines = [deadline for deadline in self._deadlines if not deadline.future.done()]
            heapq.heapify(self._deadlines)

    def _arm(self) -> None:
        while self._deadlines and self._deadlines[0].future.done():
            heapq.heappop(self._deadlines)
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if self._deadlines:
            self._timer_deadline_ms = self._deadlines[0].deadline_ms
            delay_ms = max(0, self._timer_deadline_ms - self._clock.monotonic_ms())
            self._timer = asyncio.get_running_loop().call_later(delay_ms / 1000, self._expire)

    def _expire(self) -> None:
        self._timer = None
        now_ms = self._clock.monotonic_ms()
        for _ in range(WAKES_AT_ONCE_MAX):
            if not self._deadlines or self._deadlines[0].deadline_ms > now_ms:
                break
            _go_on(heapq.heappop(self._deadlines))
        self._arm()


def _go_on(waiter: _FetchWaiter) -> None:
    if not waiter.future.done():
        waiter.future.set_result(waiter.woken)
