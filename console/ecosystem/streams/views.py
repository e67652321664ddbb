"""The list of stream jobs and the page of one: how fast, how far behind, and why."""

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.cluster.charts.views import charts_page
from console.ecosystem.streams import charted
from console.ecosystem.streams.checkpoint_plan import losses
from console.ecosystem.streams.presenters import ShownStream
from console.ecosystem.streams.queries import (
    access_stream,
    access_streams,
    log_starts,
    positions_of,
    shown_stream,
)
from console.kit.access.rights import reach_of
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.user_request import UserRequest
from console.processes.access import log_context, why_no_log
from console.processes.log_files import TAIL_LINES
from console.state.history.models import ChangeKind
from console.state.history.queries import changes_within

_TITLES = ("stream", "job", "host", "state", "arrived_per_second", "processed_per_second", "lag", "pace", "watermark")


@require_safe
def stream_list(request: UserRequest) -> HttpResponseBase:
    streams = access_streams(request.user)
    if wants_csv(request):
        return csv_response(request, "streams", _TITLES, (_as_row(stream) for stream in streams))
    return render(request, "streams/list.html", {"streams": streams})


def _as_row(stream: ShownStream) -> tuple[object, ...]:
    process, pace = stream.process, stream.pace
    seen = (stream.arrived, stream.processed, stream.facts.get("lag"), str(pace.pace), stream.watermark)
    return (process.name, stream.job, process.host, process.state, *seen)


@require_safe
def stream_page(request: UserRequest, name: str) -> HttpResponse:
    process = access_stream(request.user, name)
    stream = shown_stream(process, quotes=not why_no_log(request.user, process))
    places = positions_of(process) if process.pid is None else None
    context = {
        "stream": stream,
        "shown": stream.shown,
        "lost": losses(places, log_starts({topic for topic, _ in places or ()})),
        "main_panels": charted.panels(name)[:2],
        "tail_lines": TAIL_LINES,
        **log_context(request.user, process),
    }
    return render(request, "streams/page.html", context)


@require_safe
def stream_charts(request: UserRequest, name: str) -> HttpResponseBase:
    process = access_stream(request.user, name)
    changes = changes_within(reach_of(request.user)).filter(object_name=name, kind=ChangeKind.PROCESS)
    return charts_page(request, "streams/charts.html", {"stream": shown_stream(process)}, charted.panels(name), changes)
