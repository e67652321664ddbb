"""A password that somebody else has seen opens one page only: the one where it is changed."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from console.kit.common.cluster_urls import route_of

#: Kept in the session from the login on, so that other people's requests cost no question to the database.
MUST_CHANGE = "must_change_password"
_OPEN = frozenset({"own-password", "logout", "login", "healthz", "metrics", "status"})


class OneTimePasswordMiddleware:
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
        if route_of(request) in _OPEN or not request.session.get(MUST_CHANGE):
            return None
        return redirect("own-password")
