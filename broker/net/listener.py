"""A listening socket: accepts clients, counts them, closes the idle ones.

A descriptor that cannot be had (EMFILE) pauses accepting for a moment instead of spinning; a client beyond a limit is
closed at once, and the log says so, once in a while with how many there were.
"""

import asyncio
import errno
import socket
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Protocol

from broker.common.hosts import ipv4_if_mapped
from broker.common.limits import (
    CONNECTIONS_MAX,
    CREATION_PAUSE_S_MAX,
    IDLE_LOOKS_MAX,
    REFUSALS_LOGGED_EVERY_S,
    SILENT_CONNECTION_S,
)
from broker.common.logs import logger
from broker.common.security_limits import DELAYED_CONNECTIONS_MAX
from broker.config.listeners import ListenerEndpoint
from broker.net.binding import SocketBuffers, bind, cannot_listen
from broker.net.connection import Connection
from broker.net.connection_quotas import ConnectionLimits, ConnectionQuotas
from broker.net.creation_rate import CreationRate
from broker.net.memory import ConnectionMemory
from broker.net.turns import Turns
from broker.security.session import Session

_log = logger(__name__)
_ACCEPTS_PER_WAKE_UP = 128
_PAUSE_WITHOUT_DESCRIPTORS_S = 0.5
_BACKLOG = 1024
_BEAT_S = 1.0


OnFrame = Callable[[Connection, memoryview], None]
#: Of who has just connected: by the address, and the name of the listener.
NewSession = Callable[[str, str], Session]


class ListenerTls(Protocol):
    """TLS of one listener."""

    def protect(self, connection: Connection) -> None:
        """Protect an accepted connection of which nothing was read: all it reads and sends goes through TLS."""


class ListenerLogin(Protocol):
    """The login of a listener that authenticates clients."""

    def begin(self, connection: Connection, serve: OnFrame) -> None:
        """Begin a login on an accepted connection: its frames go to `on_frame`, and to `serve` when the login is
        done.
        """


