"""What was true at a moment: the cluster, and one topic beside what it is now."""

from django.core.paginator import Paginator
from django.http import Http404, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.cluster.past.queries import (
    BROKER_TITLES,
    GROUP_TITLES,
    PARTITION_TITLES,
    ROWS_PER_PAGE,
    TOPIC_TITLES,
    PastQuery,
    broker_cells,
    brokers_then,
    group_cells,
    groups_then,
    partition_cells,
    topic_cells,
    topic_page,
    topic_pair,
    topics_then,
    totals,
    unseen_at,
    with_lags,
)
from console.kit.access.reach import Resource
from console.kit.access.rights import Right, reach_of, require, require_on
from console.kit.common.clock import now_ms
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.user_request import UserRequest
from console.state.history.queries import changes_within, redacted

#: Of history, on each side of the moment.
CHANGES_BESIDE = 4


@require_safe
def past(request: UserRequest) -> HttpResponseBase:
    require(request.user, Right.VIEW)
    query, reach = PastQuery.parse(request.GET, now_ms()), reach_of(request.user)
    table = request.GET.get("table", "topics")
    if wants_csv(request):
        return _file(request, query, table)
    groups = Paginator(groups_then(query, reach), ROWS_PER_PAGE).get_page(request.GET.get("groups", "1"))
    groups.object_list = with_lags(groups.object_list, query, reach)
    context = {
        "query": query,
        "totals": totals(query, reach),
        "unseen": unseen_at(query.at_ms),
        "brokers": brokers_then(query),
        "page": topic_page(query, reach, request.GET.get("page", "1")),
        "groups": groups,
        **_surroundings(request, query),
    }
    return render(request, "past/partials/then.html" if request.htmx else "past/page.html", context)


@require_safe
def past_topic(request: UserRequest, name: str) -> HttpResponseBase:
    """Show a topic as it was, also a deleted one."""
    require_on(request.user, Resource.TOPIC, name, Right.VIEW)
    query = PastQuery.parse(request.GET, now_ms())
    pair = topic_pair(name, query)
    if pair.row is None and not pair.is_there_now:
        raise Http404(f"There was no topic {name} then, and there is none now.")
    if wants_csv(request):
        return csv_response(request, f"{name}-then", PARTITION_TITLES, partition_cells(pair.partitions))
    context = {"query": query, "name": name, "pair": pair, "unseen": unseen_at(query.at_ms)}
    return render(request, "past/topic.html", context)


def _file(request: UserRequest, query: PastQuery, table: str) -> HttpResponseBase:
    reach = reach_of(request.user)
    if table == "groups":
        rows = with_lags(groups_then(query, reach), query, reach)
        return csv_response(request, "groups-then", GROUP_TITLES, group_cells(rows))
    if table == "brokers":
        return csv_response(request, "brokers-then", BROKER_TITLES, broker_cells(brokers_then(query)))
    return csv_response(request, "topics-then", TOPIC_TITLES, topic_cells(topics_then(query, reach)))


def _surroundings(request: UserRequest, query: PastQuery) -> dict[str, object]:
    reach = reach_of(request.user)
    changes = changes_within(reach)
    before = changes.filter(at_ms__lte=query.at_ms)[:CHANGES_BESIDE]
    after = changes.filter(at_ms__gt=query.at_ms).order_by("at_ms", "id")[:CHANGES_BESIDE]
    return {"changes": [redacted(item, reach) for item in (*reversed(after), *before)]}
