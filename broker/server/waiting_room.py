"""Connections that have not logged in: how many there may be, what they may hold, what the log says of them.

They are nobody's yet, so together they must not take what those that have logged in need: descriptors, memory, lines.
"""

from broker.common.clock import Clock
from broker.common.hosts import counted_address
from broker.common.limits import REFUSALS_LOGGED_EVERY_S, UNADMITTED_CONNECTIONS_MAX, UNADMITTED_REQUEST_BYTES_MAX
from broker.common.logs import logger
from broker.net.connection import Connection
from broker.net.memory import ConnectionMemory
from broker.security.sasl.failures import FailedLogins

_log = logger(__name__)

#: Lines about single failures in each interval; then there is one with how many more there were.
_LINES_MAX = 20


class WaitingRoom:
    """One for all listeners of a broker."""

    def __init__(self, clock: Clock, connections_max: int = UNADMITTED_CONNECTIONS_MAX):
        self._clock = clock
        self._connections_max = connections_max
        self.memory = ConnectionMemory(UNADMITTED_REQUEST_BYTES_MAX)
        #: By the address that is counted (`counted_address`), each in the order they came.
        self._waiting: dict[str, dict[Connection, None]] = {}
        self.count = 0
        self._failures = FailedLogins()
        self._lines = 0
        self._untold = 0
        self._interval_ends_ms = 0
        self.succeeded = self.failed = self.expired = 0

    def enter(self, connection: Connection) -> None:
        """Admit the connection; if the room is full, the oldest of the address with the most leaves."""
        self._waiting.setdefault(counted_address(connection.peer_host), {})[connection] = None
        self.count += 1
        if self.count > self._connections_max:
            crowd = max(self._waiting.values(), key=len)
            oldest = next(iter(crowd))
            self.note_failure(oldest, "not logged in, and others wait for its place")
            oldest.close()

    def leave(self, connection: Connection) -> None:
        """Idempotent: a second call does nothing."""
        address = counted_address(connection.peer_host)
        crowd = self._waiting.get(address, {})
        if connection not in crowd:
            return
        del crowd[connection]
        self.count -= 1
        if not crowd:
            del self._waiting[address]

    def delay_ms(self, connection: Connection, least_ms: int) -> int:
        return self._failures.delay_ms(connection.peer_host, least_ms, self._clock.monotonic_ms())

    def note_success(self) -> None:
        self.succeeded += 1

    def note_expired(self) -> None:
        self.expired += 1

    def note_failure(self, connection: Connection, reason: str, *, is_again: bool = False) -> None:
        """Log the failure in Kafka's words, with the reason."""
        self.failed += 1
        now_ms = self._clock.monotonic_ms()
        if now_ms >= self._interval_ends_ms:
            self._log_suppressed()
            self._lines, self._interval_ends_ms = 0, now_ms + int(1000 * REFUSALS_LOGGED_EVERY_S)
        if self._lines >= _LINES_MAX:
            self._untold += 1
            return
        self._lines += 1
        event = "Failed re-authentication" if is_again else "Failed authentication"
        listener = connection.session.listener if connection.session else ""
        _log.info(event, peer=connection.peer, listener=listener, reason=reason)

    def _log_suppressed(self) -> None:
        if self._untold:
            _log.info("Failed authentication", more=self._untold, since_s=REFUSALS_LOGGED_EVERY_S)
        self._untold = 0
