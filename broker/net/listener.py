"""A listening socket: accepts clients, counts them, closes the idle ones.

A descriptor that cannot be had (EMFILE) pauses accepting for a moment instead of spinning; a client beyond a limit is
closed at once, and the log says so, once in a while with how many there were.
"""

import asyncio
import errno
import socket
from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from broker.common.errors import NotNowError
from broker.common.limits import CONNECTIONS_MAX, REFUSALS_LOGGED_EVERY_S, SILENT_CONNECTION_S
from broker.common.logs import logger
from broker.config.broker import Endpoint
from broker.net.connection import Connection
from broker.net.memory import ConnectionMemory
from broker.net.port_holder import port_holder
from broker.net.turns import Turns
from broker.security.session import Session

_log = logger(__name__)
_ACCEPTS_PER_WAKE_UP = 128
_PAUSE_WITHOUT_DESCRIPTORS_S = 0.5
_BACKLOG = 1024
_BEAT_S = 1.0


class ConnectionLimits(NamedTuple):
    """How many connections there may be at a time: in all, from one address, from single addresses that are named."""

    total: int
    per_address: int = 2**31 - 1
    of_address: Mapping[str, int] = MappingProxyType({})


class SocketBuffers(NamedTuple):
    """Bytes the kernel may hold for one connection; -1: as much as it sees fit, which may be megabytes.

    A client that asks and never reads costs the broker the reading of whatever the send buffer takes.
    """

    send: int = -1
    receive: int = -1


