"""What changed, when, and by whom: the page for the cluster, and the tab of a topic."""

from collections.abc import Sequence

from django.core.paginator import Paginator
from django.http import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.kit.access.rights import Right, has_right, reach_of, require
from console.kit.common.clock import now_ms
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.user_request import UserRequest
from console.state.clusters.access import access_topic
from console.state.consumers.access import access_group
from console.state.history.group_changes import changes_near, period_of
from console.state.history.models import TOPIC_KINDS, ChangeKind
from console.state.history.queries import ACTION, HistoryQuery
from console.state.history.timeline import LINES_PER_PAGE, TITLES, HistoryTimeline


@require_safe
def history(request: UserRequest) -> HttpResponseBase:
    require(request.user, Right.VIEW)
    return _page(request, "history/page.html", {}, ChangeKind.choices)


@require_safe
def topic_history(request: UserRequest, name: str) -> HttpResponseBase:
    topic = access_topic(request.user, name, Right.VIEW)
    kinds = [choice for choice in ChangeKind.choices if choice[0] in (*TOPIC_KINDS, ChangeKind.OFFSETS)]
    return _page(request, "history/topic.html", {"topic": topic}, kinds, name)


@require_safe
def group_changes(request: UserRequest, group: str) -> HttpResponseBase:
    """Return the panel of a group's page with changes at about the time when it fell behind."""
    in_reach = access_group(request.user, group, Right.VIEW)
    period = period_of(in_reach, now_ms())
    changes = changes_near(in_reach, period, reach_of(request.user))
    return render(request, "history/partials/group-changes.html", {"period": period, "changes": changes})


def _page(
    request: UserRequest,
    template: str,
    context: dict[str, object],
    kinds: Sequence[tuple[str, str]],
    topic: str = "",
) -> HttpResponseBase:
    """Return the page; users who may see the audit also see actions and who made them."""
    sees_audit = has_right(request.user, Right.ADMINISTER)
    query = HistoryQuery.parse(request.GET, topic, sees_audit=sees_audit)
    timeline = HistoryTimeline(query, reach_of(request.user), sees_audit=sees_audit)
    if wants_csv(request):
        return csv_response(request, "history", TITLES, (entry.row for entry in timeline))
    page = Paginator(timeline, LINES_PER_PAGE).get_page(request.GET.get("page", "1"))
    shown = [*kinds, (ACTION, "console action")] if sees_audit else kinds
    entries = list(page)
    page.object_list = entries
    context |= {"query": query, "page": page, "kinds": shown, "sees_audit": sees_audit}
    return render(request, template, context | {"names_unknown": any(entry.is_by_unknown for entry in entries)})
