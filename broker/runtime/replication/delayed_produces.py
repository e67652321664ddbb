"""Producers that wait until what they wrote is committed (acks=all).

A waiter is answered in the same wake-up in which the fetch came that proves it; nobody polls. Each partition has its
waiters in the order of their offsets, so a high watermark that moves looks only at those it satisfies. Deadlines are
looked at together, every 100 ms while anybody waits: a request that waits costs no timer of its own.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from broker.common.clock import Clock
from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.runtime.replication.hosted_partition import HostedPartition, ProduceResult
from broker.runtime.replication.replica_manager import ReplicaManager

_SWEEP_S = 0.1


Response = TypeVar("Response")
#: What a request is answered, from what became of each of its appends.
Respond = Callable[[list[ErrorCode]], Response]


class _ProduceWaiter(Generic[Response]):
    """One request; `missing` of its partitions are still to be decided."""

    __slots__ = ("codes", "deadline_ms", "future", "missing", "respond")

    def __init__(self, future: asyncio.Future[Response], respond: Respond[Response], count: int, deadline_ms: int):
        self.future = future
        self.respond = respond
        self.missing = count
        self.codes = [ErrorCode.REQUEST_TIMED_OUT] * count
        self.deadline_ms = deadline_ms

    def decide(self, index: int, code: ErrorCode) -> None:
        self.codes[index] = code
        self.missing -= 1
        if not self.missing:
            self.answer()

    def answer(self) -> None:
        """Answer unless that has happened or the client is gone.

        Whoever moved the high watermark calls this: an answer that cannot be made is the fault of its request alone.
        """
        if self.future.done():
            return
        try:
            self.future.set_result(self.respond(self.codes))
        except Exception as error:
            self.future.set_exception(error)


#: (offset the high watermark must reach, waiter, place of the partition in its request)
_Place = tuple[int, _ProduceWaiter[Any], int]


class DelayedProduces:
    """Waits of all partitions this broker leads."""

    def __init__(self, replicas: ReplicaManager, clock: Clock):
        self._clock = clock
        self._waiting: dict[TopicPartition, deque[_Place]] = {}
        self._sweep_timer: asyncio.TimerHandle | None = None
        replicas.on_high_watermark.append(self._on_high_watermark)
        replicas.on_role.append(self._on_role)

    def __len__(self) -> int:
        """Partitions somebody waits for."""
        return len(self._waiting)

    def wait(
        self, appended: Sequence[ProduceResult], timeout_ms: int, respond: Respond[Response]
    ) -> asyncio.Future[Response]:
        """Wait for the appends (at least one) and return `respond` of their results, once all are decided.

        NONE, NOT_ENOUGH_REPLICAS_AFTER_APPEND (it is in the log, but too few replicas are in sync by now),
        NOT_LEADER_OR_FOLLOWER (we do not know), KAFKA_STORAGE_ERROR, REQUEST_TIMED_OUT (nor here).
        """
        future: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        waiter = _ProduceWaiter(future, respond, len(appended), self._clock.monotonic_ms() + timeout_ms)
        for index, result in enumerate(appended):
            partition = result.hosted.partition
            if result.end_offset <= partition.high_watermark:
                waiter.decide(index, _code_when_committed(result.hosted))
                continue
            places = self._waiting.setdefault(partition.topic_partition, deque())
            places.append((result.end_offset, waiter, index))
        if waiter.missing and self._sweep_timer is None:
            self._arm()
        return future

    def close(self) -> None:
        """Stop the periodic sweep until the next request waits."""
        if self._sweep_timer:
            self._sweep_timer.cancel()
            self._sweep_timer = None

    def _on_high_watermark(self, hosted: HostedPartition) -> None:
        places = self._waiting.get(hosted.partition.topic_partition)
        if places is None:
            return
        high_watermark, code = hosted.partition.high_watermark, _code_when_committed(hosted)
        while places and places[0][0] <= high_watermark:
            _, waiter, index = places.popleft()
            waiter.decide(index, code)
        if not places:
            del self._waiting[hosted.partition.topic_partition]
            if not self._waiting:
                self.close()  # at rest each record would wake the loop once more, for nobody

    def _on_role(self, hosted: HostedPartition) -> None:
        """Leave it to the next role whether a record survives that the last leader did not see committed."""
        if hosted.partition.is_leader:
            return
        for _, waiter, index in self._waiting.pop(hosted.partition.topic_partition, ()):
            waiter.decide(index, hosted.partition.refusal)

    def _arm(self) -> None:
        self._sweep_timer = asyncio.get_running_loop().call_later(_SWEEP_S, self._sweep)

    def _sweep(self) -> None:
        """Drop who was answered otherwise or gave up, answer whose time is up."""
        self._sweep_timer = None
        now_ms = self._clock.monotonic_ms()
        for topic_partition, places in list(self._waiting.items()):
            left = deque(place for place in places if not _is_over(place[1], now_ms))
            if left:
                self._waiting[topic_partition] = left
            else:
                del self._waiting[topic_partition]
        if self._waiting:
            self._arm()


def _is_over(waiter: _ProduceWaiter[Response], now_ms: int) -> bool:
    if waiter.deadline_ms <= now_ms:
        waiter.answer()
    return waiter.future.done()


def _code_when_committed(hosted: HostedPartition) -> ErrorCode:
    if hosted.partition.is_under_min_isr:
        return ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
    return ErrorCode.NONE
