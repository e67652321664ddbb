"""One attempt to log in, from the way to the provider to the way back.

The browser keeps a signed cookie with a random number and where it wanted to go; `state`, `nonce` and PKCE's verifier
are derived from the number with our key, so that nothing is stored here for people who never come back, and no secret
is there. Who comes back with another browser's answer has not the cookie to it (login CSRF).
"""

import base64
import secrets
from dataclasses import dataclass

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare, salted_hmac

_SALT = "console.sso.attempt"
AGE_SECONDS = 10 * 60
_NUMBER_BYTES = 32
_ADDRESS_LENGTH_MAX = 2_000


@dataclass(frozen=True, slots=True)
class Attempt:
    """`next_address` is where to go afterwards; it is looked at again before anybody is sent there."""

    number: str
    next_address: str

    @property
    def state(self) -> str:
        return self._derived("state")

    @property
    def nonce(self) -> str:
        return self._derived("nonce")

    @property
    def verifier(self) -> str:
        """43 characters, the least that RFC 7636 allows, of 256 bits."""
        return self._derived("verifier")

    def is_answered_by(self, state: str) -> bool:
        return constant_time_compare(state, self.state)

    def _derived(self, what: str) -> str:
        digest = salted_hmac(f"{_SALT}.{what}", self.number, algorithm="sha256").digest()
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def new_attempt(next_address: str) -> Attempt:
    kept = next_address if len(next_address) <= _ADDRESS_LENGTH_MAX else ""
    return Attempt(secrets.token_urlsafe(_NUMBER_BYTES), kept)


def remember_attempt(response: HttpResponse, attempt: Attempt) -> None:
    """Remember the login attempt in a cookie; a second attempt of one browser replaces the first."""
    response.set_cookie(
        settings.SIGN_ON_COOKIE_NAME,
        signing.dumps([attempt.number, attempt.next_address], salt=_SALT),
        max_age=AGE_SECONDS,
        path=settings.SESSION_COOKIE_PATH,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def attempt_of(request: HttpRequest) -> Attempt | None:
    """Return the login attempt; None if this browser began none of late."""
    try:
        kept = signing.loads(request.COOKIES.get(settings.SIGN_ON_COOKIE_NAME, ""), salt=_SALT, max_age=AGE_SECONDS)
    except signing.BadSignature:
        return None
    return Attempt(*kept)


def forget_attempt(response: HttpResponse) -> None:
    response.set_cookie(
        settings.SIGN_ON_COOKIE_NAME,
        max_age=0,
        path=settings.SESSION_COOKIE_PATH,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
