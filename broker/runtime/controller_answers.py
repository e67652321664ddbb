"""Questions that request handlers put to the controller's machine: the event carries a number, the answer comes by it.

Whatever makes the controller drop what is queued (its term ends, ZooKeeper is out of reach) refuses all that is open:
whether it was carried out is unknown, and the asker finds the next controller.
"""

import asyncio
from collections.abc import Callable
from itertools import count
from typing import Any

from broker.common.errors import ApiError, ErrorCode
from broker.controller.events import Event


class ControllerAnswers:
    """`deliver` takes the event of each question to the machine."""

    def __init__(self, deliver: Callable[[Event], None]):
        self._deliver = deliver
        self._numbers = count(1)
        self._open: dict[int, asyncio.Future] = {}

    async def ask(self, event_of: Callable[[int], Event]) -> Any:
        """The answer to the event that `event_of` makes of a request id; ApiError NOT_CONTROLLER if none will come."""
        number = next(self._numbers)
        answer = self._open[number] = asyncio.get_running_loop().create_future()
        self._deliver(event_of(number))
        try:
            return await answer
        finally:
            del self._open[number]

    def give(self, request_id: int, answer: Any) -> None:
        """Nothing happens when nobody waits any more."""
        waiting = self._open.get(request_id)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)

    def refuse_all(self) -> None:
        for waiting in self._open.values():
            if not waiting.done():
                waiting.set_exception(ApiError(ErrorCode.NOT_CONTROLLER))
