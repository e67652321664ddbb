"""What was delivered to whom, as Control Center shows it: all readers of all topics, and one topic's past."""

from django.http import Http404, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.cluster.charts.spans import ChartQuery
from console.ecosystem.completeness.delivery_queries import (
    BIN_TITLES,
    READERS_SHOWN,
    ROWS_SHOWN,
    TITLES,
    deliveries,
    readers,
)
from console.kit.access.reach import Resource
from console.kit.access.rights import Right, reach_of, require_somewhere
from console.kit.common.clock import now_ms
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.user_request import UserRequest
from console.state.clusters.access import access_topic

_SEARCH_LENGTH_MAX = 249


@require_safe
def delivery(request: UserRequest) -> HttpResponseBase:
    require_somewhere(request.user, Resource.TOPIC, Right.VIEW)
    search = request.GET.get("search", "")[:_SEARCH_LENGTH_MAX].replace("\0", "")
    series = readers(now_ms(), reach_of(request.user), search)
    if wants_csv(request):
        return csv_response(request, "delivery", TITLES, (row.cells for row in series))
    context = {"readers": series[:ROWS_SHOWN], "count": len(series), "search": search}
    return render(request, "completeness/delivery.html", context)


@require_safe
def topic_delivery(request: UserRequest, name: str) -> HttpResponseBase:
    topic = access_topic(request.user, name, Right.VIEW)
    at_ms, wanted = now_ms(), request.GET.get("reader", "")
    query = ChartQuery.parse(request.GET, at_ms)
    every = readers(at_ms, reach_of(request.user), topic=topic.name)
    chosen = [item for item in every if not wanted or item.column == wanted]
    if wanted and not chosen:
        raise Http404(f"{wanted} tells nothing of {name}.")
    shown = chosen if wants_csv(request) else chosen[:READERS_SHOWN]
    histories = deliveries(shown, topic.name, query, at_ms)
    if wants_csv(request):
        rows = (cells for item in histories for cells in item.cells)
        return csv_response(request, f"delivery-{name}", BIN_TITLES, rows)
    context = {
        "topic": topic,
        "deliveries": histories,
        "readers": every,
        "left_out": len(chosen) - len(shown),
        "reader": wanted,
        "query": query,
    }
    return render(request, "completeness/delivery-topic.html", context)
