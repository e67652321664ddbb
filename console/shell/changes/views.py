"""Changes that wait: the list, and one of them with its plan as it is now, to be approved or discarded."""

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from console.kit.access.rights import reach_of
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.user_request import UserRequest
from console.kit.plans.plan import Confirmation
from console.shell.changes.access import access_change, require_changes
from console.shell.changes.actions import NotDecidedError, do_approve, do_discard, expire_old
from console.shell.changes.models import ChangeRule, ProposedChange
from console.shell.changes.queries import TITLES, csv_rows, over_for, shown_state, waiting_for
from console.shell.changes.replay import ReplayedPlan, look

_WHY_LENGTH_MAX = 500
NOT_ALL_OF_IT = "It concerns objects beyond your rights: another user has to decide about it."


@require_safe
def changes(request: UserRequest) -> HttpResponseBase:
    require_changes(request.user)
    if wants_csv(request):
        return csv_response(request, "changes", TITLES, csv_rows(request.user))
    expire_old()
    is_limited = reach_of(request.user).is_limited_somewhere
    context = {
        "waiting": waiting_for(request.user),
        "over": over_for(request.user),
        "rules": () if is_limited else ChangeRule.objects.all(),
        "is_limited": is_limited,
    }
    return render(request, "changes/list.html", context)


@require_safe
def change(request: UserRequest, number: int) -> HttpResponse:
    return _page(request, access_change(request.user, number))


@require_POST
def approve(request: UserRequest, number: int) -> HttpResponse:
    """Approve the change's present plan, as this person was shown it."""
    change = access_change(request.user, number)
    seen = _look(request, change)
    plan, confirmation = seen.plan, Confirmation.parse(request.POST)
    if shown_state(change) != str(ProposedChange.State.WAITING):
        return _page(request, change, "It does not wait any more.", 409)
    if plan is None:
        return _page(request, change, seen.why, 409)
    if plan.typed_name and confirmation.typed_name != plan.typed_name:
        return _page(request, change, f"Nothing was changed: type the name exactly, {plan.typed_name}.", 422)
    try:
        outcome = do_approve(request.user, change, confirmation.digest, request.POST.get("emergency", "").strip()[:500])
    except NotDecidedError as error:
        return _page(request, change, str(error), 409)
    if not outcome.is_done:
        return _page(request, change, outcome.why, 409)
    messages.success(request, " ".join(outcome.messages) or "It is carried out.")
    return redirect("changes")


@require_POST
def discard(request: UserRequest, number: int) -> HttpResponse:
    change = access_change(request.user, number)
    try:
        do_discard(request.user, change, request.POST.get("why", "").strip()[:_WHY_LENGTH_MAX])
    except NotDecidedError as error:
        return _page(request, change, str(error), 409)
    messages.success(request, f"Change {change.pk} is {'withdrawn' if _is_own(request, change) else 'discarded'}.")
    return redirect("changes")


def _page(request: UserRequest, change: ProposedChange, error: str = "", status: int = 200) -> HttpResponse:
    context: dict[str, object] = {"change": change, "state": shown_state(change), "error": error}
    is_own = _is_own(request, change)
    shows_lines = is_own or not reach_of(request.user).is_limited_somewhere
    context |= {"address": reverse("change-approve", args=[change.pk]), "is_own": is_own}
    context["lines"] = change.lines if shows_lines else ()
    if context["state"] == ProposedChange.State.WAITING:
        seen = _look(request, change)
        context |= {"plan": seen.plan, "why": seen.why, "is_as_proposed": seen.is_as_proposed(change)}
        if change.needs_person and is_own:
            context["why_not"] = "Another user has to approve it: you proposed it."
    return render(request, "changes/change.html", context, status=status)


def _look(request: UserRequest, change: ProposedChange) -> ReplayedPlan:
    """Return the proposer's plan; none for a person who could not make it themselves.

    Who may not see everything is shown their own, if it is the same change: the other names what its person may see.
    """
    if _is_own(request, change):
        return look(change, change.actor)
    own = look(change, request.user)
    if own.plan is None:
        return own
    replayed = look(change, change.actor)
    if replayed.plan is not None and own.plan.obstacle and not replayed.plan.obstacle:
        return ReplayedPlan(
            None, own.plan.obstacle
        )  # a page that tells everybody of the plan says so who may not have it made
    if not reach_of(request.user).is_limited_somewhere or replayed.plan is None:
        return replayed
    return own if replayed.is_same_as(own) else ReplayedPlan(None, NOT_ALL_OF_IT)


def _is_own(request: UserRequest, change: ProposedChange) -> bool:
    return change.actor_id == request.user.pk
