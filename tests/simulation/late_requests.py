"""Requests that come again, late, as from a network that kept a copy: what a transaction sent must not touch the next.

Only of producers whose epoch each end raises (KIP-890, part 2): before that a late request could be of any transaction.
"""

import asyncio
from collections.abc import Awaitable, Callable

from broker.common.types import TopicPartition
from broker.protocol.messages.find_coordinator import CoordinatorType
from broker.protocol.schema import Message
from tests.simulation.client import ClusterClient, NoAnswerError
from tests.simulation.coordinated import CoordinatorLine
from tests.simulation.history import History

_LATE_SHARE = 0.12
_DELAY_S = (0.05, 3.0)
#: So many copies of one producer are on their way at a time.
_COPIES_MAX = 8


class LateRequests:
    """The copies of one producer's requests, on connections of their own; nobody waits for their responses."""

    def __init__(self, name: str, client: ClusterClient, history: History):
        self._name = name
        self._client = client.another_line()
        self._history = history
        self._random = client.random
        self._coordinator = CoordinatorLine(self._client, CoordinatorType.TRANSACTION, name)
        self._copies: set[asyncio.Task] = set()
        self._turn = asyncio.Lock()

    def to_coordinator(self, request: Message, version: int) -> None:
        """Perhaps send the request again later, to whoever coordinates then."""
        self._perhaps(request, lambda: self._coordinator.ask(request, version))

    def to_leader(self, where: TopicPartition, request: Message, version: int, *, surely: bool = False) -> None:
        """Perhaps send the request again later, to the leader of then; `surely` where it was not sent yet."""

        async def send() -> Message:
            await self._client.refresh([where.topic])
            leader = self._client.leaders.get(where)
            if leader is None or leader.broker_id < 0:
                raise NoAnswerError("no leader")
            return await self._client.ask(leader.broker_id, request, version)

        self._perhaps(request, send, 1 if surely else _LATE_SHARE)

    def _perhaps(self, request: Message, send: Callable[[], Awaitable[Message]], share: float = _LATE_SHARE) -> None:
        if self._random.random() >= share or len(self._copies) >= _COPIES_MAX:
            return
        copy = asyncio.get_running_loop().create_task(self._send_late(request, self._random.uniform(*_DELAY_S), send))
        self._copies.add(copy)
        copy.add_done_callback(self._copies.discard)

    async def _send_late(self, request: Message, delay_s: float, send: Callable[[], Awaitable[Message]]) -> None:
        await asyncio.sleep(delay_s)
        is_answered = True
        async with self._turn:
            try:
                await send()
            except NoAnswerError:
                self._coordinator.forget()
                is_answered = False
        self._history.add(self._name, "sent late", request=request.api.name, after_s=delay_s, answered=is_answered)

    async def end(self) -> None:
        """Wait until no copy is on its way."""
        while self._copies:
            await asyncio.wait(list(self._copies))
