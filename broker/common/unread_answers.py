"""One bound for what REST clients have not taken of their answers, with a share for each address.

uvicorn takes an answer whole, however slowly its client reads: the connections of one address times the longest answer
are gigabytes. Here an answer goes out in pieces, each when the one before is on its way. What is longer than a piece
counts until the last one is, and an answer without room gives way to a short refusal.
"""

from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from typing import Any

from broker.common.hosts import counted_address
from broker.common.security_limits import (
    REST_ANSWER_STREAMED_BYTES,
    REST_ANSWERS_BYTES_MAX,
    REST_ANSWERS_NEWCOMER_BYTES,
    REST_BODY_UNCOUNTED_BYTES,
)
from broker.common.shared_budget import ANONYMOUS, Owner, SharedBudget

#: What a refusal says.
NO_ROOM = (
    "The answers to this address that were not read yet take all the memory they may have; read them, or ask for less"
)
_SCOPE_KEY = "barnabas.unread_answer"

#: As starlette has them, which not every process with REST has.
Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]


class UnreadAnswers:
    """The answers of one listener. For one event loop."""

    def __init__(
        self,
        size: int = REST_ANSWERS_BYTES_MAX,
        floor: int = REST_ANSWERS_NEWCOMER_BYTES,
        uncounted: int = REST_BODY_UNCOUNTED_BYTES,
        streamed: int = REST_ANSWER_STREAMED_BYTES,
    ):
        """uncounted: bytes of each answer that count for nothing, and the length of a piece. streamed: what counts for
        an answer of unknown length, which is made while it is sent."""
        self.budget = SharedBudget(size, floor)
        self.uncounted, self._streamed = uncounted, streamed

    def length_of(self, head: Message, body: bytes, *, is_all: bool) -> int:
        """Return how long an answer is, by its head and what is sent of it first."""
        named = [value for name, value in head.get("headers", ()) if name.lower() == b"content-length"]
        if named and named[0].isdigit():
            return int(named[0])
        return len(body) if is_all else self._streamed

    def counted(self, owner: Owner, length: int) -> int | None:
        """Count an answer of so many bytes, and return how many of them count; None if there is no room.

        An owner that holds nothing may have one, however long it is: it could not be given at all otherwise.
        """
        amount = max(0, length - self.uncounted)
        if self.budget.held_by(owner) and not self.budget.has_room_for(owner, amount):
            return None
        self.budget.hold(owner, amount)
        return amount


class _CountedAnswer:
    """One answer on its way: its head waits until it is known whether there is room for the body."""

    def __init__(self, answers: UnreadAnswers, owner: Owner, send: Send):
        self._answers, self._owner, self._send = answers, owner, send
        self._head: Message | None = None
        self._counted_bytes = 0
        self.is_refused = False

    async def send(self, message: Message) -> None:
        if self.is_refused:
            return
        if message["type"] == "http.response.start":
            self._head = message
            return
        body, more_body = message.get("body", b""), message.get("more_body", False)
        if self._head is not None:
            length = self._answers.length_of(self._head, body, is_all=not more_body)
            counted = self._answers.counted(self._owner, length)
            if counted is None:
                self.is_refused = True
                return
            self._counted_bytes = counted
            head, self._head = self._head, None
            await self._send(head)
        for piece, is_last in _pieces(body, self._answers.uncounted):
            await self._send({**message, "body": piece, "more_body": more_body or not is_last})

    def end(self) -> None:
        self._answers.budget.hold(self._owner, -self._counted_bytes)
        self._counted_bytes = 0


def _pieces(body: bytes, length: int) -> Iterator[tuple[bytes, bool]]:
    """Yield the body in pieces, each with whether it is the last one; of an empty body one."""
    for start in range(0, len(body) or 1, length):
        yield body[start : start + length], start + length >= len(body)


class SharedAnswers:
    """An application whose answers are counted. `refusal` answers in place of one that has no room."""

    def __init__(self, app: ASGIApp, refusal: ASGIApp, answers: UnreadAnswers | None = None):
        self._app, self._refusal = app, refusal
        self._answers = answers or UnreadAnswers()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        owner = Owner(ANONYMOUS, counted_address((scope.get("client") or ("",))[0]))
        answer = _CountedAnswer(self._answers, owner, send)
        try:
            await self._app({**scope, _SCOPE_KEY: answer}, receive, answer.send)
            if answer.is_refused:
                await self._refusal(scope, receive, send)
        finally:
            answer.end()


def is_refused(scope: Scope) -> bool:
    """Return whether nothing that is sent of this answer reaches its client, so that making more is in vain."""
    answer: _CountedAnswer | None = scope.get(_SCOPE_KEY)
    return answer is not None and answer.is_refused
