"""Around every view: what it was asked with is known to the plan it carries out, and what has to wait is kept."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django_htmx.http import HttpResponseClientRedirect

from console.kit.common.user_request import SAFE_METHODS, UserRequest
from console.kit.plans.gate import ChangeRefusedNow, the_gate
from console.kit.plans.posted import Posted, posting


class PostedMiddleware:
    """Who confirmed what waits from now on is led to it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]):
        self.get_response = get_response

    def __call__(self, request: UserRequest) -> HttpResponse:
        if request.method in SAFE_METHODS or request.content_type == "application/json":
            return self.get_response(request)
        with posting(Posted.of(request)) as posted:
            response = self.get_response(request)
        if posted.held is None:
            return response
        try:
            kept = the_gate().propose(request.user, posted)
        except ChangeRefusedNow as error:
            messages.warning(request, str(error))
            return _led(request, request.get_full_path())
        messages.info(request, kept.sentence)
        return _led(request, kept.address)


def _led(request: UserRequest, address: str) -> HttpResponse:
    """Redirect the whole page, also from a request for a part of it."""
    return HttpResponseClientRedirect(address) if request.htmx else redirect(address)
