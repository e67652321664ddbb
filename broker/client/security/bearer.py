"""Tokens for OAUTHBEARER: read from a file, or fetched for a client's credentials (RFC 6749 section 4.4, KIP-768).

The broker checks a token; here only its end is read, so that a new one is there in time.
"""

import base64
import json
import threading
import time
import urllib.parse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from broker.client.security.errors import ClientConfigError, without_query
from broker.client.security.properties import BearerSettings
from broker.client.security.secret import Secret

if TYPE_CHECKING:
    from ssl import SSLContext

_TOKEN_BYTES_MAX = 1024 * 1024
#: A token is used no longer than this part of its life, as Kafka's clients refresh theirs.
_USED_FOR = 0.8
#: A file's token without an end is read again so often.
_READ_AGAIN_S = 60.0


class BearerToken(NamedTuple):
    """`expires_at_s` is of Unix time."""

    text: Secret
    principal: str
    expires_at_s: float


class TokenSource:
    """Threads may share it."""

    def __init__(
        self,
        settings: BearerSettings,
        context: "Callable[[], SSLContext | None]" = lambda: None,
        now_s: Callable[[], float] = time.time,
    ):
        """Create the tokens. `context()` gives the TLS context of an https endpoint; None uses the system's
        certificates.
        """
        self._settings = settings
        self._context = context
        self._now_s = now_s
        self._lock = threading.Lock()
        self._token: BearerToken | None = None
        self._renew_at_s = 0.0

    def token(self) -> BearerToken:
        """Return a token that stays valid for a while. Raises ClientConfigError."""
        with self._lock:
            now_s = self._now_s()
            if self._token is None or now_s >= self._renew_at_s:
                self._token = token = self._new(now_s)
                self._renew_at_s = now_s + (token.expires_at_s - now_s) * _USED_FOR
            return self._token

    def first_message(self) -> str:
        """Return the client's initial SASL message (RFC 7628)."""
        extensions = "".join(f"{name}={value}\x01" for name, value in self._settings.extensions)
        return f"n,,\x01auth=Bearer {self.token().text.reveal()}\x01{extensions}\x01"

    def _new(self, now_s: float) -> BearerToken:
        url = self._settings.url
        if url.startswith("file://"):
            text, expires_in_s = _of_file(url), None
        else:
            text, expires_in_s = self._fetched()
        if not text or any(not "!" <= name <= "~" for name in text):
            raise ClientConfigError(f"{without_query(url)} gives no token")
        claims = _claims(text)
        end = claims.get("exp")
        if not isinstance(end, int | float):
            end = now_s + (expires_in_s or _READ_AGAIN_S)
        if end <= now_s:
            raise ClientConfigError(f"the token of {without_query(url)} has expired")
        return BearerToken(Secret(text), str(claims.get("sub", "")), float(end))

    def _fetched(self) -> tuple[str, float | None]:
        """Fetch a token and its lifetime. Imported here: the HTTP client is 2 MB of every client, and few need
        tokens.
        """
        from broker.client.security.token_endpoint import ask_for_token

        answer, where = ask_for_token(self._settings, self._context()), without_query(self._settings.url)
        text, expires_in = answer.get("access_token"), answer.get("expires_in")
        if not isinstance(text, str):
            raise ClientConfigError(f"{where} answers without an access_token")
        return text, float(expires_in) if isinstance(expires_in, int | float) and expires_in > 0 else None


def _of_file(url: str) -> str:
    path = urllib.parse.unquote(urllib.parse.urlsplit(url).path)
    try:
        with Path(path).open() as file:
            return file.read(_TOKEN_BYTES_MAX).strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise ClientConfigError(f"the token file {path} cannot be read: {reason}") from None


def _claims(text: str) -> dict[str, Any]:
    """Return the claims of a JWT; nothing of an opaque token."""
    try:
        payload = text.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except (IndexError, ValueError):
        return {}
    return claims if isinstance(claims, dict) else {}
