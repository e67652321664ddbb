"""Ending what protects a topic: its plan, and a post with the plan's digest."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from console.cluster.protections.actions import do_remove
from console.cluster.protections.plan import removal_plan
from console.cluster.protections.store import named_now, protections_of
from console.kit.access.rights import Right, require
from console.kit.common.user_request import UserRequest
from console.kit.plans.plan import Confirmation
from console.kit.plans.views import is_confirmed, refusable
from console.state.clusters.access import access_topic


@require_http_methods(["GET", "HEAD", "POST"])
def remove(request: UserRequest, name: str, number: int) -> HttpResponse:
    require(request.user, Right.ADMINISTER)
    topic = access_topic(request.user, name, Right.VIEW)
    row = next((protection for protection in protections_of(topic) if protection.pk == number), None)
    if row is None:
        raise Http404("This topic has no such protection any more.")
    plan = removal_plan(topic.name, row.what, row.why, named_now(row))
    with refusable() as answer:
        if is_confirmed(request):
            do_remove(request.user, plan, row, Confirmation.parse(request.POST))
            messages.success(request, f"A protection of {topic.name} was removed.")
            return redirect("topic", topic.name)
    context = {"topic": topic, "row": row, "plan": plan, "error": answer.error}
    return render(request, "protections/remove.html", context, status=answer.status)
