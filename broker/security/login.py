"""The client's part of a login as Kafka has it on the wire: which requests to send, and what is made of the answers."""

from collections.abc import Generator
from typing import Any

from broker.common.errors import ErrorCode
from broker.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from broker.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from broker.protocol.schema import Message, Request
from broker.security.scram import AuthenticationError, ClientExchange

#: By API, see `messages`.
HANDSHAKE_VERSION = 1
AUTHENTICATE_VERSION = 2

#: Whoever drives it sends each request's own response. What it returns is how long the login counts, in ms; 0: for
#: as long as the connection lives.
Login = Generator[tuple[Request[Message], int], Any, int]
#: A mechanism's own part: yields what the broker is told, is sent what it answers, and ends when that is enough.
Tokens = Generator[bytes, bytes, None]


def login(exchange: ClientExchange) -> Login:
    """Log in by SCRAM until both sides have authenticated. Raises AuthenticationError."""
    return authenticate(exchange.mechanism, scram_tokens(exchange))


def scram_tokens(exchange: ClientExchange) -> Tokens:
    server_first = yield exchange.first()
    server_final = yield exchange.final(server_first)
    exchange.verify(server_final)


def authenticate(mechanism: str, tokens: Tokens) -> Login:
    """Yields each request with its version and wants its response. Raises AuthenticationError."""
    answer = yield SaslHandshakeRequest(mechanism=mechanism), HANDSHAKE_VERSION
    if answer.error_code:
        raise AuthenticationError(f"the broker refuses {mechanism}: {_refusal(answer)}")
    token = next(tokens)
    while True:
        answer = yield SaslAuthenticateRequest(auth_bytes=token), AUTHENTICATE_VERSION
        if answer.error_code:
            raise AuthenticationError(answer.error_message or _name(answer.error_code))
        try:
            token = tokens.send(bytes(answer.auth_bytes))
        except StopIteration:
            return int(answer.session_lifetime_ms)


def _refusal(answer: SaslHandshakeResponse) -> str:
    """Return the refusal with the mechanisms that would be accepted."""
    enabled = ", ".join(answer.mechanisms)
    return f"{_name(answer.error_code)}; it takes {enabled}" if enabled else _name(answer.error_code)


def _name(code: int) -> str:
    try:
        return ErrorCode(code).name
    except ValueError:
        return f"error {code}"
