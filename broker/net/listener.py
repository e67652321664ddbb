"""A listening socket: accepts clients, counts them, closes the idle ones.

A descriptor that cannot be had (EMFILE) pauses accepting for a moment instead of spinning; a client beyond the limit is
closed at once and said so in the log.
"""

import asyncio
import errno
import socket
from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from broker.common.errors import StartupError
from broker.common.limits import CONNECTIONS_MAX
from broker.common.logs import logger
from broker.config.broker import Endpoint
from broker.net.connection import Connection

_log = logger(__name__)
_ACCEPTS_PER_WAKE_UP = 128
_PAUSE_WITHOUT_DESCRIPTORS_S = 0.5
_BACKLOG = 1024


class ConnectionLimits(NamedTuple):
    """How many connections there may be at a time: in all, from one address, from single addresses that are named."""

    total: int
    per_address: int = 2**31 - 1
    of_address: Mapping[str, int] = MappingProxyType({})


class Listener:
    """Binds on construction (StartupError with one sentence if it cannot), serves from `start` until `stop`."""

    def __init__(
        self,
        endpoint: Endpoint,
        on_frame: Callable[[Connection, memoryview], None],
        on_closed: Callable[[Connection], None],
        *,
        frame_bytes_max: int,
        connections_max: int = CONNECTIONS_MAX,
        idle_ms_max: int,
    ):
        self.name = endpoint.listener
        self._endpoint = endpoint
        self._sock = _bind(endpoint)
        self.host, self.port = self._sock.getsockname()[:2]
        self._on_frame = on_frame
        self._on_connection_closed = on_closed
        self._frame_bytes_max = frame_bytes_max
        #: May be replaced at any time; who is connected stays.
        self.limits = ConnectionLimits(connections_max)
        self._idle_s_max = idle_ms_max / 1000
        self._read_counts: dict[Connection, int] = {}
        self._connections_of: Counter[str] = Counter()
        self._sweep_timer: asyncio.TimerHandle | None = None

    @property
    def connection_count(self) -> int:
        return len(self._read_counts)

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """StartupError if another process, bound at the same moment, was first to listen."""
        self._loop = loop
        try:
            self._sock.listen(_BACKLOG)
        except OSError as error:
            raise _cannot_listen(self._endpoint, error) from None
        loop.add_reader(self._sock.fileno(), self._accept_all)
        self._sweep_timer = loop.call_later(self._idle_s_max, self._close_idle)

    def stop(self) -> None:
        """Accept no more and close every connection."""
        if self._sweep_timer:
            self._sweep_timer.cancel()
            self._loop.remove_reader(self._sock.fileno())
        self._sock.close()
        for connection in list(self._read_counts):
            connection.close("broker is stopping")

    def _accept_all(self) -> None:
        for _ in range(_ACCEPTS_PER_WAKE_UP):
            try:
                sock, address = self._sock.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                self._pause_accepting(error)
                return
            self._admit(sock, address)

    def _admit(self, sock: socket.socket, address: tuple) -> None:
        reason = self._refusal(address[0])
        if reason:
            sock.close()
            _log.warning("connection refused", peer=f"{address[0]}:{address[1]}", reason=reason)
            return
        try:
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = Connection(self._loop, sock, self._on_frame, self._forget, self._frame_bytes_max)
        except OSError:  # the peer was gone before we could ask for its name
            sock.close()
            return
        self._read_counts[connection] = 0
        self._connections_of[connection.peer_host] += 1

    def _refusal(self, address: str) -> str:
        total, per_address, of_address = self.limits
        if len(self._read_counts) >= total:
            return "max.connections reached"
        if self._connections_of[address] >= of_address.get(address, per_address):
            return "max.connections.per.ip reached"
        return ""

    def _pause_accepting(self, error: OSError) -> None:
        if error.errno not in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
            raise error
        _log.error("cannot accept connections", reason=error.strerror, raise_limit="ulimit -n")
        fd = self._sock.fileno()
        self._loop.remove_reader(fd)
        self._loop.call_later(
            _PAUSE_WITHOUT_DESCRIPTORS_S,
            lambda: self._sock.fileno() >= 0 and self._loop.add_reader(fd, self._accept_all),
        )

    def _forget(self, connection: Connection, reason: str) -> None:
        self._read_counts.pop(connection, None)
        self._connections_of[connection.peer_host] -= 1
        if not self._connections_of[connection.peer_host]:
            del self._connections_of[connection.peer_host]
        if reason:
            _log.info("connection closed", peer=connection.peer, reason=reason)
        self._on_connection_closed(connection)

    def _close_idle(self) -> None:
        """Close who has sent nothing for a whole period and waits for nothing."""
        for connection, count in list(self._read_counts.items()):
            if connection.read_count == count and not connection.in_flight:
                connection.close("idle for longer than connections.max.idle.ms")
            else:
                self._read_counts[connection] = connection.read_count
        self._sweep_timer = self._loop.call_later(self._idle_s_max, self._close_idle)


def _bind(endpoint: Endpoint) -> socket.socket:
    family = socket.AF_INET6 if ":" in endpoint.host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setblocking(False)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((endpoint.host, endpoint.port))
    except (OSError, OverflowError) as error:
        sock.close()
        raise _cannot_listen(endpoint, error) from None
    return sock


def _cannot_listen(endpoint: Endpoint, error: Exception) -> StartupError:
    reason = getattr(error, "strerror", None) or str(error)
    return StartupError(f"cannot listen on {endpoint}: {reason}; choose another port in listeners")