class Listener:
    """Binds on construction (StartupError with one sentence if it cannot), serves from `start` until `stop`."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        frame_bytes_max: int,
        connections_max: int = CONNECTIONS_MAX,
        idle_ms_max: int,
        memory: ConnectionMemory,
        turns: Turns | None = None,
        buffers: SocketBuffers = SocketBuffers(),
    ):
        """`memory` and `turns` are shared by all listeners of a broker."""
        self.name = endpoint.listener
        self._endpoint = endpoint
        self._sock = _bind(endpoint, buffers)
        self.host, self.port = self._sock.getsockname()[:2]
        self._frame_bytes_max = frame_bytes_max
        #: May be replaced at any time; who is connected stays.
        self.limits = ConnectionLimits(connections_max)
        self._idle_s_max = idle_ms_max / 1000
        self._progress_counts: dict[Connection, int] = {}
        #: When each came that, as far as we have looked, never sent a whole request; the oldest first.
        self._silent: dict[Connection, float] = {}
        self._connections_of: Counter[str] = Counter()
        self._memory = memory
        self._turns = turns or Turns()
        self._refused: Counter[str] = Counter()
        self._refusals_logged_at = float("-inf")
        self._sweep_timer: asyncio.TimerHandle | None = None
        self._beat_timer: asyncio.TimerHandle | None = None

    @property
    def connection_count(self) -> int:
        return len(self._progress_counts)

    def start(
        self,
        loop: asyncio.AbstractEventLoop,
        on_frame: Callable[[Connection, memoryview], None],
        on_closed: Callable[[Connection], None],
    ) -> None:
        """StartupError if another process, bound at the same moment, was first to listen."""
        self._loop, self._on_frame, self._on_connection_closed = loop, on_frame, on_closed
        try:
            self._sock.listen(_BACKLOG)
        except OSError as error:
            raise _cannot_listen(self._endpoint, error) from None
        loop.add_reader(self._sock.fileno(), self._accept_all)
        self._sweep_timer = loop.call_later(self._idle_s_max, self._close_idle)
        self._beat()

    def stop(self) -> None:
        """Accept no more, close every connection and give the port back. Twice is fine."""
        if self._sweep_timer and self._beat_timer:
            self._sweep_timer.cancel()
            self._beat_timer.cancel()
            self._loop.remove_reader(self._sock.fileno())
            self._sweep_timer = self._beat_timer = None
        self._sock.close()
        for connection in list(self._progress_counts):
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

    def _admit(self, sock: socket.socket, address: tuple[str, int]) -> None:
        limit = self._limit_reached(address[0])
        if limit:
            sock.close()
            self._refused[limit] += 1
            self._log_refusals(address[0])
            return
        try:
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = Connection(
                self._loop, sock, self._on_frame, self._forget, self._frame_bytes_max, self._memory, self._turns
            )
        except OSError:  # the peer was gone before we could ask for its name
            sock.close()
            return
        connection.session = Session(connection.peer_host, self.name)
        self._progress_counts[connection] = 0
        self._silent[connection] = self._loop.time()
        self._connections_of[connection.peer_host] += 1

    def _limit_reached(self, address: str) -> str:
        total, per_address, of_address = self.limits
        if len(self._progress_counts) >= total and not self._close_a_silent_one():
            return "max.connections"
        if self._connections_of[address] >= of_address.get(address, per_address):
            return "max.connections.per.ip"
        return ""

    def _close_a_silent_one(self) -> bool:
        """Make room, if somebody has been here for a while and never asked anything."""
        latest = self._loop.time() - SILENT_CONNECTION_S
        while self._silent:
            connection, came_at = next(iter(self._silent.items()))
            if came_at > latest:
                return False
            del self._silent[connection]
            if connection.is_open and not connection.progress_count:
                connection.close("never asked anything, and others wait for its place")
                return True
        return False

    def _log_refusals(self, last_address: str = "") -> None:
        """The first at once, then the sum of what came since, at intervals."""
        now = self._loop.time()
        if self._refused and now - self._refusals_logged_at >= REFUSALS_LOGGED_EVERY_S:
            for limit, count in self._refused.items():
                _log.warning("connections refused", limit_reached=limit, count=count, last_address=last_address)
            self._refused.clear()
            self._refusals_logged_at = now

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
        self._progress_counts.pop(connection, None)
        self._silent.pop(connection, None)
        self._connections_of[connection.peer_host] -= 1
        if not self._connections_of[connection.peer_host]:
            del self._connections_of[connection.peer_host]
        if reason:
            _log.info("connection closed", peer=connection.peer, reason=reason)
        self._on_connection_closed(connection)

    def _close_idle(self) -> None:
        """Close who made no progress for a whole period and waits for nothing."""
        self._sweep_timer = self._loop.call_later(self._idle_s_max, self._close_idle)
        for connection, count in list(self._progress_counts.items()):
            if connection.progress_count == count and not connection.in_flight:
                connection.close("idle for longer than connections.max.idle.ms")
            else:
                self._progress_counts[connection] = connection.progress_count

    def _beat(self) -> None:
        self._beat_timer = self._loop.call_later(_BEAT_S, self._beat)
        self._memory.close_stalled(self._loop.time())
        self._log_refusals()


def _bind(endpoint: Endpoint, buffers: SocketBuffers) -> socket.socket:
    """Accepted connections inherit the sizes of the buffers."""
    family = socket.AF_INET6 if ":" in endpoint.host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setblocking(False)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    for option, size in ((socket.SO_SNDBUF, buffers.send), (socket.SO_RCVBUF, buffers.receive)):
        if size >= 0:
            sock.setsockopt(socket.SOL_SOCKET, option, size)
    try:
        sock.bind((endpoint.host, endpoint.port))
    except (OSError, OverflowError) as error:
        sock.close()
        raise _cannot_listen(endpoint, error) from None
    return sock


def _cannot_listen(endpoint: Endpoint, error: Exception) -> NotNowError:
    reason = getattr(error, "strerror", None) or str(error)
    holder = port_holder(endpoint.port) if getattr(error, "errno", None) == errno.EADDRINUSE else ""
    who = f" ({holder})" if holder else ""
    return NotNowError(f"cannot listen on {endpoint}: {reason}{who}; choose another port in listeners")