class Listener:
    """Binds on construction (StartupError with one sentence if it cannot), serves from `start` until `stop`."""

    def __init__(
        self,
        endpoint: ListenerEndpoint,
        *,
        frame_bytes_max: int,
        quotas: ConnectionQuotas | None = None,
        connections_max: int = CONNECTIONS_MAX,
        idle_ms_max: int,
        memory: ConnectionMemory,
        turns: Turns | None = None,
        buffers: SocketBuffers = SocketBuffers(),
        is_ipv6_only: bool = False,
        new_session: NewSession = Session,
        tls: ListenerTls | None = None,
        login: ListenerLogin | None = None,
    ):
        """`memory`, `turns` and `quotas` are shared by all listeners of a broker."""
        #: May be given until `start`.
        self.new_session = new_session
        self.tls = tls
        self.login = login
        self.name = endpoint.listener
        self.endpoint = endpoint
        self._sock = bind(endpoint, buffers, is_ipv6_only=is_ipv6_only)
        self.host, self.port = self._sock.getsockname()[:2]
        self._frame_bytes_max = frame_bytes_max
        self._quotas = quotas or ConnectionQuotas(ConnectionLimits(connections_max))
        self._quotas.add_listener(self)
        #: May be replaced at any time; who is connected stays.
        self.connections_max = connections_max
        self.creation_rate = CreationRate()
        self._idle_s_max = idle_ms_max / 1000
        self._progress_counts: dict[Connection, int] = {}
        #: When each came that, as far as we have looked, never sent a whole request; the oldest first.
        self._silent: dict[Connection, float] = {}
        #: Who made progress least recently comes first, as far as we have looked.
        self._used: OrderedDict[Connection, int] = OrderedDict()
        #: Closed in a while, because others of their address came too often.
        self._delayed: set[socket.socket] = set()
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
        on_frame: OnFrame,
        on_closed: Callable[[Connection], None],
    ) -> None:
        """StartupError if another process, bound at the same moment, was first to listen."""
        self._loop, self._on_frame, self._on_connection_closed = loop, on_frame, on_closed
        try:
            self._sock.listen(_BACKLOG)
        except OSError as error:
            raise cannot_listen(self.endpoint, error) from None
        loop.add_reader(self._sock.fileno(), self._accept_all)
        self._sweep_timer = loop.call_later(self._idle_s_max, self._close_idle)
        self._beat()

    def stop(self, reason: str = "broker is stopping") -> None:
        """Accept no more, close every connection and give the port back. Twice is fine."""
        if self._sweep_timer and self._beat_timer:
            self._sweep_timer.cancel()
            self._beat_timer.cancel()
            self._loop.remove_reader(self._sock.fileno())
            self._sweep_timer = self._beat_timer = None
        self._quotas.remove_listener(self)
        self._sock.close()
        for sock in list(self._delayed):
            self._close_delayed(sock)
        for connection in list(self._progress_counts):
            connection.close(reason)

    def _accept_all(self) -> None:
        for _ in range(_ACCEPTS_PER_WAKE_UP):
            wait_s = self._quotas.wait_s(self, self._loop.time())
            if wait_s:
                self._pause_accepting(min(wait_s, CREATION_PAUSE_S_MAX))
                return
            try:
                sock, address = self._sock.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                self._pause_for_want_of(error)
                return
            self._quotas.accepted(self)
            self._admit(sock, ipv4_if_mapped(address[0]))

    def _admit(self, sock: socket.socket, address: str) -> None:
        rates = self._quotas.address_rates
        delay_s = rates.delay_s(address) if rates is not None else 0.0
        if delay_s:
            self._close_later(sock, delay_s)
            return
        limit = self._quotas.limit_reached(self, address)
        if limit:
            sock.close()
            self._refused[limit] += 1
            self._log_refusals(address)
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
        connection.peer_host = address
        connection.session = self.new_session(address, self.name)
        self._progress_counts[connection] = self._used[connection] = 0
        self._silent[connection] = self._loop.time()
        self._quotas.admitted(address)
        if self.tls is not None:
            self.tls.protect(connection)
        if self.login is not None:
            self.login.begin(connection, self._on_frame)

    def _close_later(self, sock: socket.socket, delay_s: float) -> None:
        if len(self._delayed) >= DELAYED_CONNECTIONS_MAX:
            sock.close()
            return
        self._delayed.add(sock)
        self._loop.call_later(delay_s, self._close_delayed, sock)

    def _close_delayed(self, sock: socket.socket) -> None:
        self._delayed.discard(sock)
        sock.close()

    def close_a_silent_one(self) -> bool:
        """Make room, if somebody has been here for a while and never asked anything."""
        latest = self._loop.time() - SILENT_CONNECTION_S
        while self._silent:
            connection, came_at = next(iter(self._silent.items()))
            if came_at > latest:
                return False
            del self._silent[connection]
            if connection.is_open and not connection.progress_count:
                connection.close("sent no request, and other clients wait for its place")
                return True
        return False

    def close_least_recently_used(self) -> bool:
        """Close the least recently used connection; False if there is none.

        Second chance: who made progress since the last look stays, for now.
        """
        for looks in range(min(len(self._used), IDLE_LOOKS_MAX)):
            connection, count = next(iter(self._used.items()))
            if connection.progress_count == count or looks == IDLE_LOOKS_MAX - 1:
                break
            self._used[connection] = connection.progress_count
            self._used.move_to_end(connection)
        if not self._used:
            return False
        next(iter(self._used)).close("used less recently than others, and a broker needs its place (max.connections)")
        return True

    def _log_refusals(self, last_address: str = "") -> None:
        """Log the first refused connection at once, then the sum of further ones, at intervals."""
        now = self._loop.time()
        if self._refused and now - self._refusals_logged_at >= REFUSALS_LOGGED_EVERY_S:
            for limit, count in self._refused.items():
                _log.warning(
                    "connections refused",
                    limit_reached=limit,
                    listener=self.name,
                    count=count,
                    last_address=last_address,
                )
            self._refused.clear()
            self._refusals_logged_at = now

    def _pause_for_want_of(self, error: OSError) -> None:
        if error.errno not in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
            raise error
        _log.error("cannot accept connections", reason=error.strerror, raise_limit="ulimit -n")
        self._pause_accepting(_PAUSE_WITHOUT_DESCRIPTORS_S)

    def _pause_accepting(self, pause_s: float) -> None:
        fd = self._sock.fileno()
        self._loop.remove_reader(fd)
        self._loop.call_later(
            pause_s,
            lambda: self._sock.fileno() >= 0 and self._loop.add_reader(fd, self._accept_all),
        )

    def _forget(self, connection: Connection, reason: str) -> None:
        self._progress_counts.pop(connection, None)
        self._silent.pop(connection, None)
        self._used.pop(connection, None)
        self._quotas.lost(connection.peer_host)
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
