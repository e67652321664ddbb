"""The contents tab of a topic: what was counted when somebody last had it read, and having it read again."""

from django.http import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.cluster.contents.export import TITLES, rows_of
from console.cluster.contents.presenters import ProfilePage
from console.cluster.contents.store import kept
from console.cluster.contents.window import COUNTS, ProfileWindow
from console.cluster.records.masked_source import hidden_from
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.user_request import UserRequest
from console.kit.gateway.errors import GatewayError
from console.state.clusters.access import access_records


@require_safe
def contents(request: UserRequest, name: str) -> HttpResponseBase:
    topic = access_records(request.user, name)
    context: dict[str, object] = {"topic": topic, "counts": COUNTS, "window": ProfileWindow.parse(request.GET)}
    try:
        hidden = hidden_from(request.user, topic.name)
    except GatewayError as refusal:
        return render(request, "contents/page.html", context | {"error": str(refusal)}, status=503)
    counted = kept(topic, hidden)
    if wants_csv(request):
        rows = rows_of(counted.profile) if counted else ()
        return csv_response(request, f"contents-{topic.name}", TITLES, rows)
    context |= {"hidden_parts": hidden, "counted": counted, "shown": ProfilePage(counted.profile) if counted else None}
    return render(request, "contents/page.html", context)
