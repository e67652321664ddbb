"""Tests as members of a cluster: its secret, and the ways to log in with it."""

from collections.abc import Callable
from itertools import count

from broker.net.dialer import Dialer
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.sasl_authenticate import SaslAuthenticateResponse
from broker.protocol.messages.sasl_handshake import SaslHandshakeResponse
from broker.protocol.schema import Message
from broker.security.membership import ClusterMembership
from broker.security.sasl.scram_server import ScramServer, unknown_user_accounts
from broker.security.scram import MECHANISM

SECRET = bytes(range(32))
_nonces = count(10**20)


def new_nonce() -> str:
    return str(next(_nonces))


MEMBERSHIP = ClusterMembership(SECRET, new_nonce)


def dialer() -> Dialer:
    return Dialer(MEMBERSHIP)


def server_of_members(
    membership: ClusterMembership = MEMBERSHIP, is_our_address: Callable[[str], bool] = lambda _address: True
) -> ScramServer:
    strangers = unknown_user_accounts(membership.seed_of_strangers, lambda _mechanism: None)
    return ScramServer(MECHANISM, membership.accounts_at(is_our_address), strangers, new_nonce())


class StrangerDialer(Dialer):
    """Of who has no secret, as clients have none."""

    def __init__(self) -> None:
        super().__init__(MEMBERSHIP)

    async def _log_in(self, sock, host: str, port: int) -> None:
        """Not at all."""


class Doorkeeper:
    """A scripted broker's part of a login, whatever its address."""

    def __init__(self, membership: ClusterMembership = MEMBERSHIP):
        self._server = server_of_members(membership)

    def answer(self, request: Message) -> Message | None:
        """None to what is no part of a login."""
        if request.api is ApiKey.SASL_HANDSHAKE:
            return SaslHandshakeResponse(mechanisms=[request.mechanism])
        if request.api is not ApiKey.SASL_AUTHENTICATE:
            return None
        reply = self._server.respond(bytes(request.auth_bytes))
        return SaslAuthenticateResponse(auth_bytes=reply if isinstance(reply, bytes) else reply.answer)
