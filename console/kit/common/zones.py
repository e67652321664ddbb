"""The time zone in which the pages of a request write their times.

The browser names its own in a cookie, or `utc` where its user chose UTC (`static/js/times.js`), so that the server
draws a page as it stays. What no request asked for (pushes, files, sentences that are kept) is in UTC.
"""

from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo

from django.http import HttpRequest, HttpResponse

COOKIE = "barnabas_zone"
#: The choice, in place of a zone's name; London in winter is not meant by it.
CHOSEN_UTC = "utc"
_NAME_LENGTH_MAX = 64
_zone: ContextVar[tzinfo] = ContextVar("zone", default=UTC)


def current_zone() -> tzinfo:
    return _zone.get()


def zone_name(request: HttpRequest) -> str:
    """Return what the cookie names: `utc`, the IANA name of a zone that this machine knows, or nothing."""
    name = request.COOKIES.get(COOKIE, "")
    return name if name == CHOSEN_UTC or _zone_of(name) is not None else ""


class ZoneMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]):
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        token = _zone.set(_zone_of(request.COOKIES.get(COOKIE, "")) or UTC)
        try:
            return self._get_response(request)
        finally:
            _zone.reset(token)


def _zone_of(name: str) -> tzinfo | None:
    """Return None for a name that is not a zone's: a cookie may hold anything."""
    if len(name) > _NAME_LENGTH_MAX:
        return None
    try:
        return ZoneInfo(name)
    except (ValueError, LookupError, OSError):
        return None
