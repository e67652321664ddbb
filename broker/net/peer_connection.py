"""A connection to a peer, read and written in turn by one caller; through TLS if it has some."""

import asyncio
import socket
from collections.abc import Callable

from broker.net.send_queue import SendQueue
from broker.net.tls.stream import TlsStream

_PIECE_BYTES = 256 * 1024


class PeerConnection:
    """Peer connection of a socket that does not block and is connected. One coroutine at a time; errors are OSError and
    EOFError.
    """

    def __init__(self, sock: socket.socket):
        self.sock = sock
        self.tls: TlsStream | None = None
        self._unsent: SendQueue | TlsStream = SendQueue(sock)
        self._loop = asyncio.get_running_loop()
        self._waiting: asyncio.Future[None] | None = None
        self._is_open = True

    async def protect(self, tls: TlsStream) -> None:
        """Do the TLS handshake and use TLS from then on. Raises also ssl.SSLError; the peer gets an alert."""
        is_done = tls.continue_handshake(b"")
        while not is_done:
            await self._send_raw(tls.to_send())
            try:
                is_done = tls.continue_handshake(await self._receive_raw())
            except OSError:
                await self._send_raw(tls.to_send())
                raise
        await self._send_raw(tls.to_send())
        self.tls = self._unsent = tls

    async def send(self, data: bytes) -> None:
        unsent = self._unsent
        unsent.parts.append(data)
        unsent.send()
        while unsent.parts:
            await self._ready(self._loop.add_writer, self._loop.remove_writer)
            unsent.send()

    async def receive(self, size: int) -> bytearray:
        received = bytearray()
        while len(received) < size:
            # As it comes: what is announced costs nothing.
            piece = memoryview(bytearray(min(size - len(received), _PIECE_BYTES)))
            try:
                count = (self.tls or self.sock).recv_into(piece)
            except (BlockingIOError, InterruptedError):
                await self._ready(self._loop.add_reader, self._loop.remove_reader)
                continue
            if not count:
                raise EOFError("the connection was closed")
            received += piece[:count]
        return received

    def close(self) -> None:
        """Close the connection and fail pending requests. Idempotent."""
        if not self._is_open:
            return
        self._is_open = False
        if self._waiting is not None:
            # Also of who is woken already: the loop would take the next socket of this number for the one it watches.
            self._loop.remove_reader(self.sock.fileno())
            self._loop.remove_writer(self.sock.fileno())
            if not self._waiting.done():
                self._waiting.set_exception(ConnectionAbortedError("the connection was closed"))
        (self.tls or self.sock).close()

    async def _send_raw(self, data: bytes) -> None:
        if data:
            await self._loop.sock_sendall(self.sock, data)

    async def _receive_raw(self) -> bytes:
        received = await self._loop.sock_recv(self.sock, _PIECE_BYTES)
        if not received:
            raise EOFError("the connection was closed within the TLS handshake")
        return received

    async def _ready(self, add: Callable[..., object], remove: Callable[[int], object]) -> None:
        if not self._is_open:
            raise ConnectionAbortedError("the connection was closed")
        waiting = self._waiting = self._loop.create_future()
        fd = self.sock.fileno()
        add(fd, _wake, waiting)
        try:
            await waiting
        finally:
            self._waiting = None
            if self._is_open:
                remove(fd)


def _wake(waiting: "asyncio.Future[None]") -> None:
    if not waiting.done():
        waiting.set_result(None)
