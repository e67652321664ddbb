"""Authentication of a client: the tokens of each SASL mechanism, as its properties say."""

import json
import os
from collections.abc import Callable

from broker.client.security.bearer import TokenSource
from broker.client.security.properties import SCRAM_MECHANISMS, SaslSettings
from broker.client.security.secret import Secret
from broker.security.login import Login, Tokens, authenticate, scram_tokens
from broker.security.scram import AuthenticationError, ClientExchange, Keys, derive_keys

_NONCE_BYTES = 18
#: KIP-48: the user is a token's id.
_TOKEN_EXTENSION = {"tokenauth": "true"}


class ClientCredentials:
    """Credentials for repeated logins. Caches the salted password, whose derivation takes milliseconds."""

    def __init__(self, settings: SaslSettings, tokens: TokenSource | None = None):
        """`tokens` is there for OAUTHBEARER."""
        self._settings = settings
        self._tokens = tokens
        self._known: dict[tuple[bytes, int], Keys] = {}

    def login(self) -> Login:
        """Return a login for one connection. It raises AuthenticationError, ClientConfigError."""
        return authenticate(self._settings.mechanism, self._exchange())

    def _exchange(self) -> Tokens:
        settings, password = self._settings, self._settings.password
        if settings.mechanism == "OAUTHBEARER" and self._tokens is not None:
            return _bearer(self._tokens)
        if settings.mechanism in SCRAM_MECHANISMS and password is not None:
            nonce = os.urandom(_NONCE_BYTES).hex()
            extensions = _TOKEN_EXTENSION if settings.is_delegation_token else {}
            return scram_tokens(
                ClientExchange(settings.username, self._keys_by(password), nonce, extensions, settings.mechanism)
            )
        return _plain(settings.username, password or Secret(""))

    def _keys_by(self, password: Secret) -> Callable[[bytes, int], Keys]:
        def keys(salt: bytes, iterations: int) -> Keys:
            if (salt, iterations) not in self._known:
                # Brokers that make up salts must not fill our memory.
                self._known.clear()
                self._known[salt, iterations] = derive_keys(
                    password.reveal().encode(), salt, iterations, self._settings.mechanism
                )
            return self._known[salt, iterations]

        return keys


def _plain(username: str, password: Secret) -> Tokens:
    """Log in by PLAIN (RFC 4616)."""
    yield f"\0{username}\0{password.reveal()}".encode()


def _bearer(source: TokenSource) -> Tokens:
    """Return the token exchange (RFC 7628): a refusal comes in a response without error, which has to be acknowledged
    first.
    """
    refusal = yield source.first_message().encode()
    if refusal:
        yield b"\x01"
        raise AuthenticationError(f"the broker does not take the token: {_status(refusal)}")


def _status(refusal: bytes) -> str:
    try:
        return str(json.loads(refusal)["status"])
    except (ValueError, KeyError, TypeError):
        return "it does not say why"
