"""The guard before every view: while something is read-only, a request that changes something is refused there.

Safe methods pass, so that plans can be looked at. A view that is written tomorrow is guarded too.
"""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from console.kit.access.read_only import CONSOLE, read_only_now
from console.kit.common.cluster_urls import route_of
from console.kit.common.user_request import SAFE_METHODS
from console.kit.features.listed import features

#: What features declare to be open: coming and going, the own password, how somebody looks at lists, the switch itself,
#: and the brake of what is under way. The API plans by posts, and refuses by itself to carry out (`api/plans.py`).
ALWAYS_OPEN = frozenset(route for feature in features() for route in feature.always_open)
#: Views about people change the console, not the cluster.
_PEOPLE = "console.people.users."
STATUS = 423


class ReadOnlyMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self,
        request: HttpRequest,
        view: Callable[..., HttpResponse],
        arguments: tuple[object, ...],
        named: dict[str, object],
    ) -> HttpResponse | None:
        if request.method in SAFE_METHODS or route_of(request) in ALWAYS_OPEN:
            return None
        for scope, mode in read_only_now().items():
            if scope == CONSOLE or not view.__module__.startswith(_PEOPLE):
                context = {"title": "Read-only", "sentence": f"{mode} Nothing was changed."}
                return render(request, "web/refusal.html", context, status=STATUS)
        return None
