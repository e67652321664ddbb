"""Reasons of health that are quiet, and the page on which one is made so."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from console.kit.access.reach import Resource
from console.kit.access.rights import CLUSTER, REFUSALS, Right, reach_of, require, require_everything, require_on
from console.kit.common.clock import now_ms
from console.kit.common.user_request import UserRequest
from console.signals.overview.facts import quiet_reasons
from console.signals.overview.forms import QuietForm
from console.signals.overview.health import HealthReason
from console.signals.overview.queries import health_within
from console.signals.overview.quiet import QuietKind
from console.signals.overview.quiet_actions import TooManyError, do_quieten, do_speak_again
from console.state.clusters.models import QUIET_KEY_LENGTH_MAX

OVER = "This reason does not hold any more: it is resolved, or has become another one."
WORSE = "It has changed since the page was shown. Nothing was said of it; this is how it is now."


@require_safe
def quiet_list(request: UserRequest) -> HttpResponse:
    require(request.user, Right.VIEW)
    reach = reach_of(request.user)
    seen = [reason for reason in quiet_reasons(now_ms(), reach) if reason.name or not reach.is_limited_somewhere]
    health = health_within(reach)
    context = {"health": health, "reasons": (*health.reasons, *health.muted), "acknowledgements": seen}
    return render(request, "overview/quiet-list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def quieten(request: UserRequest) -> HttpResponse:
    """Show the reason `key` with a form; a post acknowledges or mutes it as it was shown."""
    _require_operating_something(request)
    parameters = request.POST if request.method == "POST" else request.GET
    reason = health_within(reach_of(request.user)).find(parameters.get("key", "")[:QUIET_KEY_LENGTH_MAX])
    if reason is None:
        raise Http404(OVER)
    _require_operating(request, reason.about, reason.name)
    if request.method != "POST":
        return _page(request, reason, QuietForm(reason))
    form = QuietForm(reason, request.POST)
    if not form.is_valid():
        return _page(request, reason, form, status=422)
    if request.POST.get("seen") != seen_of(reason):
        return _page(request, reason, form, WORSE, 409)
    try:
        do_quieten(
            request.user,
            reason,
            QuietKind(form.cleaned_data["kind"]),
            form.until_ms(now_ms()),
            form.cleaned_data["why"],
        )
    except TooManyError as refusal:
        return _page(request, reason, form, str(refusal), 409)
    messages.success(request, "It is said. It can be taken back here.")
    return redirect("health")


@require_POST
def speak_again(request: UserRequest, number: int) -> HttpResponse:
    _require_operating_something(request)
    row = next((reason for reason in quiet_reasons(now_ms(), reach_of(request.user)) if reason.pk == number), None)
    if row is None:
        raise Http404("The mute or acknowledgement is gone already.")
    _require_operating(request, row.about, row.name)
    do_speak_again(request.user, row)
    return redirect("health")


def seen_of(reason: HealthReason) -> str:
    """Return what a mute covers: the severity and the extent of the reason."""
    return f"{reason.level} {reason.weight} {len(reason.parts)}"


def _require_operating_something(request: UserRequest) -> None:
    """Require the right to operate anything before an object is looked up: its existence is not revealed to others."""
    if Right.OPERATE not in reach_of(request.user).rights_anywhere:
        raise PermissionDenied(REFUSALS[Right.OPERATE])


def _require_operating(request: UserRequest, about: str, name: str) -> None:
    """Require the right to operate; a mute of the whole cluster needs the right to see all of it."""
    if not name:
        require_everything(request.user)
    require_on(request.user, Resource(about), name or CLUSTER, Right.OPERATE)


def _page(
    request: UserRequest, reason: HealthReason, form: QuietForm, error: str = "", status: int = 200
) -> HttpResponse:
    context = {"reason": reason, "form": form, "seen": seen_of(reason), "error": error}
    return render(request, "overview/quieten.html", context, status=status)
