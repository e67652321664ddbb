"""A page with the plan of a change to one process, and what a confirmation of it is answered."""

from collections.abc import Callable

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from console.kit.common.user_request import UserRequest
from console.kit.plans.plan import Confirmation, Plan
from console.kit.plans.views import refusable
from console.processes.models import ManagedProcess


def planned(
    request: UserRequest,
    process: ManagedProcess,
    plan: Plan,
    verb: str,
    do: Callable[[Confirmation], None],
    then: str,
    drain_address: str = "",
) -> HttpResponse:
    """Show the plan, or carry it out and show the page `then`. For a dialog on another page only the dialog or nothing
    is returned.
    """
    with refusable() as answer:
        if request.method == "POST":
            do(Confirmation.parse(request.POST))
            done = redirect(then, *([process.name] if then == "process" else []))
            return HttpResponse("") if request.htmx else done
    context = {"process": process, "plan": plan, "verb": verb, "error": answer.error, "drain_address": drain_address}
    context |= {"address": request.path, "back": reverse("process", args=[process.name])}
    template = "processes/question.html" if request.htmx else "processes/plan.html"
    return render(request, template, context, status=answer.status)
