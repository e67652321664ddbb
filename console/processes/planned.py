"""A page with the plan of a change to one process, and what a confirmation of it is answered."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from console.plans.plan import Confirmation, NotConfirmedError, Plan
from console.processes.models import ManagedProcess


def planned(
    request: HttpRequest,
    process: ManagedProcess,
    plan: Plan,
    verb: str,
    do: Callable[[Confirmation], None],
    then: str,
    drain_address: str = "",
) -> HttpResponse:
    """The plan, or its carrying out and the page `then`. In a question on another page: the question, or nothing."""
    error, status = "", 200
    if request.method == "POST":
        try:
            do(Confirmation.parse(request.POST))
        except NotConfirmedError as refusal:
            error, status = str(refusal), refusal.status
        else:
            done = redirect(then, *([process.name] if then == "process" else []))
            return HttpResponse("") if request.htmx else done
    return shown_plan(request, process, plan, verb, error=error, status=status, drain_address=drain_address)


def shown_plan(
    request: HttpRequest, process: ManagedProcess, plan: Plan, verb: str, *, error="", status=200, drain_address=""
) -> HttpResponse:
    context = {"process": process, "plan": plan, "verb": verb, "error": error, "drain_address": drain_address}
    context |= {"address": request.path, "back": reverse("process", args=[process.name])}
    template = "processes/question.html" if request.htmx else "processes/plan.html"
    return render(request, template, context, status=status)
