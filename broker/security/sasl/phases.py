"""The phases of a login on the wire (KIP-43, KIP-152, KIP-368), a pure machine: frames in, what is to be done out.

    FIRST ── ApiVersions ──► ASKED ── SaslHandshake ──► TOKENS (1) or BARE_TOKENS (0) ── … ──► OVER

ApiVersions is answered once; a refusal of it (a version that is not known, a name that is none) leaves the phase as it
is. After a SaslHandshake of version 0 a frame is a token and nothing else; after version 1 tokens come in
SaslAuthenticate. A frame out of order ends the login: of another API with that API's own answer, if it has a place for
an error and a login by SaslAuthenticate is under way, else without a word (SaslServerAuthenticator.java).
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from typing import Any, NamedTuple

from broker.common.errors import ErrorCode, ProtocolError
from broker.protocol.api_keys import ApiKey
from broker.protocol.codec import MALFORMED, decoder_of
from broker.protocol.framing import SIZE_BYTES
from broker.protocol.headers import RequestHeader, decode_request_header
from broker.protocol.messages import MESSAGES
from broker.protocol.messages.api_versions import ApiVersionsRequest, names_its_software
from broker.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from broker.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from broker.protocol.primitives import Buffer
from broker.protocol.response_frame import response_framer
from broker.protocol.schema import Message
from broker.security.membership import MEMBER
from broker.security.sasl.server import AuthenticationError, LoggedIn, Mechanisms, Reply, SaslServer

Parts = Sequence[Buffer]


def session_lifetime_ms(expires_ms: int | None, reauth_ms: int, now_ms: int) -> int | None:
    """Return the session lifetime sent to the client; None for unlimited, 0 for an expired credential (KAFKA-13848)."""
    ends = [reauth_ms] if reauth_ms > 0 else []
    if expires_ms is not None:
        ends.append(max(0, expires_ms - now_ms))
    return min(ends, default=None)


class LoginPhase(Enum):
    FIRST = auto()
    ASKED = auto()
    TOKENS = auto()
    BARE_TOKENS = auto()
    #: Nothing more is taken: it has succeeded or failed.
    OVER = auto()


class LoginFailure(NamedTuple):
    """The login, and with it the connection, has ended; `answer` is what the client is told, perhaps nothing."""

    reason: str
    answer: Parts = ()
    #: Somebody tried to log in and could not: answer and end come after a delay. Else the end comes at once.
    is_delayed: bool = True


class Success(NamedTuple):
    logged_in: LoggedIn
    mechanism: str
    answer: Parts
    #: From now on; None for a session without an end. It has one, too, if 0 is what the client is told.
    lifetime_ms: int | None


class SaslChallenge(NamedTuple):
    """Sends a challenge and waits for the next frame."""

    parts: Parts


class AsAlways(NamedTuple):
    """The request is open to every client: it is answered as after a login."""


class Wait(NamedTuple):
    """`then(reply)`, or `fail(error)`, makes a step of what comes of it."""

    reply: Awaitable[Reply]
    then: Callable[[Reply, int], "Step"]
    fail: Callable[[AuthenticationError], "Step"]


Step = SaslChallenge | AsAlways | Success | LoginFailure | Wait


@dataclass(frozen=True, slots=True)
class ListenerOffer:
    """What one listener takes."""

    mechanisms: Mechanisms
    #: Told to clients. `mechanisms` may have what members of the cluster alone are to know of.
    enabled: tuple[str, ...]
    #: Mechanism → connections.max.reauth.ms; nothing for those that have none.
    reauth_ms: dict[str, int]
    #: `(mechanism, client id)` → whether a mechanism that is not enabled may be tried.
    admits_unlisted: Callable[[str, str | None], bool]

    def serves(self, mechanism: str, client_id: str | None) -> bool:
        return mechanism in self.mechanisms and (
            mechanism in self.enabled or self.admits_unlisted(mechanism, client_id)
        )


class Earlier(NamedTuple):
    """The login that is done again: by the same mechanism, for the same principal."""

    mechanism: str
    principal: str


class Phases:
    """One login of one connection. `now_ms` is wall-clock time."""

    def __init__(self, offer: ListenerOffer, earlier: Earlier | None = None):
        self._offer = offer
        self._earlier = earlier
        self.phase = LoginPhase.FIRST
        self.mechanism = ""
        self._server: SaslServer | None = None
        #: The mechanism of a login that is done again is another: said at the next frame, as Kafka does.
        self._refused_later = ""

    def on_frame(self, frame: memoryview, now_ms: int) -> Step:
        try:
            if self.phase is LoginPhase.BARE_TOKENS:
                return self._on_token(bytes(frame), _Bare(), now_ms)
            header, at = decode_request_header(frame)
            if self.phase is LoginPhase.TOKENS:
                return self._on_request_of_tokens(header, frame, at, now_ms)
            return self._on_first_requests(header, frame, at)
        except ProtocolError as error:
            return self._failed(str(error), is_delayed=False)

    # -- before the mechanism is agreed upon

    def _on_first_requests(self, header: RequestHeader, frame: memoryview, at: int) -> Step:
        if self.phase is LoginPhase.OVER:
            return self._failed("a request after the end of the login", is_delayed=False)
        if header.api_key == ApiKey.API_VERSIONS:
            return self._on_api_versions(header, frame, at)
        if header.api_key != ApiKey.SASL_HANDSHAKE:
            return self._failed(f"Unexpected Kafka request of type {_name(header)} during SASL handshake.")
        request = _decode(SaslHandshakeRequest, header, frame, at)
        answer, failure = self.on_handshake(request.mechanism, header.api_version, header.client_id)
        parts = _framed(answer, header)
        return failure._replace(answer=parts) if failure else SaslChallenge(parts)

    def _on_api_versions(self, header: RequestHeader, frame: memoryview, at: int) -> Step:
        if self.phase is not LoginPhase.FIRST:
            return self._failed("Unexpected ApiVersions request received during SASL authentication", is_delayed=False)
        first, last = ApiVersionsRequest.versions
        if first <= header.api_version <= last:
            request = _decode(ApiVersionsRequest, header, frame, at)
            if names_its_software(request, header.api_version):
                self.phase = LoginPhase.ASKED
        return AsAlways()

    def on_handshake(
        self, mechanism: str, version: int, client_id: str | None
    ) -> tuple[SaslHandshakeResponse, LoginFailure | None]:
        """Return the answer, and why the login has failed with it."""
        enabled = list(self._offer.enabled)
        if not self._offer.serves(mechanism, client_id):
            self.phase = LoginPhase.OVER
            refusal = SaslHandshakeResponse(error_code=ErrorCode.UNSUPPORTED_SASL_MECHANISM, mechanisms=enabled)
            return refusal, LoginFailure(f"Unsupported SASL mechanism {mechanism}")
        if self._earlier and mechanism != self._earlier.mechanism:
            self._refused_later = (
                f"SASL mechanism '{mechanism}' requested by client is not supported for re-authentication of "
                f"mechanism '{self._earlier.mechanism}'"
            )
        self.mechanism = mechanism
        self._server = self._offer.mechanisms[mechanism]()
        self.phase = LoginPhase.TOKENS if version >= 1 else LoginPhase.BARE_TOKENS
        return SaslHandshakeResponse(error_code=ErrorCode.NONE, mechanisms=enabled), None

    # -- tokens

    def _on_request_of_tokens(self, header: RequestHeader, frame: memoryview, at: int, now_ms: int) -> Step:
        if header.api_key != ApiKey.SASL_AUTHENTICATE:
            reason = f"Unexpected Kafka request of type {_name(header)} during SASL authentication."
            return self._failed(reason, _out_of_order(header))
        request = _decode(SaslAuthenticateRequest, header, frame, at)
        return self._on_token(bytes(request.auth_bytes), _Enveloped(header), now_ms)

    def _on_token(self, token: bytes, envelope: "_Envelope", now_ms: int) -> Step:
        if self._refused_later or self._server is None:
            return self._failed(self._refused_later)
        try:
            reply = self._server.respond(token)
        except AuthenticationError as error:
            return self._denied(error, envelope)
        if isinstance(reply, bytes | LoggedIn):
            return self._on_reply(reply, envelope, now_ms)
        return Wait(
            reply,
            lambda late, at_ms: self._on_reply(late, envelope, at_ms),
            lambda error: self._denied(error, envelope),
        )

    def _on_reply(self, reply: Reply, envelope: "_Envelope", now_ms: int) -> Step:
        if isinstance(reply, bytes):
            return SaslChallenge(envelope.framed(reply, 0))
        try:
            self._check_principal(reply)
        except AuthenticationError as error:
            return self._denied(error, envelope)
        self.phase = LoginPhase.OVER
        # Brokers do not log in again: the secret they know is the cluster's for as long as there is one.
        reauth_ms = 0 if reply.is_member else self._offer.reauth_ms.get(self.mechanism, 0)
        lifetime_ms = session_lifetime_ms(reply.expires_ms, reauth_ms, now_ms)
        return Success(reply, self.mechanism, envelope.framed(reply.answer, lifetime_ms or 0), lifetime_ms)

    def _check_principal(self, logged_in: LoggedIn) -> None:
        if logged_in.principal == MEMBER and not logged_in.is_member:
            raise AuthenticationError(f"{MEMBER} logs in by the cluster's secret only")
        if self._earlier and logged_in.principal != self._earlier.principal:
            refusal = "Cannot change principals during re-authentication from {}: {}".format(
                *(name.replace(":", ".", 1) for name in (self._earlier.principal, logged_in.principal))
            )
            raise AuthenticationError(refusal, client_message=refusal)

    # -- ends

    def _denied(self, error: AuthenticationError, envelope: "_Envelope") -> LoginFailure:
        reason = error.client_message or (
            f"Authentication failed during {'re-' if self._earlier else ''}authentication due to invalid credentials "
            f"with SASL mechanism {self.mechanism}"
        )
        return self._failed(str(error), envelope.refusal(reason))

    def _failed(self, reason: str, answer: Parts = (), *, is_delayed: bool = True) -> LoginFailure:
        self.phase = LoginPhase.OVER
        return LoginFailure(reason, answer, is_delayed)


class _Bare:
    """A token as it is, with its size; a failure is not sent."""

    def framed(self, token: bytes, _lifetime_ms: int) -> Parts:
        return [len(token).to_bytes(SIZE_BYTES) + token]

    def refusal(self, _reason: str) -> Parts:
        return ()


class _Enveloped:
    """A token in SaslAuthenticate."""

    def __init__(self, header: RequestHeader):
        self._header = header

    def framed(self, token: bytes, lifetime_ms: int) -> Parts:
        return _framed(SaslAuthenticateResponse(auth_bytes=token, session_lifetime_ms=lifetime_ms), self._header)

    def refusal(self, reason: str) -> Parts:
        refusal = SaslAuthenticateResponse(error_code=ErrorCode.SASL_AUTHENTICATION_FAILED, error_message=reason)
        return _framed(refusal, self._header)


_Envelope = _Bare | _Enveloped
_framer = cache(response_framer)


def _decode(message_class: type[Message], header: RequestHeader, frame: memoryview, at: int) -> Any:
    first, last = message_class.versions
    if not first <= header.api_version <= last:
        raise ProtocolError(f"Version {header.api_version} is not supported for apiKey {_name(header)}")
    try:
        return decoder_of(message_class, header.api_version, ignore_rest=True)(frame, at)
    except MALFORMED as error:
        raise ProtocolError(f"{_name(header)} request is malformed: {error}") from None


def _out_of_order(header: RequestHeader) -> Parts:
    """Return the parts of a response that refuses an API sent in place of SaslAuthenticate, if that API's response has
    a top-level error.
    """
    messages = MESSAGES.get(header.api_key)  # type: ignore[call-overload]  # a number equals its ApiKey
    if messages is None:
        return ()
    first, last = messages.request.versions
    if not first <= header.api_version <= last or not _has_error_code(messages.response, header.api_version):
        return ()
    return _framed(messages.response(error_code=ErrorCode.ILLEGAL_SASL_STATE), header)


@cache
def _has_error_code(message_class: type[Message], version: int) -> bool:
    return any(field.name == "error_code" and field.exists_in(version) for field in message_class.fields)


def _framed(message: Message, header: RequestHeader) -> Parts:
    return _framer(type(message), header.api_version)(message, header.correlation_id)


def _name(header: RequestHeader) -> str:
    return header.api_key.name if isinstance(header.api_key, ApiKey) else str(header.api_key)
