"""What every page of a plan does: shows it, takes its confirmation, and tells why it was not carried out.

with refusable() as answer:
    plan = …                                   # from what is true now; may raise GatewayError
    if is_confirmed(request):
        do_change(request.user, plan, Confirmation.parse(request.POST))
        return redirect(…)
return render(request, template, {"plan": plan, "error": answer.error}, status=answer.status)
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django_htmx.http import HttpResponseClientRedirect

from console.kit.common.user_request import UserRequest
from console.kit.gateway.errors import GatewayError, RefusedError
from console.kit.plans.gate import HeldError
from console.kit.plans.plan import NotConfirmedError


class RefusalSentence(str):
    """Why a rule or the cluster said no, so that nothing was changed: no failure, and no red banner."""

    __slots__ = ()
    tone = "warning"


@dataclass
class PlanResult:
    """Why a plan was not made or not carried out, empty if nothing stood against it; and the status of the page."""

    error: str = ""
    status: int = 200


@contextmanager
def refusable(cluster_status: int = 422) -> Iterator[PlanResult]:
    """Turn a refusal in the block into the response, with the plan for the present state.

    `cluster_status`: of the page when the cluster, not the confirmation, is why. Whatever else is raised goes on.
    """
    answer = PlanResult()
    try:
        yield answer
    except NotConfirmedError as refusal:
        answer.error, answer.status = RefusalSentence(refusal), refusal.status
    except RefusedError as refusal:
        answer.error, answer.status = RefusalSentence(refusal), cluster_status
    except GatewayError as failure:
        answer.error, answer.status = str(failure), cluster_status


def is_confirmed(request: UserRequest) -> bool:
    """Return whether the request confirms a plan: a form is posted to see its plan, and again with the plan's
    digest.
    """
    return request.method == "POST" and "digest" in request.POST


def at_once(request: UserRequest, do: Callable[[], object], page: str) -> HttpResponse:
    """Answer a button without a plan; the change arrives by push, and `page` is where the button was.

    What waits from now on is told by whoever keeps it.
    """
    try:
        do()
    except HeldError as held:
        return HttpResponse(str(held), status=held.status)
    except NotConfirmedError as refusal:
        if request.htmx:
            messages.warning(request, str(refusal))
            return HttpResponseClientRedirect(page)
        context = {"title": "Not now", "sentence": str(refusal)}
        return render(request, "web/refusal.html", context, status=refusal.status)
    return HttpResponse("") if request.htmx else redirect(page)
