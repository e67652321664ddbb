"""The one address all operations of the API come by, and its description."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import Resolver404
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from console.shell.api.access import NoToken, admitted


@csrf_exempt
@login_not_required
def operation(request: HttpRequest, rest: str) -> HttpResponse:
    """Run the operation of `rest`. Exempt from CSRF, since cookies are not accepted here."""
    from console.shell.api.router import operations, problem

    try:
        match = operations.resolve(rest)
    except Resolver404:
        return problem(404, "There is no such address; openapi.json lists those there are.")
    return match.func(request, *match.args, **match.kwargs)


@login_not_required
@require_safe
def openapi(request: HttpRequest) -> HttpResponse:
    """Serve the OpenAPI document to everybody with a login or a token."""
    from console.shell.api.router import description, problem

    if not request.user.is_authenticated:
        try:
            admitted(request)
        except NoToken as error:
            return problem(401, str(error))
    return JsonResponse(description())
