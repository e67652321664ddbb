"""Requests that wait until the controller's machine has answered them."""

import asyncio
from collections.abc import Callable

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.controller.verdict import PartitionVerdict, ShutdownAnswer

Answer = dict[TopicPartition, PartitionVerdict] | ShutdownAnswer


class PendingRequests:
    """The open questions of one broker's controller, by their number."""

    def __init__(self) -> None:
        self._count = 0
        self._open: dict[int, asyncio.Future[Answer]] = {}

    async def ask(self, deliver: Callable[[int], None], timeout_ms: int) -> Answer:
        """Deliver a new number and wait for its answer; ApiError NOT_CONTROLLER or REQUEST_TIMED_OUT."""
        self._count += 1
        number = self._count
        waiting: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._open[number] = waiting
        try:
            deliver(number)
            async with asyncio.timeout(timeout_ms / 1000):
                return await waiting
        except TimeoutError:
            raise ApiError(ErrorCode.REQUEST_TIMED_OUT) from None
        finally:
            self._open.pop(number, None)

    def answer(self, number: int, answer: Answer) -> None:
        """Give the answer to the request's waiter; one without a waiter is dropped."""
        waiting = self._open.get(number)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)

    def refuse_all(self) -> None:
        """Fail all pending requests: this broker is no longer controller, or starts over."""
        for waiting in self._open.values():
            if not waiting.done():
                waiting.set_exception(ApiError(ErrorCode.NOT_CONTROLLER))
