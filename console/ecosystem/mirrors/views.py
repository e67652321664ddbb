"""The page of mirrors: which topics are copied into this cluster, how far, and what hinders."""

from collections.abc import Iterator

from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from console.cluster.charts.views import charts_page
from console.ecosystem.mirrors import charted
from console.ecosystem.mirrors.queries import MirroredTopicRow, flows, seen
from console.kit.access.reach import Resource
from console.kit.access.rights import reach_of, require_somewhere
from console.kit.access.roles import Right
from console.kit.common.clock import now_ms
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.user_request import UserRequest
from console.state.history.models import Change

TITLES = (
    "flow", "cluster", "topic", "partition", "copy", "next_offset", "not_copied", "copied_until_ms", "records", "bytes",
    "skipped", "error", "notice", "said_at_ms",
)  # fmt: skip


@require_safe
def mirrors_page(request: UserRequest) -> HttpResponseBase:
    require_somewhere(request.user, Resource.TOPIC, Right.VIEW)
    reach, at_ms = reach_of(request.user), now_ms()
    if wants_csv(request):
        return csv_response(request, "mirrors", TITLES, _rows(MirroredTopicRow(row, at_ms) for row in seen(reach)))
    return render(request, "mirrors/page.html", {"flows": flows(at_ms, reach)})


@require_safe
def mirror_charts(request: UserRequest, number: int) -> HttpResponseBase:
    """Show the charts of one mirrored topic."""
    require_somewhere(request.user, Resource.TOPIC, Right.VIEW)
    row = get_object_or_404(seen(reach_of(request.user)), pk=number)
    return charts_page(request, "mirrors/charts.html", {"row": row}, charted.panels(row), Change.objects.none())


def _rows(rows: Iterator[MirroredTopicRow]) -> Iterator[tuple[object, ...]]:
    for row in rows:
        for number, part in row.partitions:
            yield (
                row.row.flow, row.row.cluster, row.row.topic, number, row.row.target, part.next_offset, part.lag,
                part.copied_until_ms, part.records, part.bytes, part.skipped, part.error or "", part.notice or "",
                part.at_ms,
            )  # fmt: skip
