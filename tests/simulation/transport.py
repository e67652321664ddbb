"""asyncio's transport over a simulated socket, for what is written against streams (the controller's connections)."""

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.simulation.loop import HostLoop
    from tests.simulation.sockets import SimulatedSocket

_READ_BYTES = 64 * 1024


class SocketTransport(asyncio.Transport):
    """Flow control is left out: what is written waits in memory until the socket takes it."""

    def __init__(self, loop: "HostLoop", sock: "SimulatedSocket", protocol: asyncio.Protocol):
        super().__init__()
        self._loop = loop
        self._sock = sock
        self._protocol = protocol
        self._unsent = bytearray()
        self._is_closing = False
        loop.call_soon(self._begin)

    def _begin(self) -> None:
        self._protocol.connection_made(self)
        if not self._is_closing:
            self._loop.add_reader(self._sock.fileno(), self._on_readable)

    def _on_readable(self) -> None:
        try:
            data = self._sock.recv(_READ_BYTES)
        except BlockingIOError:
            return
        except OSError as error:
            self._end(error)
            return
        if data:
            self._protocol.data_received(data)
        else:
            self._protocol.eof_received()
            self._end(None)

    def write(self, data) -> None:
        if self._is_closing:
            return
        self._unsent += data
        self._send()

    def _send(self) -> None:
        try:
            while self._unsent:
                del self._unsent[: self._sock.sendmsg([bytes(self._unsent)])]
            self._loop.remove_writer(self._sock.fileno())
        except BlockingIOError:
            self._loop.add_writer(self._sock.fileno(), self._send)
        except OSError as error:
            self._end(error)

    def close(self) -> None:
        self._end(None)

    abort = close

    def _end(self, error: OSError | None) -> None:
        if self._is_closing:
            return
        self._is_closing = True
        self._loop.remove_reader(self._sock.fileno())
        self._loop.remove_writer(self._sock.fileno())
        self._sock.close()
        self._loop.call_soon(self._protocol.connection_lost, error)

    def is_closing(self) -> bool:
        return self._is_closing

    def get_extra_info(self, name, default=None):
        return default

    def pause_reading(self) -> None:
        self._loop.remove_reader(self._sock.fileno())

    def resume_reading(self) -> None:
        if not self._is_closing:
            self._loop.add_reader(self._sock.fileno(), self._on_readable)
