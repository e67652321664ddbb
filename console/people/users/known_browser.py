"""A cookie that says: from this browser the account was logged in before. It opens nothing.

Failures of such a browser are counted by themselves (OWASP, "device cookies"), so that somebody who guesses a password
from elsewhere, or from the same address, does not keep the account's owner out.
"""

import secrets

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse

from console.people.users.throttle import BROWSER

_SALT = "console.access.known-browser"
_ID_BYTES = 9
AGE_SECONDS = 180 * 24 * 3_600


def place_of_browser(request: HttpRequest, name: str) -> str:
    """Return the place failures of `name` are counted under, if the browser is known for it; else nothing."""
    try:
        kept = signing.loads(request.COOKIES.get(settings.BROWSER_COOKIE_NAME, ""), salt=_SALT, max_age=AGE_SECONDS)
    except signing.BadSignature:
        return ""
    is_ours = isinstance(kept, list) and len(kept) == 2 and kept[0] == name
    return f"{BROWSER}{kept[1]}" if is_ours else ""


def remember_browser(response: HttpResponse, name: str) -> None:
    response.set_cookie(
        settings.BROWSER_COOKIE_NAME,
        signing.dumps([name, secrets.token_urlsafe(_ID_BYTES)], salt=_SALT),
        max_age=AGE_SECONDS,
        path=settings.SESSION_COOKIE_PATH,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
