"""OAUTHBEARER (RFC 7628, KIP-255): the client shows a signed token. Pure.

A token that is not believed is first answered with why, in JSON and without an error; the client says that it has
heard, and only then the login has failed.
"""

import re
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from broker.security.bearer_tokens import Bearer, TokenRefused
from broker.security.sasl.server import AuthenticationError, LoggedIn, Reply

MECHANISM = "OAUTHBEARER"

_HEARD = b"\x01"
_REFUSAL = '{"status":"invalid_token"}'
_FIRST = re.compile(
    r"n,(?:a=(?P<authzid>(?:[^,=\0\x01]|=2C|=3D)+))?,\x01(?P<pairs>(?:[A-Za-z]+=[\x20-\x7e\t\r\n]*\x01)+)\x01"
)
_AUTH = re.compile(r"bearer +(?P<token>[A-Za-z0-9._~+/=-]+)", re.IGNORECASE)


class ClientFirst(NamedTuple):
    #: Whom the client wants to be; empty: whom the token names.
    authzid: str
    token: str


def read_first(message: bytes) -> ClientFirst:
    """Raises AuthenticationError. Further pairs (SASL extensions, KIP-342) are of no consequence here."""
    try:
        match = _FIRST.fullmatch(bytes(message).decode())
    except UnicodeDecodeError:
        match = None
    if match is None:
        raise AuthenticationError("not a message of OAUTHBEARER")
    pairs = [pair.partition("=") for pair in match["pairs"].split("\x01")[:-1]]
    authorizations = [value for name, _, value in pairs if name == "auth"]
    auth = _AUTH.fullmatch(authorizations[0]) if len(authorizations) == 1 else None
    if auth is None:
        raise AuthenticationError("there must be one bearer token")
    authzid = (match["authzid"] or "").replace("=2C", ",").replace("=3D", "=")
    return ClientFirst(authzid, auth["token"])


class OAuthBearerServer:
    """A SaslServer. `believed` says who a token is of, or raises TokenRefused."""

    def __init__(self, believed: Callable[[str], Awaitable[Bearer]]):
        self._believed = believed
        self._refusal = ""

    def respond(self, token: bytes) -> Reply | Awaitable[Reply]:
        if self._refusal:
            raise AuthenticationError(self._refusal, client_message=_REFUSAL if token == _HEARD else None)
        return self._log_in(read_first(token))

    async def _log_in(self, first: ClientFirst) -> Reply:
        try:
            bearer = await self._believed(first.token)
        except TokenRefused as error:
            self._refusal = f"the token is refused: {error}"
            return _REFUSAL.encode()
        if first.authzid not in ("", bearer.name):
            raise AuthenticationError("the client asks for another user than its token names")
        return LoggedIn(b"", f"User:{bearer.name}", bearer.expires_ms)
