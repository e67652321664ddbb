"""Tests as members of a cluster: its secret, and the ways to log in with it."""

from itertools import count

from broker.net.dialer import Dialer
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.sasl_authenticate import SaslAuthenticateResponse
from broker.protocol.messages.sasl_handshake import SaslHandshakeResponse
from broker.protocol.schema import Message
from broker.security.membership import Membership
from broker.security.scram import ServerExchange

SECRET = bytes(range(32))
_nonces = count(10**20)


def new_nonce() -> str:
    return str(next(_nonces))


MEMBERSHIP = Membership(SECRET, new_nonce)


def dialer() -> Dialer:
    return Dialer(MEMBERSHIP)


class StrangerDialer(Dialer):
    """Of who has no secret, as clients have none."""

    def __init__(self) -> None:
        super().__init__(MEMBERSHIP)

    async def _log_in(self, sock, host: str, port: int) -> None:
        """Not at all."""


class Doorkeeper:
    """A scripted broker's part of a login, whatever its address."""

    def __init__(self, membership: Membership = MEMBERSHIP):
        self._exchange: ServerExchange = membership.admit(lambda _address: True)

    def answer(self, request: Message) -> Message | None:
        """None to what is no part of a login."""
        if request.api is ApiKey.SASL_HANDSHAKE:
            return SaslHandshakeResponse(mechanisms=[request.mechanism])
        if request.api is not ApiKey.SASL_AUTHENTICATE:
            return None
        exchange, token = self._exchange, bytes(request.auth_bytes)
        return SaslAuthenticateResponse(auth_bytes=(exchange.final if exchange.has_begun else exchange.first)(token))
