"""Logins as they happen on connections: whose turn it is, how long it may take, what a failure costs, when it ends.

What is right and wrong is decided in `broker.security.sasl`. A connection of a listener with SASL begins with
`SaslLogin.on_frame`, and when it has logged in that is replaced by the dispatcher's: who is served pays nothing for it.
A login that ends is a timer, which replaces it once more.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, NamedTuple

from broker.common.clock import Clock
from broker.common.errors import ErrorCode, ProtocolError
from broker.common.logs import logger
from broker.common.security_limits import LOGIN_S_MAX
from broker.net.connection import Connection
from broker.net.listener import OnFrame
from broker.net.memory import ConnectionMemory
from broker.net.slot import Parts, Slot
from broker.protocol.api_keys import ApiKey
from broker.protocol.headers import decode_request_header
from broker.protocol.messages.sasl_handshake import SaslHandshakeResponse
from broker.security.rights import UNLIMITED, Rights
from broker.security.sasl.phases import (
    AsAlways,
    Earlier,
    ListenerOffer,
    LoginFailure,
    Phases,
    SaslChallenge,
    Step,
    Success,
    Wait,
)
from broker.security.sasl.server import AuthenticationError
from broker.security.session import Session
from broker.server.waiting_room import WaitingRoom

_log = logger(__name__)

#: A login may be done again so soon after another was (KIP-368).
_AGAIN_AFTER_MS = 1_000

#: `(principal, host)` → what that one may do.
RightsOf = Callable[[str, str], Rights]


@dataclass(frozen=True, slots=True)
class LoginSettings:
    """The login settings of one listener."""

    offer: ListenerOffer
    #: Whether clients have to log in. If not, members of the cluster may all the same.
    is_required: bool
    frame_bytes_max: int
    failure_delay_ms: int


class ConnectionBounds(NamedTuple):
    """What counts for a connection once it has logged in."""

    frame_bytes_max: int
    memory: ConnectionMemory


class ListenerLogins:
    """Begins a login on each connection of one listener."""

    def __init__(
        self,
        settings: LoginSettings,
        room: WaitingRoom,
        served_within: ConnectionBounds,
        rights_of: RightsOf,
        clock: Clock,
    ):
        self.settings = settings
        self.room = room
        self.served_within = served_within
        self.rights_of = rights_of
        self.clock = clock
        self._waits: set[asyncio.Task[None]] = set()

    def begin(self, connection: Connection, serve: OnFrame) -> None:
        """Begin a login; `serve` handles the frames of a client that is logged in."""
        login = SaslLogin(self, connection, serve)
        session_of(connection).door = login
        if self.settings.is_required:
            login.require()

    def wait(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._waits.add(task)
        task.add_done_callback(self._waits.discard)


class SaslLogin:
    """SASL login of one connection, for as long as it lives."""

    __slots__ = (
        "_again_at_ms",
        "_connection",
        "_deadline",
        "_earlier",
        "_expiry",
        "_logins",
        "_phases",
        "_serve",
        "is_for_clients",
    )

    def __init__(self, logins: ListenerLogins, connection: Connection, serve: OnFrame):
        self._logins = logins
        self._connection = connection
        self._serve = serve
        self.is_for_clients = logins.settings.is_required
        #: From the beginning of a login on; most members' connections and all of strangers never have one.
        self._phases: Phases
        self._earlier: Earlier | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._expiry: asyncio.TimerHandle | None = None
        #: Before, a login that is done again is refused.
        self._again_at_ms = 0

    # -- beginnings

    def require(self) -> None:
        logins = self._logins
        logins.room.enter(self._connection)
        self._begin(logins.room.memory)

    def on_handshake(self, mechanism: str, version: int, client_id: str) -> tuple[SaslHandshakeResponse, str]:
        """Handle a handshake on a serving connection: a reauthentication, or a cluster member's login."""
        now_ms = self._logins.clock.monotonic_ms()
        is_again = self._earlier is not None and self._expiry is not None
        if (self._earlier is not None and not is_again) or (is_again and now_ms < self._again_at_ms):
            return SaslHandshakeResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE), ""
        self._again_at_ms = now_ms + _AGAIN_AFTER_MS
        self._begin(self._logins.served_within.memory)
        answer, failure = self._phases.on_handshake(mechanism, version, client_id)
        if failure is not None:
            self._logins.room.note_failure(self._connection, failure.reason, is_again=is_again)
            self.close()
        return answer, failure.reason if failure else ""

    def _begin(self, memory: ConnectionMemory) -> None:
        self._connection.serve_within(self._logins.settings.frame_bytes_max, memory)
        self._phases = Phases(self._logins.settings.offer, self._earlier)
        self._connection.on_frame = self.on_frame
        self._deadline = asyncio.get_running_loop().call_later(LOGIN_S_MAX, self._is_late)

    # -- what comes

    def on_frame(self, connection: Connection, frame: memoryview) -> None:
        step = self._phases.on_frame(frame, self._logins.clock.now_ms())
        if isinstance(step, AsAlways):
            self._serve(connection, frame)
        else:
            self._take(step, None)

    def _take(self, step: Step, slot: Slot | None) -> None:
        """Process a step. `slot` is the place of the answer, None while its request is being handled."""
        match step:
            case SaslChallenge(parts):
                self._send(parts, slot)
            case Success():
                self._send(step.answer, slot)
                self._succeed(step)
            case LoginFailure():
                self._fail(step, slot)
            case Wait():
                self._logins.wait(self._wait(step, self._connection.reserve(), self._hold()))

    def _send(self, parts: Parts, slot: Slot | None) -> None:
        if slot is None:
            self._connection.answer(parts)
        else:
            self._connection.fill(slot, parts)

    def _hold(self) -> asyncio.Future[None]:
        """Hold back other requests of the connection until the future is done."""
        is_over = asyncio.get_running_loop().create_future()
        self._connection.hold_until(is_over)
        return is_over

    async def _wait(self, wait: Wait, slot: Slot, is_over: asyncio.Future[None]) -> None:
        try:
            step = wait.then(await wait.reply, self._logins.clock.now_ms())
        except AuthenticationError as error:
            step = wait.fail(error)
        except Exception as error:
            _log.exception("login failed by a fault of ours", peer=self._connection.peer)
            step = wait.fail(AuthenticationError(f"internal error: {type(error).__name__}"))
        if self._connection.is_open:
            self._take(step, slot)
        is_over.set_result(None)

    # -- ends

    def _succeed(self, success: Success) -> None:
        logins, connection, session = self._logins, self._connection, session_of(self._connection)
        logged_in = success.logged_in
        session.principal, session.is_member = logged_in.principal, logged_in.is_member
        session.is_by_token = logged_in.is_by_token
        session.rights = UNLIMITED if logged_in.is_member else logins.rights_of(session.principal, session.host)
        logins.room.note_success()
        self._earlier = Earlier(success.mechanism, logged_in.principal)
        self.close()
        if success.lifetime_ms is not None:
            loop = asyncio.get_running_loop()
            self._expiry = loop.call_later(success.lifetime_ms / 1000, self._expire)
        connection.serve_within(logins.served_within.frame_bytes_max, logins.served_within.memory)
        connection.on_frame = self._serve
        if success.lifetime_ms == 0:  # before what came along with the login is looked at
            self._expire()

    def _fail(self, failure: LoginFailure, slot: Slot | None) -> None:
        connection, room = self._connection, self._logins.room
        room.note_failure(connection, failure.reason, is_again=self._earlier is not None)
        connection.on_frame = _ignore
        if not failure.is_delayed:
            connection.close_when_answered("")
            return
        self._hold()
        delay_ms = room.delay_ms(connection, self._logins.settings.failure_delay_ms)
        loop, answer_at = asyncio.get_running_loop(), slot or connection.reserve()
        loop.call_later(delay_ms / 1000, self._end, answer_at, failure.answer)

    def _end(self, slot: Slot, answer: Parts) -> None:
        if self._connection.is_open:
            self._connection.fill(slot, answer)
            self._connection.close_when_answered("")

    def _is_late(self) -> None:
        self._logins.room.note_failure(self._connection, f"not logged in within {LOGIN_S_MAX:g} s")
        self._connection.close()

    def _expire(self) -> None:
        if self._connection.on_frame == self._serve:
            self._connection.on_frame = self._on_frame_after_the_end

    def _on_frame_after_the_end(self, connection: Connection, frame: memoryview) -> None:
        """Close the connection of a client that did not log in again before its session ended."""
        try:
            is_handshake = decode_request_header(frame)[0].api_key == ApiKey.SASL_HANDSHAKE
        except ProtocolError:
            is_handshake = False
        if is_handshake:
            self._serve(connection, frame)
        else:
            self._logins.room.note_expired()
            connection.close_when_answered("")

    def close(self) -> None:
        """End the login, whether it is complete or the connection closed."""
        self._logins.room.leave(self._connection)
        for timer in (self._deadline, self._expiry):
            if timer is not None:
                timer.cancel()
        self._deadline = self._expiry = None


def end_login(connection: Connection) -> None:
    """End the connection's login, and break their reference cycle: thousands that end at once need no garbage
    collection.
    """
    session = connection.session
    if session is not None and session.door is not None:
        session.door.close()
        session.door = None


def session_of(connection: Connection) -> Session:
    if connection.session is None:
        raise ValueError("a connection of our own making logs in by itself")
    return connection.session


def _ignore(_connection: Connection, _frame: memoryview) -> None:
    """Ignore frames sent after a failure."""
