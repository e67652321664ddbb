"""Leaders and in-sync replicas of a topic's partitions over a span."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.core.paginator import Page, Paginator
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.cluster.charts.spans import ChartQuery
from console.cluster.past.bands import LENGTH, Band, bands, colours, partitions_of
from console.cluster.past.queries import known_of, unseen_within
from console.kit.access.reach import Resource
from console.kit.access.rights import Right, require_on
from console.kit.common.clock import now_ms
from console.kit.common.csv_table import csv_response, wants_csv
from console.state.clusters.models import Topic

BANDS_PER_PAGE = 50
TITLES = ("partition", "from_ms", "until_ms", "leader", "isr")


@require_safe
def bands_of_topic(request: HttpRequest, name: str) -> HttpResponseBase:
    """Show a topic's leaders over time, also of a deleted topic."""
    require_on(request.user, Resource.TOPIC, name, Right.VIEW)
    at_ms = now_ms()
    query = ChartQuery.parse(request.GET, at_ms)
    from_ms, to_ms = query.range_ms(at_ms)
    known = known_of(name, from_ms, to_ms)
    if not known and not Topic.objects.filter(name=name).exists():
        raise Http404(f"There was no topic {name} in that time, and there is none now.")
    if wants_csv(request):
        return csv_response(
            request, f"leaders-{name}", TITLES, _cells(bands(known, from_ms, to_ms, partitions_of(known)))
        )
    page: Page[Any] = Paginator(partitions_of(known), BANDS_PER_PAGE).get_page(request.GET.get("page", "1"))
    drawn = page.object_list = bands(known, from_ms, to_ms, page.object_list)
    scale = LENGTH / (to_ms - from_ms)
    context = {
        "name": name,
        "query": query,
        "page": page,
        "colours": sorted(colours(drawn).items()),
        "drawn": _drawn(drawn),
        "unseen": [
            (
                (max(stretch.from_ms, from_ms) - from_ms) * scale,
                (min(stretch.until_ms, to_ms) - max(stretch.from_ms, from_ms)) * scale,
            )
            for stretch in unseen_within(from_ms, to_ms)
        ],
        "from_ms": from_ms,
        "to_ms": to_ms,
        "is_there_now": Topic.objects.filter(name=name).exists(),
    }
    return render(request, "past/bands.html", context)


def _drawn(bands: Iterable[Band]) -> list[tuple[Band, list[tuple[object, int]]]]:
    """Return bands with the colour of each stretch; 0: no leader."""
    bands = list(bands)
    numbers = colours(bands)
    return [
        (band, [(stretch, 0 if stretch.leader is None else numbers[stretch.leader]) for stretch in band.stretches])
        for band in bands
    ]


def _cells(bands: Iterable[Band]) -> Iterator[tuple[object, ...]]:
    for band in bands:
        for stretch in band.stretches:
            yield (band.partition, stretch.from_ms, stretch.until_ms, stretch.leader, stretch.isr)
