"""The TLS handshakes of one listener: between accepting a client and reading what it wants.

A handshake costs some hundred microseconds of arithmetic, a thousand times what a small request does, and anybody may
ask for one. So each step queues until others have had their turn (`turns.py`); how many are under way, how long one
may take and how much may be sent for it is bounded (`common/limits.py`); and a flood of failures is a few lines in the
log. Who its certificate says a client is, is settled here, before its first request is read.
"""

import asyncio
import ssl
from collections.abc import Callable

from broker.common.limits import REFUSALS_LOGGED_EVERY_S
from broker.common.logs import logger
from broker.common.security_limits import TLS_HANDSHAKE_BYTES_MAX, TLS_HANDSHAKE_S_MAX, TLS_HANDSHAKES_MAX
from broker.net.connection import Connection
from broker.net.tls.contexts import Contexts
from broker.net.tls.reasons import why_not
from broker.net.tls.stream import TlsStream
from broker.net.turns import Turns
from broker.security.principal_rules import NoRuleMatches
from broker.security.session import Session

_log = logger(__name__)
_PIECE_BYTES = 16 * 1024
_REASONS_MAX = 20
#: What every handshake begins with: the type of its records.
_HANDSHAKE = 0x16


class Handshakes:
    """`identify(session, certificate)` sets the principal of the session by the certificate (DER). Without it no
    certificate is requested.
    """

    def __init__(
        self,
        listener: str,
        contexts: Contexts,
        turns: Turns,
        identify: Callable[[Session, bytes], None] | None = None,
    ):
        self._listener = listener
        self._contexts = contexts
        self.turns = turns
        self.identify = identify
        #: The oldest first.
        self._under_way: dict[Handshake, None] = {}
        #: By reason, since a line said so.
        self._failed: dict[str, int] = {}
        self._log_timer: asyncio.TimerHandle | None = None

    @property
    def count(self) -> int:
        return len(self._under_way)

    def protect(self, connection: Connection) -> None:
        """Protect an accepted connection of which nothing was read: all it reads and sends goes through TLS."""
        if len(self._under_way) >= TLS_HANDSHAKES_MAX:
            next(iter(self._under_way)).fail("others wait for its place")
        self._under_way[Handshake(self, connection, self._contexts.current)] = None

    def ended(self, handshake: "Handshake") -> None:
        self._under_way.pop(handshake, None)

    def note_failure(self, peer: str, reason: str) -> None:
        """Log each reason at once, then at intervals the number of repeats."""
        if len(self._failed) >= _REASONS_MAX and reason not in self._failed:
            reason = "other reasons"
        if reason not in self._failed:
            self._log(reason, 1, peer)
            self._failed[reason] = 0
        else:
            self._failed[reason] += 1
        if self._log_timer is None:
            loop = asyncio.get_running_loop()
            self._log_timer = loop.call_later(REFUSALS_LOGGED_EVERY_S, self._log_more, peer)

    def _log_more(self, last_peer: str) -> None:
        self._log_timer = None
        for reason, count in self._failed.items():
            if count:
                self._log(reason, count, last_peer)
        self._failed.clear()

    def _log(self, reason: str, count: int, peer: str) -> None:
        _log.warning("TLS handshakes failed", listener=self._listener, reason=reason, count=count, last_peer=peer)


class Handshake:
    """Handshake of one connection, whose socket it reads until it is done."""

    __slots__ = ("_connection", "_handshakes", "_loop", "_received_bytes", "_sock", "_timer", "_tls")

    def __init__(self, handshakes: Handshakes, connection: Connection, context: ssl.SSLContext):
        self._handshakes = handshakes
        self._connection = connection
        self._sock = connection.lend_socket(self._give_up)
        self._tls = TlsStream(self._sock, context)
        self._received_bytes = 0
        self._loop = loop = asyncio.get_running_loop()
        self._timer = loop.call_later(TLS_HANDSHAKE_S_MAX, self.fail, "it took too long")
        self._listen()

    def _listen(self) -> None:
        self._loop.add_reader(self._sock.fileno(), self._on_readable)

    def _on_readable(self) -> None:
        self._loop.remove_reader(self._sock.fileno())
        self._handshakes.turns.ask(self._step)

    def _step(self) -> None:
        if not self._connection.is_open:
            return
        try:
            received = self._sock.recv(_PIECE_BYTES)
            if not self._may_go_on(received):
                return
            is_done = self._tls.continue_handshake(received)
            self._answer()
            if is_done:
                self._done()
            else:
                self._listen()
        except (BlockingIOError, InterruptedError):
            self._listen()
        except ssl.SSLError as error:
            self.fail(why_not(error))
        except OSError as error:
            self.fail(error.strerror or str(error))

    def _may_go_on(self, received: bytes) -> bool:
        if not received and not self._received_bytes:  # as a look whether the port is there
            self._connection.close()
        elif not received:
            self.fail("the client closed it")
        elif not self._received_bytes and received[0] != _HANDSHAKE:
            self.fail("the client does not speak TLS: see its security.protocol")
        elif self._received_bytes > TLS_HANDSHAKE_BYTES_MAX:
            self.fail("the client sends more than a handshake has")
        self._received_bytes += len(received)
        return self._connection.is_open

    def _answer(self) -> None:
        """Raises OSError, also when the client takes nothing of it."""
        to_send = self._tls.to_send()
        try:
            taken = self._sock.send(to_send) if to_send else 0
        except BlockingIOError:
            taken = 0
        if taken < len(to_send):
            raise OSError("the client does not read")

    def _done(self) -> None:
        certificate, identify = self._tls.peer_certificate, self._handshakes.identify
        session = self._connection.session
        if certificate and identify and session:
            try:
                identify(session, certificate)
            except (NoRuleMatches, ValueError) as error:
                self.fail(str(error))
                return
        self._end()
        self._connection.speak_through(self._tls)

    def fail(self, reason: str) -> None:
        """Tell the peer what TLS has for it, and close."""
        try:
            self._sock.send(self._tls.to_send())
            # What was received and not read would have the kernel take back what was just sent.
            self._sock.recv(_PIECE_BYTES)
        except OSError:
            pass
        self._handshakes.note_failure(self._connection.peer, reason)
        self._connection.close()

    def _give_up(self) -> None:
        self._end()
        self._tls.close()

    def _end(self) -> None:
        self._timer.cancel()
        self._handshakes.ended(self)
