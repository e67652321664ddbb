"""A move in batches: its plan, its buttons, calling off what is on the move, and another throttle while it runs."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from console.automation.staged_moves.actions import do_cancel, do_change_throttle, do_stage
from console.automation.staged_moves.forms import SIZE_WISE, StageForm
from console.automation.staged_moves.models import StagedMove
from console.automation.staged_moves.plan import obstacle_of, staged_plan, throttle_plan
from console.automation.staged_moves.queries import find, spoken_for
from console.cluster.placement.cancel import plan_cancel
from console.cluster.placement.change_views import ACTIONS, MOVES_SHOWN
from console.cluster.placement.forms import ThrottleForm
from console.cluster.placement.models import OngoingMove
from console.cluster.placement.move import flat, parse_targets
from console.cluster.placement.moving import planned
from console.kit.access.rights import Right, require
from console.kit.common.current_cluster import here
from console.kit.common.user_request import UserRequest
from console.kit.gateway.connect import cluster_gateway
from console.kit.operations.actions import do_call_off, do_pause, do_resume
from console.kit.plans.apply import Refusals
from console.kit.plans.plan import Confirmation, NotConfirmedError
from console.kit.plans.views import at_once, is_confirmed, refusable
from console.state.clusters.access import access_topic


@require_POST
def stage(request: UserRequest) -> HttpResponse:
    """Stage a move; `moves` and `kind` are what the page of the move itself has shown."""
    require(request.user, Right.OPERATE)
    context: dict[str, Any] = {"kind": request.POST.get("kind", "")}
    with refusable() as answer:
        if _ask(request, context) and is_confirmed(request):
            form = context["form"].cleaned_data
            confirmation = Confirmation.parse(request.POST)
            arguments = (
                context["plan"],
                context["move_plan"],
                form["size"],
                form["begins"],
                confirmation,
            )
            made = do_stage(request.user, *arguments)
            if made is not None:
                messages.success(request, f"It {'is planned' if form['begins'] else 'begins'}, as move {made.pk}.")
            return redirect("placement")
    status = answer.status if context.get("plan") or answer.error else 422
    return render(request, "staged_moves/stage.html", context | {"error": answer.error}, status=status)


def _ask(request: UserRequest, context: dict[str, Any]) -> bool:
    """Return whether there is a plan, in `context`. Raises NotConfirmedError, GatewayError, PermissionDenied."""
    try:
        targets = parse_targets(request.POST.get("moves", ""))
    except ValueError as error:
        raise NotConfirmedError(str(error)) from error
    for topic in sorted({topic for topic, _ in targets}):
        access_topic(request.user, topic, Right.OPERATE)
    form = context["form"] = StageForm(_typed(request))
    context["moves"] = request.POST.get("moves", "")
    if not form.is_valid():
        return False
    # Whether another throttled move is under way matters when it begins, and not now.
    move_plan = context["move_plan"] = planned(targets).throttled(form.rate)
    size, begins = form.cleaned_data["size"], form.cleaned_data["begins"]
    against = obstacle_of(begins, timezone.now(), targets, spoken_for(), StagedMove.open_ones().count())
    action = ACTIONS.get(context["kind"], ACTIONS[""])
    plan = context["plan"] = staged_plan(move_plan, action, size, begins, here.BOOTSTRAP_SERVERS, against)
    names = ("moves", "kind", "throttle", "size", "begins")
    context |= {
        "fields": [(name, form.data.get(name, "")) for name in names],
        "shown": move_plan.moves[:MOVES_SHOWN],
        "hidden_count": max(0, len(move_plan.moves) - MOVES_SHOWN),
        "verb": "Plan it" if begins else "Begin",
        "is_empty": plan.is_empty,
    }
    return True


def _typed(request: UserRequest) -> dict[str, str]:
    """Return the form's values; the page before sends the throttle in bytes, and no size."""
    typed = {name: request.POST.get(name, "") for name in ("moves", "kind", "throttle", "size", "begins")}
    rate = request.POST.get("rate", "")
    if not typed["throttle"] and rate.isascii() and rate.isdigit() and len(rate) < 16:
        typed["throttle"] = f"{int(rate) / 1e6:g}"
    return typed | {"size": typed["size"] or str(SIZE_WISE)}


@require_POST
def pause(request: UserRequest, number: int) -> HttpResponse:
    """Pause the move; allowed to every operator of the cluster. The running batch completes; no other begins."""
    require(request.user, Right.OPERATE)
    return _change(request, find(number), do_pause)


@require_POST
def resume(request: UserRequest, number: int) -> HttpResponse:
    return _change(request, _own(request, number), do_resume)


@require_POST
def call_off(request: UserRequest, number: int) -> HttpResponse:
    return _change(request, _own(request, number), do_call_off)


def _own(request: UserRequest, number: int) -> StagedMove:
    """Return a move that the person could have begun."""
    require(request.user, Right.OPERATE)
    operation = find(number)
    for topic in operation.topics:
        access_topic(request.user, topic, Right.OPERATE)
    return operation


def _change(request: UserRequest, operation: StagedMove, do: Callable[[User, StagedMove], None]) -> HttpResponse:
    return at_once(request, lambda: do(request.user, operation), reverse("placement"))


@require_http_methods(["GET", "HEAD", "POST"])
def cancel(request: UserRequest, number: int) -> HttpResponse:
    operation = _own(request, number)
    context: dict[str, Any] = {"operation": operation}
    with refusable() as answer:
        places = flat(operation.wanted).keys()
        under_way = {place: view for place, view in cluster_gateway().moves.under_way().items() if place in places}
        copied = {(move.topic, move.partition): move.copied_bytes for move in OngoingMove.objects.all()}
        cancel_plan = plan_cancel(under_way, (), copied)
        plan = cancel_plan.as_plan(here.BOOTSTRAP_SERVERS)
        context |= {"plan": plan, "cancel": cancel_plan, "shown": cancel_plan.moves[:MOVES_SHOWN]}
        if request.method == "POST":
            refused = do_cancel(request.user, operation, plan, cancel_plan, Confirmation.parse(request.POST))
            _add_messages(request, refused)
            return redirect("placement")
    return render(request, "staged_moves/cancel.html", context | {"error": answer.error}, status=answer.status)


@require_http_methods(["GET", "HEAD", "POST"])
def throttle(request: UserRequest, number: int) -> HttpResponse:
    operation = _own(request, number)
    typed = request.POST or (request.GET if "throttle" in request.GET else None)
    now = "" if operation.rate is None else f"{operation.rate / 1e6:g}"
    form = ThrottleForm(typed, initial={"throttle": now})
    context: dict[str, Any] = {"operation": operation, "form": form}
    status = 200
    with refusable() as answer:
        if form.is_bound and form.is_valid():
            kind, name = operation.audited
            plan = throttle_plan(kind, name, operation.topics, operation.rate, form.rate, operation.pk)
            context |= {"plan": plan, "fields": [("throttle", form.data.get("throttle", ""))]}
            if is_confirmed(request):
                do_change_throttle(request.user, operation, plan, form.rate, Confirmation.parse(request.POST))
                messages.success(request, "The throttle is changed.")
                return redirect("placement")
        elif form.is_bound:
            status = 422
    page = context | {"error": answer.error}
    return render(request, "staged_moves/throttle.html", page, status=status if status != 200 else answer.status)


def _add_messages(request: UserRequest, refused: Refusals) -> None:
    messages.success(request, "Nothing more begins; its open reassignments go back.")
    for name, why in sorted(refused.items())[:5]:
        messages.warning(request, f"{name} was not called off: {why}")
