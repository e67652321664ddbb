"""What happened, when: the page for the cluster, and the tab of a topic."""

from collections.abc import Sequence

from django.http import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.kit.access.rights import Right, reach_of, require
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.user_request import UserRequest
from console.state.clusters.access import access_topic
from console.state.history.models import Kind
from console.state.history.queries import TITLES, TOPIC_KINDS, HistoryQuery, change_page, change_rows, chosen_changes


@require_safe
def history(request: UserRequest) -> HttpResponseBase:
    require(request.user, Right.VIEW)
    return _page(request, HistoryQuery.parse(request.GET), "history/page.html", {}, Kind.choices)


@require_safe
def topic_history(request: UserRequest, name: str) -> HttpResponseBase:
    topic = access_topic(request.user, name, Right.VIEW)
    kinds = [each for each in Kind.choices if each[0] in TOPIC_KINDS]
    return _page(request, HistoryQuery.parse(request.GET, name), "history/topic.html", {"topic": topic}, kinds)


def _page(
    request: UserRequest,
    query: HistoryQuery,
    template: str,
    context: dict[str, object],
    kinds: Sequence[tuple[str, str]],
) -> HttpResponseBase:
    reach = reach_of(request.user)
    if wants_csv(request):
        return csv_response(request, "history", TITLES, change_rows(chosen_changes(query, reach).iterator(), reach))
    page = change_page(query, request.GET.get("page", "1"), reach)
    return render(request, template, {"query": query, "page": page, "kinds": kinds, **context})
