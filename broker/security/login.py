"""The client's part of a login as Kafka has it on the wire: which requests to send, and what is made of the answers."""

from collections.abc import Generator
from typing import Any

from broker.common.errors import ErrorCode
from broker.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from broker.protocol.messages.sasl_handshake import SaslHandshakeRequest
from broker.protocol.schema import Message
from broker.security.scram import MECHANISM, AuthenticationError, ClientExchange

#: By API, see `messages`.
HANDSHAKE_VERSION = 1
AUTHENTICATE_VERSION = 2

#: Whoever drives it sends each request's own response.
Login = Generator[tuple[Message, int], Any, None]


def login(exchange: ClientExchange) -> Login:
    """Yields each request with its version, wants its response, and ends when both sides have proved themselves.

    Raises AuthenticationError.
    """
    answer = yield SaslHandshakeRequest(mechanism=MECHANISM), HANDSHAKE_VERSION
    if answer.error_code:
        raise AuthenticationError(f"the broker refuses {MECHANISM}: {_name(answer.error_code)}")
    server_first = yield from _say(exchange.first())
    server_final = yield from _say(exchange.final(server_first))
    exchange.verify(server_final)


def _say(token: bytes) -> Generator[tuple[Message, int], Any, bytes]:
    answer = yield SaslAuthenticateRequest(auth_bytes=token), AUTHENTICATE_VERSION
    if answer.error_code:
        raise AuthenticationError(answer.error_message or _name(answer.error_code))
    return bytes(answer.auth_bytes)


def _name(code: int) -> str:
    try:
        return ErrorCode(code).name
    except ValueError:
        return f"error {code}"
