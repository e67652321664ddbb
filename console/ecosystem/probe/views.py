"""The probe's page: what clients have seen of the cluster over the last day."""

from django.http import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.ecosystem.probe.access import access_probe
from console.ecosystem.probe.collect import probe_process
from console.ecosystem.probe.queries import last_day
from console.ecosystem.probe.rows import PartRow
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.user_request import UserRequest

TITLES = (
    "part",
    "number",
    "now",
    "written_share",
    "read_share",
    "answered_share",
    "p50_ms",
    "p95_ms",
    "p99_ms",
    "lost",
    "twice",
    "disordered",
)


@require_safe
def probe_page(request: UserRequest) -> HttpResponseBase:
    access_probe(request.user)
    day = last_day()
    if wants_csv(request):
        rows = [_csv("broker", broker) for broker in day.brokers] + [
            _csv("partition", partition) for partition in day.partitions
        ]
        return csv_response(request, "probe", TITLES, rows)
    return render(request, "probe/page.html", {"day": day, "process": probe_process()})


def _csv(part: str, row: PartRow) -> tuple[object, ...]:
    figures = row.figures
    shares = (figures.produce_availability, figures.consume_availability, figures.answer_availability)
    counts = (figures.lost, figures.duplicated, figures.reordered)
    return (part, row.number, row.word, *shares, figures.p50, figures.p95, figures.p99, *counts)
