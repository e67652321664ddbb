"""Tokens by which programs ask as a person: what one opens, for how long, and that nothing of it can be read back.

A token never opens more than its person may do at the moment it is used. It is 256 random bits, so what is kept is a
plain digest of it: nobody guesses it, and who reads the database has none.
"""

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from hashlib import sha256

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import QuerySet

from console.kit.access.models import ApiToken
from console.kit.access.rights import restrict_to

PREFIX = "barnabas_"
#: Scope → what it opens, in words for who gives it.
SCOPES = {
    "read": "see what the pages show, but for what is in records",
    "records": "read records",
    "plan": "have plans made, which change nothing",
    "apply": "have plans carried out",
}
TOKENS_MAX = 20
DAYS_MAX = 365
#: The last use is noted at most so often.
_NOTED_EVERY = timedelta(minutes=1)


def make_token(
    user: User, name: str, scopes: list[str], days: int, now: datetime, clusters: Sequence[str] = ()
) -> tuple[ApiToken, str]:
    """Create a token; return it and, this once, its secret. Without `clusters` it opens all of them."""
    secret = PREFIX + secrets.token_urlsafe(32)
    ends_at = now + timedelta(days=days)
    kept = {"scopes": scopes, "clusters": list(clusters), "ends_at": ends_at}
    return ApiToken.objects.create(user=user, name=name, digest=_digest(secret), **kept), secret


def token_of(secret: str, now: datetime) -> ApiToken | None:
    """Return the token; None if there is no such token, if it or its person's account has ended, as `end_of` says, or
    if a password has to be changed first. Its person has no rights in clusters that the token does not open.
    """
    token = _tokens().filter(digest=_digest(secret)).first()
    if token is None or not _opens(token, now) or hasattr(token.user, "password_to_change"):
        return None
    if token.used_at is None or now - token.used_at >= _NOTED_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(used_at=now)
    restrict_to(token.user, token.clusters)
    return token


def is_open(token: ApiToken, now: datetime) -> bool:
    """Return whether the token is still valid: it or its account may end while a request is under way."""
    current = _tokens().filter(pk=token.pk).first()
    return current is not None and _opens(current, now)


def end_of(token: ApiToken) -> datetime | None:
    """Return when `token` expires, or pauses until its owner signs on again. None: it opens nothing as the settings
    are.

    The token of an account that single sign-on or a directory proves works for TOKEN_SIGN_ON_DAYS from the last proof
    on, so that it does not outlive its owner's place there. Where passwords are for breaking the glass, accounts of our
    own have tokens only if they have passwords.
    """
    identity = getattr(token.user, "identity", None)
    if identity is None:
        is_barred = settings.SINGLE_SIGN_ON is not None and settings.SINGLE_SIGN_ON.only_break_glass
        return None if is_barred and not token.user.is_superuser else token.ends_at
    proved_at: datetime | None = identity.proved_at
    return None if proved_at is None else min(token.ends_at, proved_at + timedelta(days=settings.TOKEN_SIGN_ON_DAYS))


def _opens(token: ApiToken, now: datetime) -> bool:
    end = end_of(token)
    return end is not None and end > now and token.user.is_active


def _tokens() -> QuerySet[ApiToken]:
    return ApiToken.objects.select_related("user__identity")


def end_tokens(user: User) -> None:
    """Revoke all tokens of the person."""
    ApiToken.objects.filter(user=user).delete()


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
