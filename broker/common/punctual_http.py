"""uvicorn's protocol with bounds for what comes before a request is one, for unread answers and for connections.

uvicorn bounds neither how long and large a request's headers may be nor how many requests wait behind one another, how
long an answer stays unread and how many clients connect: each of them would hold its socket for ever.
"""

import asyncio
import socket
import ssl
from asyncio import Protocol, TimerHandle, Transport
from asyncio.sslproto import SSLProtocol
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from broker.common.connection_places import ConnectionPlaces
from broker.common.hosts import counted_address
from broker.common.limits import REST_CONNECTIONS_MAX, REST_CONNECTIONS_PER_ADDRESS_MAX
from broker.common.security_limits import PIPELINED_REQUESTS_MAX, REQUEST_HEAD_BYTES_MAX

#: From the connection, or the first byte of a further request, to the end of its headers; browsers that connect ahead
#: of need connect again.
HEADERS_SECONDS = 10
#: And to the end of its body: the largest form, of 4 MB, over a slow line.
REQUEST_SECONDS = 60
#: How long the kernel keeps a connection whose client takes nothing of what was sent, closed or not (TCP_USER_TIMEOUT).
UNREAD_SECONDS = 60


class PunctualProtocol(HttpToolsProtocol):
    """Closes the connection when a request does not arrive whole in time, or an answer is not read."""

    _arrival: TimerHandle | None = None
    #: Received since the parser has last come to the end of a request's head, of a piece of its body or of all of it.
    _unparsed_bytes = 0

    @property
    def is_answering(self) -> bool:
        """Whether its last request has come whole, and the answer is still to be given."""
        return self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete

    def end_handshake(self) -> None:
        """Give back the place of the connection's TLS handshake, if it had one."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # servers give no other kind
        self.end_handshake()
        super().connection_made(transport)
        transport.get_extra_info("socket").setsockopt(
            socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(UNREAD_SECONDS * 1_000)
        )
        self._expect(HEADERS_SECONDS)

    def data_received(self, data: bytes) -> None:
        self._unparsed_bytes += len(data)
        super().data_received(data)
        if self._unparsed_bytes > REQUEST_HEAD_BYTES_MAX:
            self.transport.abort()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._arrival is None:
            self._expect(HEADERS_SECONDS)

    def on_headers_complete(self) -> None:
        self._unparsed_bytes = 0
        self._expect(REQUEST_SECONDS)
        if len(self.pipeline) >= PIPELINED_REQUESTS_MAX:
            self.transport.abort()
            raise ValueError("too many requests wait on one connection")  # ends the parser's turn
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._unparsed_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._unparsed_bytes = 0
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


class HandshakeProtocol(SSLProtocol):
    """TLS of one connection, whose `protocol` is connected when the handshake is over.

    asyncio's own servers tell of no connection before that, and wait for a minute. Their `start_tls` loses what uvloop
    reads before it is called.
    """

    #: It has no request yet.
    is_answering = False

    def __init__(self, context: ssl.SSLContext, protocol: Protocol):
        loop = asyncio.get_running_loop()
        super().__init__(loop, protocol, context, None, server_side=True, ssl_handshake_timeout=HEADERS_SECONDS)  # type: ignore[arg-type]  # None: it waits for nobody

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # servers give no other kind
        self.transport = transport
        super().connection_made(transport)

    def shutdown(self) -> None:
        """Called when uvicorn ends the server."""
        self.transport.abort()


_Places = ConnectionPlaces[PunctualProtocol | HandshakeProtocol]


def bounded_protocol(
    most: int = REST_CONNECTIONS_MAX,
    per_address: int = REST_CONNECTIONS_PER_ADDRESS_MAX,
    tls: ssl.SSLContext | None = None,
) -> type[Protocol]:
    """Return a protocol for one server, which has at most so many connections, and so many of one address.

    A further connection takes the place of the longest idle one of the address that has the most, if it can one that
    waits for no answer. With `tls` its
    connections are encrypted, and have their places from before the handshake on.
    """
    places: _Places = ConnectionPlaces(most, per_address, lambda protocol: protocol.is_answering)

    class BoundedProtocol(PunctualProtocol):
        _address = ""

        def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # servers give no other kind
            super().connection_made(transport)
            # A websocket's protocol would take over the connection and never give its place back.
            self.ws_protocol_class = None
            self._address = _take_place(places, self, transport)

        def data_received(self, data: bytes) -> None:
            places.touch(self._address, self)
            super().data_received(data)

        def on_response_complete(self) -> None:
            places.touch(self._address, self)
            super().on_response_complete()

        def connection_lost(self, exc: Exception | None) -> None:
            places.release(self._address, self)
            super().connection_lost(exc)

    return BoundedProtocol if tls is None else _within_tls(BoundedProtocol, places, tls)


def _take_place(places: _Places, connection: PunctualProtocol | HandshakeProtocol, transport: Transport) -> str:
    """Return the connection's address, as it is counted."""
    address = counted_address(str((transport.get_extra_info("peername") or ("",))[0]))
    evicted = places.take(address, connection)
    if evicted is not None:
        evicted.transport.abort()
    return address


def _within_tls(bounded: type[PunctualProtocol], places: _Places, context: ssl.SSLContext) -> type[Protocol]:
    """Return the protocol of connections that have a place for their handshake, and then as `bounded` ones."""

    class BoundedTlsProtocol(HandshakeProtocol):
        _address = ""

        def __init__(self, config: Any, server_state: Any, **named: Any):
            self._connections = server_state.connections
            encrypted = bounded(config, server_state, **named)
            encrypted.end_handshake = self.let_go  # type: ignore[method-assign]  # of this connection alone
            super().__init__(context, encrypted)

        def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # servers give no other kind
            self._connections.add(self)
            self._address = _take_place(places, self, transport)
            super().connection_made(transport)

        def let_go(self) -> None:
            self._connections.discard(self)
            places.release(self._address, self)

        def connection_lost(self, exc: BaseException | None) -> None:
            self.let_go()
            super().connection_lost(exc)

    return BoundedTlsProtocol  # type: ignore[return-value]  # asyncio takes each kind
