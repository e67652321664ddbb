"""Pages that plan a change to a process: add a broker, remove a process; and its restart policy."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from console.kit.access.reach import Resource
from console.kit.access.rights import Right, reach_of, require, require_all_topics, require_on
from console.kit.common.user_request import UserRequest
from console.kit.gateway.errors import GatewayError
from console.kit.plans.models import KeptInverse
from console.kit.plans.plan import Confirmation
from console.kit.plans.views import at_once, is_confirmed, refusable
from console.processes.access import access_process, may_operate_all
from console.processes.actions import do_add_broker, do_remove_as_planned, do_set_restart
from console.processes.addition import addition_plan, name_of
from console.processes.consequences import broker_id_of, meaning_of_removal
from console.processes.forms import AddBrokerForm
from console.processes.kinds import broker as broker_kind
from console.processes.kinds.spec import SpecError
from console.processes.models import ManagedProcess
from console.processes.planned import planned
from console.processes.preconditions import broker_spec_of, preconditions_of, replicas_of, suggested_broker
from console.processes.removal import REMOVE, removal_plan
from console.processes.restarts import Policy

KEPT_SHOWN = 5
BROKERS_ELSEWHERE = (
    "The brokers of this cluster run elsewhere (BARNABAS_BROKERS=0): one that is started here would not join them. "
    "Add a broker where the others run."
)


@require_http_methods(["GET", "HEAD", "POST"])
def add_broker(request: UserRequest) -> HttpResponse:
    """Show the form, then the plan it makes, then add the broker: a post with the plan's digest confirms it."""
    require(request.user, Right.OPERATE)
    if not settings.RUNS_BROKERS:
        raise Http404(BROKERS_ELSEWHERE)
    form = AddBrokerForm(request.POST or None, initial=_initial(request))
    context = {"form": form, "kept": _removed_brokers(request.user), "error": ""}
    if request.method != "POST" or not form.is_valid():
        return render(request, "processes/add-broker.html", context, status=422 if form.errors else 200)
    require_on(request.user, Resource.PROCESS, name_of(form.cleaned_data["broker_id"]), Right.OPERATE)
    try:
        with refusable() as answer:
            spec = broker_kind.check(broker_spec_of(form.cleaned_data))
            plan = addition_plan(spec, preconditions_of(spec))
            context |= {"plan": plan, "fields": form.cleaned_data.items()}
            if is_confirmed(request):
                do_add_broker(request.user, plan, spec, Confirmation.parse(request.POST))
                return redirect("process", name_of(spec["broker_id"]))
    except SpecError as refusal:
        form.add_error(None, str(refusal))
        answer.status = 422
    return render(request, "processes/add-broker.html", context | {"error": answer.error}, status=answer.status)


def _initial(request: UserRequest) -> dict[str, Any]:
    """Return initial values: of a removed broker, if the address names one (?undo=), else of the next one."""
    number = request.GET.get("undo", "")
    kept = next((broker for broker in _removed_brokers(request.user) if str(broker.pk) == number), None)
    if kept is None:
        return suggested_broker()
    spec = kept.values["spec"]
    return {name: spec[name] for name in ("broker_id", "port", "rack")} | {"log_dirs": "\n".join(spec["log_dirs"])}


def _removed_brokers(user: User) -> list[KeptInverse]:
    """Return removed brokers, newest first, without those that are back or that `user` may not bring back."""
    there = set(ManagedProcess.objects.values_list("name", flat=True))
    kept = KeptInverse.objects.filter(action=REMOVE, object_type="process")
    inverses = {inverse.object_name: inverse for inverse in reversed(kept) if inverse.values.get("kind") == "broker"}
    gone = [item for name, item in inverses.items() if name not in there and may_operate_all(user, [name])]
    return gone[:KEPT_SHOWN]


@require_http_methods(["GET", "HEAD", "POST"])
def remove(request: UserRequest, name: str) -> HttpResponse:
    process = access_process(request.user, name, Right.OPERATE)
    if process.kind == ManagedProcess.Kind.STREAM:
        return redirect("stream-remove", name)  # its checkpoint goes with it, which is for administrators
    if process.kind == ManagedProcess.Kind.BROKER:
        require_all_topics(request.user)
    holds, unknown = [], ""
    try:
        holds = replicas_of(broker_id_of(process)) if process.kind == ManagedProcess.Kind.BROKER else []
    except GatewayError as error:
        unknown = str(error)
    plan = removal_plan(process, holds, unknown, meaning_of_removal(process, reach_of(request.user)))

    def do(confirmation: Confirmation) -> None:
        do_remove_as_planned(request.user, plan, process, confirmation)
        messages.success(request, f"{name} is being removed.")

    drain = reverse("decommission", args=[name]) if process.kind == ManagedProcess.Kind.BROKER else ""
    return planned(request, process, plan, f"Remove {name}", do, "processes", drain)


@require_POST
def restart_always(request: UserRequest, name: str) -> HttpResponse:
    return _set_restart(request, name, Policy.ALWAYS)


@require_POST
def restart_never(request: UserRequest, name: str) -> HttpResponse:
    return _set_restart(request, name, Policy.NEVER)


def _set_restart(request: UserRequest, name: str, policy: Policy) -> HttpResponse:
    process = access_process(request.user, name, Right.OPERATE)
    return at_once(request, lambda: do_set_restart(request.user, process, policy), reverse("process", args=[name]))
