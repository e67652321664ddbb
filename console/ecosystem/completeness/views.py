"""The message audit's pages: which topics agree at every tier, and one topic's windows beside one another."""

from django.http import Http404, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.ecosystem.completeness.models import AuditedTopic
from console.ecosystem.completeness.queries import TITLES, AuditedTopicRow, audited, cells, seen
from console.kit.access.reach import Resource
from console.kit.access.rights import Right, reach_of, require_somewhere
from console.kit.common.clock import now_ms
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.user_request import UserRequest
from console.state.clusters.access import access_topic


@require_safe
def completeness(request: UserRequest) -> HttpResponseBase:
    require_somewhere(request.user, Resource.TOPIC, Right.VIEW)
    reach = reach_of(request.user)
    if wants_csv(request):
        return csv_response(request, "completeness", TITLES, cells(seen(reach), reach))
    return render(request, "completeness/list.html", {"topics": audited(now_ms(), reach)})


@require_safe
def completeness_topic(request: UserRequest, name: str) -> HttpResponseBase:
    topic = access_topic(request.user, name, Right.VIEW)
    audited_topics, reach = AuditedTopic.objects.filter(name=topic.name), reach_of(request.user)
    if not audited_topics:
        raise Http404(f"{name} is not audited.")
    if wants_csv(request):
        return csv_response(request, f"completeness-{name}", TITLES, cells(audited_topics, reach))
    return render(
        request,
        "completeness/topic.html",
        {"topic": topic, "audited": AuditedTopicRow(audited_topics[0], now_ms(), reach)},
    )
