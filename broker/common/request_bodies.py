"""One bound for the bodies of all requests that a REST listener reads or answers, with a share for each address.

Connections and single bodies are bounded already, and their product is a gigabyte. A body counts until its request is
answered. A client that needs room takes that of its own address's oldest unfinished body, and a newcomer, for which the
reserve is full, that of the oldest of all: sending slowly holds none, however many addresses do it together.
"""

import asyncio
from collections.abc import Callable, Iterator

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from broker.common.errors import BarnabasError
from broker.common.hosts import counted_address
from broker.common.security_limits import REST_BODIES_BYTES_MAX, REST_BODIES_NEWCOMER_BYTES, REST_BODY_UNCOUNTED_BYTES
from broker.common.shared_budget import ANONYMOUS, Owner, SharedBudget

#: Of an answer to a request whose body had no room; what is still to come of the body is not read.
RETRY_LATER = {"Retry-After": "5", "Connection": "close"}


class BodiesFull(BarnabasError):
    """A request's body has no room: to be answered with 503 and `RETRY_LATER`."""

    def __init__(self) -> None:
        super().__init__(
            "The bodies of unanswered requests from this address take all the memory they may have; try again later"
        )


class RequestBody:
    """What has come of one request's body. `on_refused` is called when it has to give way to another one."""

    def __init__(self, address: str, on_refused: Callable[[], None] = lambda: None):
        self.owner = Owner(ANONYMOUS, address)
        self.on_refused = on_refused
        self.received_bytes = 0
        self.counted_bytes = 0
        self.is_refused = False


class RequestBodies:
    """The bodies of one listener. For one event loop."""

    def __init__(
        self,
        size: int = REST_BODIES_BYTES_MAX,
        floor: int = REST_BODIES_NEWCOMER_BYTES,
        uncounted: int = REST_BODY_UNCOUNTED_BYTES,
    ):
        """uncounted: bytes at the beginning of each body that count for nothing; connections bound their sum."""
        self.budget = SharedBudget(size, floor)
        self._uncounted = uncounted
        #: The oldest one first.
        self._unfinished: dict[RequestBody, None] = {}

    def receive(self, body: RequestBody, length: int, *, is_last: bool) -> None:
        """Count so many more bytes of the body. Raises BodiesFull."""
        body.received_bytes += length
        more = max(0, body.received_bytes - self._uncounted) - body.counted_bytes
        if body.is_refused or not self._make_room(body, more):
            self.end(body)
            raise BodiesFull
        self.budget.hold(body.owner, more)
        body.counted_bytes += more
        if is_last:
            self._unfinished.pop(body, None)
        elif body.counted_bytes:
            self._unfinished[body] = None

    def end(self, body: RequestBody) -> None:
        """Give the room of the body back. Idempotent."""
        self.budget.hold(body.owner, -body.counted_bytes)
        body.counted_bytes = 0
        self._unfinished.pop(body, None)

    def _make_room(self, body: RequestBody, amount: int) -> bool:
        """Return whether there is room, having refused the oldest bodies that had to go for it; none in vain."""
        if self.budget.has_room_for(body.owner, amount):
            return True
        given_back: list[RequestBody] = []
        for older in self._to_give_way(body, amount):
            self.budget.hold(older.owner, -older.counted_bytes)
            given_back.append(older)
            if self.budget.has_room_for(body.owner, amount):
                for refused in given_back:
                    self._refuse(refused)
                return True
        for older in given_back:
            self.budget.hold(older.owner, older.counted_bytes)
        return False

    def _to_give_way(self, body: RequestBody, amount: int) -> Iterator[RequestBody]:
        """Yield the unfinished bodies that give way, in that order: those of the address, and of others to a newcomer.

        Each counts for nothing any more when the next one is asked for.
        """
        yield from [older for older in self._unfinished if older.owner == body.owner and older is not body]
        if self.budget.held_by(body.owner) + amount <= self.budget.floor:
            yield from [older for older in self._unfinished if older.owner != body.owner]

    def _refuse(self, body: RequestBody) -> None:
        """Have the body, whose bytes are given back already, give way."""
        body.counted_bytes = 0
        self._unfinished.pop(body, None)
        body.is_refused = True
        body.on_refused()


class SharedBodies:
    """An application whose requests' bodies are counted: its `receive` may raise BodiesFull."""

    def __init__(self, app: ASGIApp, bodies: RequestBodies | None = None):
        self._app = app
        self._bodies = bodies or RequestBodies()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = RequestBody(counted_address((scope.get("client") or ("",))[0]))

        async def receive_counted() -> Message:
            try:
                async with asyncio.timeout(None) as waiting:
                    body.on_refused = lambda: waiting.reschedule(0)
                    message = await receive()
            except TimeoutError:
                raise BodiesFull from None
            finally:
                body.on_refused = lambda: None
            if message["type"] == "http.request":
                self._bodies.receive(body, len(message.get("body", b"")), is_last=not message.get("more_body", False))
            return message

        try:
            await self._app(scope, receive_counted, send)
        except ClientDisconnect:
            pass  # in the middle of its body: the client hears no answer, and a traceback would fill the log
        finally:
            self._bodies.end(body)
