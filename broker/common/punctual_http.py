"""uvicorn's protocol with bounds for what comes before a request is one, and for how many connections there are.

uvicorn bounds neither how long a request may take to arrive nor how many clients connect and say nothing: each of them
would hold its socket for ever.
"""

from asyncio import Protocol, TimerHandle, Transport
from collections import Counter

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from broker.common.hosts import counted_address
from broker.common.limits import REST_CONNECTIONS_MAX, REST_CONNECTIONS_PER_ADDRESS_MAX

#: From the connection, or the first byte of a further request, to the end of its headers; browsers that connect ahead
#: of need connect again.
HEADERS_SECONDS = 10
#: And to the end of its body: the largest form, of 4 MB, over a slow line.
REQUEST_SECONDS = 60


class PunctualProtocol(HttpToolsProtocol):
    """Closes the connection when a request does not arrive whole in time."""

    _arrival: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect(HEADERS_SECONDS)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._arrival is None:
            self._expect(HEADERS_SECONDS)

    def on_headers_complete(self) -> None:
        self._expect(REQUEST_SECONDS)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self.expect_nothing()
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self.expect_nothing()
        super().connection_lost(exc)

    def _expect(self, seconds: float) -> None:
        self.expect_nothing()
        self._arrival = self.loop.call_later(seconds, self.transport.close)

    def expect_nothing(self) -> None:
        if self._arrival is not None:
            self._arrival.cancel()
            self._arrival = None


def bounded_protocol(
    most: int = REST_CONNECTIONS_MAX, per_address: int = REST_CONNECTIONS_PER_ADDRESS_MAX
) -> type[Protocol]:
    """A protocol for one server, which takes at most so many connections, and so many of one address; the next one is
    closed at once."""
    connected: Counter[str] = Counter()

    class BoundedProtocol(PunctualProtocol):
        _address: str | None = None

        def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
            address = counted_address(str((transport.get_extra_info("peername") or ("",))[0]))
            super().connection_made(transport)
            if connected.total() >= most or connected[address] >= per_address:
                transport.abort()
                return
            self._address = address
            connected[address] += 1

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            if self._address is not None:
                connected[self._address] -= 1
                if not connected[self._address]:
                    del connected[self._address]

    return BoundedProtocol
