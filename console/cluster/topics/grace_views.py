"""The page of deletions that are planned, and calling them off."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from console.cluster.topics.grace_actions import do_call_off
from console.cluster.topics.grace_plans import calling_off
from console.cluster.topics.grace_queries import open_deletions_within, planned_within
from console.cluster.topics.many import TOPICS_MAX, counted
from console.cluster.topics.models import OPEN
from console.kit.access.reach import Resource
from console.kit.access.rights import Right, reach_of, require_on, require_somewhere
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.user_request import UserRequest
from console.kit.gateway.errors import RefusedError
from console.kit.plans.plan import Confirmation
from console.kit.plans.views import refusable

ROWS_PER_PAGE, OVER_SHOWN = 100, 50
TITLES = ("topic", "state", "due", "planned_by", "planned_at", "records_then", "bytes_then", "decided_by", "outcome")


@require_safe
def planned(request: UserRequest) -> HttpResponseBase:
    require_somewhere(request.user, Resource.TOPIC, Right.VIEW)
    reach = reach_of(request.user)
    if wants_csv(request):
        rows = (
            (r.topic, r.state, r.due_at, r.actor_name, r.at, r.record_count, r.size_bytes, r.decided_by, r.outcome)
            for r in planned_within(reach).iterator()
        )
        return csv_response(request, "planned-deletions", TITLES, rows)
    page = Paginator(open_deletions_within(reach), ROWS_PER_PAGE).get_page(request.GET.get("page", "1")[:8])
    over = planned_within(reach).exclude(state__in=OPEN).order_by("-decided_at")[:OVER_SHOWN]
    return render(request, "topics/planned.html", {"page": page, "over": over})


@require_http_methods(["GET", "HEAD", "POST"])
def call_off(request: UserRequest) -> HttpResponse:
    """Call off deletions; `topic`, as often as wanted."""
    names = (request.POST if request.method == "POST" else request.GET).getlist("topic")[:TOPICS_MAX]
    require_somewhere(request.user, Resource.TOPIC, Right.OPERATE)
    for name in names:
        require_on(request.user, Resource.TOPIC, name, Right.OPERATE)
    context: dict[str, object] = {"fields": [("topic", name) for name in names]}
    with refusable() as answer:
        if not names:
            raise RefusedError("INVALID_REQUEST", "No topic was chosen.")
        plan = context["plan"] = calling_off(names)
        if request.method == "POST":
            do_call_off(request.user, plan, Confirmation.parse(request.POST))
            stay = plan.topics
            words = f"Topic {stay[0]} stays" if len(stay) == 1 else f"{counted(len(stay))} stay"
            messages.success(request, f"{words}: the deletion was called off.")
            return redirect("topic", stay[0]) if len(stay) == 1 else redirect("topics-planned")
    return render(request, "topics/call-off.html", context | {"error": answer.error}, status=answer.status)
