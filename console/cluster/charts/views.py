"""Charts of the cluster, a topic, a broker, a consumer group, a ZooKeeper server, a process."""

from collections.abc import Sequence

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from console.cluster.brokers.latency import WAITING
from console.cluster.brokers.queries import report_of
from console.cluster.charts import table
from console.cluster.charts.drawing import draw
from console.cluster.charts.panels import (
    Panel,
    broker_panels,
    cluster_panels,
    group_panels,
    process_panels,
    server_panels,
    topic_panels,
)
from console.cluster.charts.spans import ChartQuery
from console.kit.access.reach import Resource
from console.kit.access.rights import Right, reach_of, require
from console.kit.common.clock import now_ms
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.user_request import UserRequest
from console.processes.access import access_process
from console.processes.presenters import ManagedProcessRow
from console.state.clusters.access import access_broker, access_topic
from console.state.clusters.queries import cluster_state
from console.state.consumers.access import access_group, reads_beyond
from console.state.history.configuration import ALL_BROKERS
from console.state.history.models import Change, ChangeKind
from console.state.history.queries import GROUP_KINDS, changes_of_topic, changes_within

_OF_ALL = "These are sums over all topics and groups, and your rights do not reach all of them."
_OF_CLUSTER = (ChangeKind.BROKER, ChangeKind.CONTROLLER, ChangeKind.UNCLEAN, ChangeKind.BROKER_SETTINGS)


@require_safe
def cluster_charts(request: UserRequest) -> HttpResponseBase:
    require(request.user, Right.VIEW)
    reach = reach_of(request.user)
    if reach.is_limited(Resource.TOPIC) or reach.is_limited(Resource.GROUP):
        raise PermissionDenied(_OF_ALL)
    return charts_page(
        request, "charts/cluster.html", {}, cluster_panels(), changes_within(reach).filter(kind__in=_OF_CLUSTER)
    )


@require_safe
def topic_charts(request: UserRequest, name: str) -> HttpResponseBase:
    topic = access_topic(request.user, name, Right.VIEW)
    changes = changes_within(reach_of(request.user)).filter(changes_of_topic(name))
    return charts_page(request, "charts/topic.html", {"topic": topic}, topic_panels(name), changes)


@require_safe
def broker_charts(request: UserRequest, broker_id: int) -> HttpResponseBase:
    broker = access_broker(request.user, broker_id, Right.VIEW)
    apis = [request["api"] for request in report_of(broker_id).requests if request["api"] not in WAITING]
    changes = changes_within(reach_of(request.user)).filter(
        object_name__in=(f"broker-{broker_id}", ALL_BROKERS), kind__in=(ChangeKind.BROKER, ChangeKind.BROKER_SETTINGS)
    )
    return charts_page(request, "charts/broker.html", {"broker": broker}, broker_panels(broker_id, apis), changes)


@require_safe
def group_charts(request: UserRequest, group: str) -> HttpResponseBase:
    consumer_group = access_group(request.user, group, Right.VIEW)
    if reads_beyond(consumer_group, reach_of(request.user)):
        raise PermissionDenied(
            "This group also reads topics that your rights do not reach: its sums hold their figures."
        )
    changes = changes_within(reach_of(request.user)).filter(object_name=group, kind__in=GROUP_KINDS)
    return charts_page(request, "charts/group.html", {"group": consumer_group}, group_panels(group), changes)


@require_safe
def server_charts(request: UserRequest, address: str) -> HttpResponseBase:
    require(request.user, Right.VIEW)
    if address not in {item["address"] for item in cluster_state().zookeeper}:
        raise Http404(f"No ZooKeeper server {address} is known.")
    return charts_page(
        request, "charts/server.html", {"address": address}, server_panels(address), Change.objects.none()
    )


@require_safe
def process_charts(request: UserRequest, name: str) -> HttpResponseBase:
    process = access_process(request.user, name)
    reach = reach_of(request.user)
    context: dict[str, object] = {"shown": ManagedProcessRow(process, timezone.now(), reach)}
    changes = changes_within(reach).filter(object_name=name, kind=ChangeKind.PROCESS)
    return charts_page(request, "charts/process.html", context, process_panels(name), changes)


def charts_page(
    request: UserRequest,
    template: str,
    context: dict[str, object],
    panels: Sequence[Panel],
    changes: QuerySet[Change],
) -> HttpResponseBase:
    """Render the charts over the requested span; the caller has checked the person's rights."""
    at_ms = now_ms()
    query = ChartQuery.parse(request.GET, at_ms)
    if wants_csv(request):
        return csv_response(request, "charts", table.TITLES, table.rows(panels, query, at_ms))
    from_ms, to_ms = query.range_ms(at_ms)
    charts = draw(panels, changes.filter(at_ms__gte=from_ms, at_ms__lte=to_ms), query, at_ms)
    return render(request, template, {"query": query, "charts": charts, **context})
