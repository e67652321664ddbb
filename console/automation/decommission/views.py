"""The page of a decommission: its plan before it begins, how far it is afterwards."""

from django.conf import settings
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from console.automation.decommission.actions import do_begin
from console.automation.decommission.models import Decommission
from console.automation.decommission.plan import decommission_plan
from console.automation.decommission.queries import ended_decommission, open_decommission
from console.cluster.placement.forms import ThrottleForm
from console.cluster.placement.moving import drain_proposal, planned
from console.kit.access.reach import Resource
from console.kit.access.rights import Right, reach_of, require_all_topics, require_on
from console.kit.common.user_request import UserRequest
from console.kit.operations.actions import do_call_off, do_resume
from console.kit.plans.plan import Confirmation
from console.kit.plans.views import at_once, refusable
from console.processes.access import access_process
from console.processes.consequences import broker_id_of, meaning_of_removal
from console.processes.models import ManagedProcess

#: Partitions listed one by one on the plan.
MOVES_SHOWN = 200


@require_http_methods(["GET", "HEAD", "POST"])
def decommission(request: UserRequest, name: str) -> HttpResponse:
    """Show and begin a decommission, which is followed on the page of the process; its end is reported here."""
    _require(request, name)
    decommission = open_decommission(name) or ended_decommission(name)
    context: dict[str, object] = {"name": name, "operation": decommission, "error": ""}
    if decommission is not None:
        return render(request, "decommission/page.html", context)
    process = _broker(request, name)
    with refusable() as answer:
        if _plan(request, process, context):
            return redirect("decommission", name)
    return render(request, "decommission/page.html", context | {"error": answer.error}, status=answer.status)


def _plan(request: UserRequest, process: ManagedProcess, context: dict[str, object]) -> bool:
    """Put the plan into `context`; True if it was confirmed and has begun. Raises GatewayError, NotConfirmedError."""
    form = ThrottleForm(request.POST or request.GET)
    rate = form.rate if form.is_valid() else None
    proposal = drain_proposal(broker_id_of(process))
    move = planned(proposal.targets, rate)
    offices = meaning_of_removal(process, reach_of(request.user))
    plan = decommission_plan(process, move, proposal.stuck, settings.BOOTSTRAP_SERVERS, offices)
    context |= {"form": form, "plan": plan, "move": move, "shown": move.moves[:MOVES_SHOWN], "is_cut": proposal.is_cut}
    context["hidden_count"] = max(0, len(move.moves) - MOVES_SHOWN)
    context["fields"] = [("throttle", form.data.get("throttle", ""))]
    if request.method != "POST":
        return False
    do_begin(request.user, plan, move, process, Confirmation.parse(request.POST))
    return True


def _require(request: UserRequest, name: str) -> None:
    require_on(request.user, Resource.PROCESS, name, Right.OPERATE)
    require_all_topics(request.user)


def _broker(request: UserRequest, name: str) -> ManagedProcess:
    _require(request, name)
    process = access_process(request.user, name, Right.OPERATE)
    if process.kind != ManagedProcess.Kind.BROKER:
        raise Http404(f"{name} is no broker.")
    return process


@require_POST
def resume(request: UserRequest, name: str) -> HttpResponse:
    decommission = _open(request, name)
    return at_once(request, lambda: do_resume(request.user, decommission), reverse("decommission", args=[name]))


@require_POST
def call_off(request: UserRequest, name: str) -> HttpResponse:
    decommission = _open(request, name)
    return at_once(request, lambda: do_call_off(request.user, decommission), reverse("decommission", args=[name]))


def _open(request: UserRequest, name: str) -> Decommission:
    _broker(request, name)
    decommission = open_decommission(name)
    if decommission is None:
        raise Http404(f"{name} is not leaving.")
    return decommission
