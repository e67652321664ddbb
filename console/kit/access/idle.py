"""A login ends when nobody has used it for a while, and twelve hours after it began, whichever is first.

What a page asks by itself, to be up to date, is no use by a person: a browser that was left open is idle.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import logout
from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from console.kit.common.clock import now_ms

#: When the person last did something, in ms; noted at most once a minute.
_USED_AT = "used_at_ms"
_NOTED_EVERY_MS = 60_000
#: Kept in the session from the login on: how many seconds it may last, where that is less than for others.
LONGEST = "longest_seconds"
#: Sent by pages with what they ask by themselves.
REFRESH_HEADER = "X-Refresh"


class IdleMiddleware:
    """Ends idle sessions, before the login is checked."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated:
            if is_idle(request.session, now_ms()):
                logout(request)
            elif REFRESH_HEADER not in request.headers:
                _note_use(request.session)
        return self.get_response(request)


def end_after(request: HttpRequest, seconds: int) -> None:
    """End the new login after `seconds`, however much it is used."""
    request.session[LONGEST] = seconds
    request.session.set_expiry(seconds)


def is_idle(session: SessionBase | Mapping[str, Any], now: int) -> bool:
    """Return whether the session is unused for too long; `now` in ms. A new session is not."""
    return now - session.get(_USED_AT, now) > settings.SESSION_IDLE_SECONDS * 1_000


def _note_use(session: SessionBase) -> None:
    """Note the use, without the expiry, which is set once: saving a session would otherwise begin its twelve hours
    anew.
    """
    if _USED_AT not in session:
        session.set_expiry(timezone.now() + timedelta(seconds=session.get(LONGEST, settings.SESSION_COOKIE_AGE)))
    if now_ms() - session.get(_USED_AT, 0) >= _NOTED_EVERY_MS:
        session[_USED_AT] = now_ms()
