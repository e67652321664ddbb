"""A list comes back as it was left: in the order and with the switches that were set on the list itself.

The address says all of it, so that a page that is fetched again, or handed on, is the same. A link from elsewhere that
orders a list does not change how it comes back, nor does a view; and what was searched for does not come back by
itself.
"""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from console.kit.common.cluster_urls import route_of
from console.kit.common.user_request import HtmxRequest
from console.kit.features.table import FeatureTable
from console.kit.tables.actions import do_remember
from console.kit.tables.arrangement import VIEW
from console.kit.tables.declared import TABLES
from console.kit.tables.queries import preference_of


class TablesMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HtmxRequest, view: Any, arguments: Any, named: Any) -> HttpResponse | None:
        table = TABLES.get(route_of(request))
        if table is None or request.method != "GET" or not isinstance(request.user, User) or "format" in request.GET:
            return None
        order = preference_of(request.user).tables.get(table.name, {}).get("order", {})
        if not request.GET:
            return _as_it_was_left(request, table, order)
        now = table.ordered(request.GET)
        if now != order and VIEW not in request.GET and _is_from(request) == request.path:
            do_remember(request.user, table, now)
        return None


def _as_it_was_left(request: HtmxRequest, table: FeatureTable, order: Mapping[str, str]) -> HttpResponse | None:
    """Return the list as this page shows it when it fetches itself again (`static/js/regions.js`), whatever another tab
    did.
    """
    if request.htmx or "X-Refresh" in request.headers or not (known := table.ordered(order)):
        return None
    return redirect(f"{request.path}?{urlencode(known)}")


def _is_from(request: HtmxRequest) -> str:
    """Return the path of the page that was left for this one."""
    address = request.htmx.current_url if request.htmx else request.headers.get("Referer", "")
    try:
        parts = urlsplit(address or "")
    except ValueError:
        return ""
    return parts.path if parts.netloc == request.get_host() else ""
