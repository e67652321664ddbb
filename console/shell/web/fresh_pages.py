"""A page fetched while nobody looked shows what is true now, not what the collector saw when it last looked."""

import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from console.kit.common.clock import now_ms
from console.kit.live.idle_pace import call
from console.state.clusters.queries import cluster_state

#: A cluster that answers takes some tenths of a second; a page does not wait longer for one that does not.
WAIT_MS_MAX = 1_000
POLL_SECONDS = 0.03
_TIERS = ("brokers", "topics", "groups", "zookeeper")


class FreshPagesMiddleware:
    """Whoever is logged in and asks for anything looks."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]):
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated:
            await_look()
        return self._get_response(request)


def await_look() -> None:
    """Wait until every tier has looked, if the collector was idle; at most WAIT_MS_MAX."""
    asked_ms = now_ms()
    if not call():
        return
    while not _has_looked(asked_ms) and now_ms() < asked_ms + WAIT_MS_MAX:
        time.sleep(POLL_SECONDS)


def _has_looked(since_ms: int) -> bool:
    """Return whether every tier has looked since then; a failed tier does not look, and one that never did is not
    waited for.
    """
    state = cluster_state()
    seen = (getattr(state, f"{tier}_at_ms") for tier in _TIERS if not getattr(state, f"{tier}_error", ""))
    return all(at_ms >= since_ms for at_ms in seen if at_ms)
