"""The page where an administrator begins and ends read-only mode."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from console.kit.access.read_only import read_only_now, scopes
from console.kit.access.rights import Right, require
from console.kit.common.user_request import UserRequest
from console.kit.plans.plan import Confirmation
from console.kit.plans.views import refusable
from console.people.readonly.actions import do_switch_read_only
from console.people.readonly.plan import switch_plan

REASON_LENGTH_MAX = 200


@require_safe
def read_only(request: UserRequest) -> HttpResponse:
    require(request.user, Right.ADMINISTER)
    return _page(request)


@require_POST
def switch(request: UserRequest) -> HttpResponse:
    require(request.user, Right.ADMINISTER)
    scope, reason = request.POST.get("scope", ""), request.POST.get("reason", "").strip()[:REASON_LENGTH_MAX]
    if scope not in scopes():
        raise Http404("There is no such part of the console to make read-only.")
    plan = switch_plan(scope, read_only_now().get(scope))
    with refusable(409) as answer:
        do_switch_read_only(request.user, plan, reason, Confirmation.parse(request.POST))
        words = "is read-only now" if plan.begins else "can be changed again"
        messages.success(request, f"{scopes()[scope].capitalize()} {words}.")
        return redirect("read-only")
    return _page(request, answer.error, answer.status)


def _page(request: UserRequest, error: str = "", status: int = 200) -> HttpResponse:
    modes = read_only_now()
    switches = [
        (scope, name, modes.get(scope), switch_plan(scope, modes.get(scope))) for scope, name in scopes().items()
    ]
    context = {"switches": switches, "error": error, "reason_length": REASON_LENGTH_MAX}
    return render(request, "readonly/page.html", context, status=status)
