"""An address that is only posted to, opened again or reloaded, leads back to the page whose form posts to it.

That happens after every refused change: the refusal stands at the address of the form.
"""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from console.kit.common.cluster_urls import route_of
from console.kit.common.user_request import SAFE_METHODS
from console.kit.features.listed import features

_FORMS = [forms for feature in features() for forms in feature.forms]
#: Route that is posted to → the route of its page, which takes the same arguments or fewer.
PAGES = {route: forms.page for forms in _FORMS for route in forms.routes}
#: Their pages are one for all: no argument of the address is theirs.
_ARGUMENTLESS = {forms.page for forms in _FORMS if forms.is_one_for_all}


class WrongMethodMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code != 405 or request.method not in SAFE_METHODS:
            return response
        page = PAGES.get(route_of(request))
        match = request.resolver_match
        if page is None or match is None:
            return response
        return redirect(page, **({} if page in _ARGUMENTLESS else match.kwargs))
