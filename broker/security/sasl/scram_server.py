"""SCRAM for all who have an account, and for who has none: a login goes on as if every user existed, and only its end
says no. Kafka ends an unknown user's login one step earlier than a wrong password's, which tells who exists.
"""

import hmac
from collections.abc import Callable, Mapping
from hashlib import shake_256

from broker.common.security_limits import SASL_TOKEN_BYTES_MAX
from broker.security.sasl.server import Accounts, AuthenticationError, LoggedIn, Reply, ScramAccount
from broker.security.scram import HASHES, ITERATIONS_MIN, SALT_LENGTH, SALT_LETTERS, Credential, ServerExchange

#: `(mechanism, user)` → what the user would have. Always the same, on every broker.
Strangers = Callable[[str, str], Credential]


class ScramServer:
    """One login by SCRAM."""

    def __init__(self, mechanism: str, accounts: Accounts, strangers: Strangers, nonce: str):
        self._mechanism = mechanism
        self._accounts = accounts
        self._strangers = strangers
        self._account: ScramAccount | None = None
        self._exchange = ServerExchange(self._credential, nonce, mechanism)

    def respond(self, token: bytes) -> Reply:
        """Raises AuthenticationError, of which the client hears no more than that there was one."""
        if len(token) > SASL_TOKEN_BYTES_MAX:
            raise AuthenticationError(f"a token of {len(token)} bytes")
        if not self._exchange.has_begun:
            return self._exchange.first(token)
        answer, account = self._exchange.final(token), self._account
        if account is None:
            raise AuthenticationError("there is no such user")
        return LoggedIn(answer, account.principal, account.expires_ms, account.is_by_token, account.is_member)

    def _credential(self, user: str, extensions: Mapping[str, str]) -> Credential:
        self._account = self._accounts(user, extensions)
        # Made for everybody, so that the answer takes as long.
        strangers = self._strangers(self._mechanism, user)
        return strangers if self._account is None else self._account.credential


def unknown_user_accounts(secret: bytes, likeness: Callable[[str], Credential | None]) -> Strangers:
    """Return fake accounts for unknown users; `likeness(mechanism)` is a real credential that theirs resemble."""

    def stranger(mechanism: str, user: str) -> Credential:
        seed = hmac.digest(secret, f"{mechanism},{user}".encode(), "sha512")
        like = likeness(mechanism)
        return Credential(
            _salt_like(like.salt if like else SALT_LETTERS[:SALT_LENGTH], seed),
            like.iterations if like else ITERATIONS_MIN,
            hmac.digest(seed, b"stored key", HASHES[mechanism]),
            hmac.digest(seed, b"server key", HASHES[mechanism]),
        )

    return stranger


def _salt_like(model: bytes, seed: bytes) -> bytes:
    drawn = shake_256(seed).digest(len(model))
    if set(model) <= set(SALT_LETTERS):
        return bytes(SALT_LETTERS[byte % len(SALT_LETTERS)] for byte in drawn)
    return drawn
