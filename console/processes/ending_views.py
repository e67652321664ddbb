"""Stop, restart and kill: the question before, with what it means now, and the answer to its confirmation."""

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from console.kit.access.rights import Right, reach_of
from console.kit.common.user_request import UserRequest
from console.kit.plans.plan import Confirmation, Plan
from console.processes.access import access_process
from console.processes.actions import do_end_as_planned
from console.processes.consequences import consequence_of
from console.processes.ending import KILL, RESTART, STOP, ending_plan
from console.processes.models import ManagedProcess
from console.processes.planned import planned

_ASKED = {"stop": STOP, "restart": RESTART}


@require_safe
def question(request: UserRequest, name: str, action: str) -> HttpResponse:
    """Show what stopping or restarting would mean, with the button that does it."""
    process = access_process(request.user, name, Right.OPERATE)
    if action not in _ASKED:
        raise Http404(f"There is no question before {action}.")
    context = {
        "process": process,
        "plan": _plan(request, process, _ASKED[action]),
        "verb": f"{action.capitalize()} {name}",
        "address": reverse(f"process-{action}", args=[name]),
    }
    return render(request, "processes/question.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def stop(request: UserRequest, name: str) -> HttpResponse:
    return _end(request, name, STOP, "Stop")


@require_http_methods(["GET", "HEAD", "POST"])
def restart(request: UserRequest, name: str) -> HttpResponse:
    return _end(request, name, RESTART, "Restart")


@require_http_methods(["GET", "HEAD", "POST"])
def kill(request: UserRequest, name: str) -> HttpResponse:
    return _end(request, name, KILL, "Kill")


def _end(request: UserRequest, name: str, action: str, verb: str) -> HttpResponse:
    process = access_process(request.user, name, Right.OPERATE)
    plan = _plan(request, process, action)

    def do(confirmation: Confirmation) -> None:
        do_end_as_planned(request.user, plan, process, confirmation)

    return planned(request, process, plan, f"{verb} {name}", do, "process")


def _plan(request: UserRequest, process: ManagedProcess, action: str) -> Plan:
    """Return the plan, made anew from what is known now, each time it is shown or confirmed."""
    return ending_plan(action, process, consequence_of(process, reach_of(request.user)))
