"""An address that is only posted to, opened again or reloaded, leads back to the page whose form posts to it.

That happens after every refused change: the refusal stands at the address of the form.
"""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from console.people.readonly.guard import SAFE_METHODS

#: Route that is posted to → the route of its page, which takes the same arguments or fewer.
PAGES = {
    "logout": "overview",
    "health-undo": "health",
    "read-only-switch": "read-only",
    "topic-configure": "topic-retention",
    "topic-produce": "topic-records",
    "topic-set": "topic-settings",
    "broker-set": "broker-settings",
    "ensemble-call-off": "zookeeper",
    **dict.fromkeys(("token-make", "token-end"), "tokens"),
    **dict.fromkeys(("table-arrange", "view-save", "view-change", "view-delete"), "views"),
    "density": "overview",
    **dict.fromkeys(("alert-acknowledge", "alert-silence", "alert-test"), "alerts"),
    "drill-stop": "drill",
    "healing-dismiss": "healing-proposal",
    **dict.fromkeys(("change-approve", "change-discard"), "change"),
    "decommission-resume": "decommission",
    "decommission-call-off": "decommission",
    "stream-start": "stream",
    **dict.fromkeys(("process-start", "process-restart-always", "process-restart-never"), "process"),
    "staged-move": "move-partitions",
    **{f"staged-move-{each}": "placement" for each in ("pause", "resume", "call-off")},
    **{f"rolling-restart-{each}": "rolling-restart" for each in ("pause", "resume", "call-off")},
}
#: Their pages are one for all: no argument of the address is theirs.
_ARGUMENTLESS = {"alerts", "tokens", "views", "overview", "health", "zookeeper", "rolling-restart", "placement"}


class WrongMethodMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code != 405 or request.method not in SAFE_METHODS:
            return response
        page = PAGES.get(request.resolver_match.url_name)
        if page is None:
            return response
        return redirect(page, **({} if page in _ARGUMENTLESS else request.resolver_match.kwargs))
