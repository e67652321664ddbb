"""PLAIN (RFC 4616): the client sends its name and its password, so it belongs inside TLS.

Users are those of the listener's JAAS configuration, `user_<name>="password"`, as Kafka's PlainLoginModule has them.
What is kept of a password is an HMAC of it, so that comparing takes as long whatever the password, and as long for a
user that does not exist (CVE-2021-38153).
"""

import hmac
from collections.abc import Mapping

from broker.common.security_limits import SASL_TOKEN_BYTES_MAX
from broker.security.sasl.server import AuthenticationError, LoggedIn
from broker.security.scram import OTHER_AUTHORIZATION_ID

PLAIN = "PLAIN"

_INVALID = "Authentication failed: Invalid username or password"
_NO_USER = "Authentication failed: username not specified"
_NO_PASSWORD = "Authentication failed: password not specified"


class PlainUsers:
    """The users of PLAIN on one listener."""

    def __init__(self, passwords: Mapping[str, str], key: bytes):
        """`key` is random; it never leaves the process."""
        self._key = key
        self._digests = {user: self._digest(password) for user, password in passwords.items() if user and password}
        #: Of nobody: no password has it.
        self._nobodys = bytes(32)

    def know(self, user: str, password: str) -> bool:
        return hmac.compare_digest(self._digests.get(user, self._nobodys), self._digest(password))

    def _digest(self, password: str) -> bytes:
        return hmac.digest(self._key, password.encode(), "sha256")


class PlainServer:
    """One login by PLAIN: one token says all."""

    def __init__(self, users: PlainUsers):
        self._users = users

    def respond(self, token: bytes) -> LoggedIn:
        authorized, user, password = _parts(token)
        if not user:
            raise AuthenticationError(_NO_USER, client_message=_NO_USER)
        if not password:
            raise AuthenticationError(_NO_PASSWORD, client_message=_NO_PASSWORD)
        if not self._users.know(user, password):
            raise AuthenticationError(_INVALID, client_message=_INVALID)
        if authorized not in ("", user):
            raise AuthenticationError(OTHER_AUTHORIZATION_ID, client_message=OTHER_AUTHORIZATION_ID)
        return LoggedIn(b"", f"User:{user}")


def _parts(token: bytes) -> list[str]:
    if len(token) > SASL_TOKEN_BYTES_MAX:
        raise AuthenticationError(f"a token of {len(token)} bytes")
    try:
        parts = token.decode().split("\0", 3)
    except UnicodeDecodeError:
        raise AuthenticationError("Invalid SASL/PLAIN response: not UTF-8") from None
    if len(parts) != 3:
        raise AuthenticationError(f"Invalid SASL/PLAIN response: expected 3 tokens, got {len(parts)}")
    return parts
