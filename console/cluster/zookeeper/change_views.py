"""Planning a change of the ensemble, beginning it, and calling it off."""

from collections.abc import Mapping
from dataclasses import replace

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from console.cluster.zookeeper.actions import do_call_off, do_change_ensemble
from console.cluster.zookeeper.advance import modes_of
from console.cluster.zookeeper.ensemble import EnsembleChangeKind
from console.cluster.zookeeper.models import EnsembleChange
from console.cluster.zookeeper.plan import EnsemblePlan, plan_change, present_from, wanted_count
from console.cluster.zookeeper.servers import managed_numbers, new_servers, process_names
from console.kit.access.rights import Right, require
from console.kit.common.user_request import UserRequest
from console.kit.gateway.connect import zookeeper_gateway
from console.kit.plans.plan import Confirmation, Plan
from console.kit.plans.views import refusable
from console.processes.access import require_operating_all, why_not_all

VERBS = {
    EnsembleChangeKind.GROW: "Grow the ensemble",
    EnsembleChangeKind.SHRINK: "Shrink the ensemble",
    EnsembleChangeKind.REPLACE: "Replace the server",
}
TOO_LATE = "It cannot be called off any more: the members may have changed already."


@require_http_methods(["GET", "HEAD", "POST"])
def change(request: UserRequest) -> HttpResponse:
    require(request.user, Right.OPERATE)
    fields = request.POST if request.method == "POST" else request.GET
    kind, replaced = _requested_change(fields)
    planned = None
    with refusable(503) as answer:
        planned = plan_now(kind, replaced)
        if request.method == "POST":
            require_operating_all(request.user, process_names(planned.joining, planned.leaving))
            do_change_ensemble(request.user, planned, Confirmation.parse(request.POST))
            return redirect("zookeeper")
    context = {
        "planned": planned,
        "plan": _shown_plan(request, planned) if planned else None,
        "verb": VERBS[kind],
        "fields": [("kind", kind.value), ("server", "" if replaced is None else replaced)],
        "error": answer.error,
    }
    return render(request, "zookeeper/change.html", context, status=answer.status)


def _shown_plan(request: UserRequest, planned: EnsemblePlan) -> Plan:
    """Return the plan, with the refusal if the person may not have it carried out."""
    why_not = why_not_all(request.user, process_names(planned.joining, planned.leaving))
    return replace(planned.plan, obstacle=planned.plan.obstacle or why_not)


@require_POST
def call_off(request: UserRequest, number: int) -> HttpResponse:
    """Call the change off; pages are updated by push."""
    require(request.user, Right.OPERATE)
    change = get_object_or_404(EnsembleChange, pk=number)
    require_operating_all(request.user, process_names(change.joining, change.leaving))
    if not do_call_off(request.user, change):
        messages.warning(request, TOO_LATE)
    return HttpResponse("") if request.htmx else redirect("zookeeper")


def _requested_change(fields: Mapping[str, str]) -> tuple[EnsembleChangeKind, int | None]:
    try:
        kind = EnsembleChangeKind(fields.get("kind", "grow"))
    except ValueError:
        raise Http404("An ensemble can grow, shrink, or have a member replaced.") from None
    text = fields.get("server", "")
    number = int(text) if text.isascii() and text.isdecimal() and len(text) <= 3 else None
    return kind, number if kind is EnsembleChangeKind.REPLACE else None


def plan_now(kind: EnsembleChangeKind, replaced: int | None = None) -> EnsemblePlan:
    """Plan the change from the ensemble's present state. Raises GatewayError if it does not answer."""
    config = zookeeper_gateway().ensemble()
    present = present_from(config, modes_of(config), managed_numbers(config), EnsembleChange.open_ones().exists())
    used = {item.number for earlier in EnsembleChange.objects.all() for item in earlier.joining}
    offered = new_servers(config, wanted_count(kind, len(config.members)), used)
    return plan_change(kind, present, tuple(offered), replaced)
