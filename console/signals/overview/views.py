"""The overview page and the machine-readable addresses beside it."""

from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from console.kit.access.reach import Reach, Resource
from console.kit.access.rights import Right, has_right, reach_of, require
from console.kit.audit.models import AuditEvent
from console.kit.audit.record import cluster_audited
from console.kit.common.clock import now_ms
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.time_range import TimeRange
from console.signals.overview.charts import DEFAULT, LENGTHS, overview_charts, sample_rows
from console.signals.overview.export import SAMPLE_TITLES, sample_cells
from console.signals.overview.exposition import ClusterMetrics
from console.signals.overview.queries import overview_facts
from console.state.clusters.queries import cluster_state

RECENT_ACTIONS = 6


@require_safe
def overview(request: HttpRequest) -> HttpResponseBase:
    require(request.user, Right.VIEW)
    reach = reach_of(request.user)
    if wants_csv(request):
        _require_all_topics(reach)
        return csv_response(request, "cluster", SAMPLE_TITLES, sample_cells(sample_rows()))
    chosen = TimeRange.parse(request.GET, now_ms(), LENGTHS, DEFAULT)
    context = {"range": chosen, "charts": overview_charts(chosen, reach)}
    if has_right(request.user, Right.ADMINISTER):
        context["recent_actions"] = AuditEvent.objects.filter(cluster=cluster_audited())[:RECENT_ACTIONS]
    return render(request, "overview/overview.html", overview_facts(reach) | context)


def _require_all_topics(reach: Reach) -> None:
    if reach.is_limited(Resource.TOPIC) or reach.is_limited(Resource.GROUP):
        raise PermissionDenied("These are sums over all topics and groups, and your rights do not reach all of them.")


@login_not_required
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Return 200 while this process can work; a silent collector is mentioned, but is not this process's fault."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        is_silent = cluster_state().is_collector_silent
    except DatabaseError:
        return JsonResponse({"status": "failing", "database": "unreachable"}, status=503)
    return JsonResponse({"status": "ok", "database": "ok", "collector": "silent" if is_silent else "ok"})


@login_not_required
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(ClusterMetrics())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
