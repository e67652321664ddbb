"""The charts of the overview, drawn from stored samples."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from console.cluster.charts.colours import TOTAL
from console.cluster.charts.drawing import DrawnPanel
from console.cluster.charts.measures import GROUP
from console.cluster.charts.panels import Panel, in_count
from console.cluster.charts.queries import colours_of
from console.cluster.charts.time_chart import ChartSeries, time_chart
from console.kit.access.reach import EVERYTHING, Reach, Resource
from console.kit.common.figures import byte_size, rate
from console.kit.common.time_range import TimeRange, length_ms
from console.signals.overview.export import StoredSample
from console.signals.overview.samples import KEPT_MS, newest_sample_ms
from console.state.clusters.models import ClusterSample
from console.state.consumers.access import groups_within
from console.state.consumers.models import ConsumerGroup, LagSample

#: What the page offers; these are drawn again with each sample.
LENGTHS = {"1h": "1 h", "6h": "6 h"}
DEFAULT = "1h"
RANGE_MS_MIN = length_ms("5m")
#: Groups with a line of their own.
GROUPS_SHOWN = 5
GROUP_NAME_LENGTH_MAX = 40


def overview_charts(chosen: TimeRange, reach: Reach = EVERYTHING) -> list[DrawnPanel]:
    """Return the charts up to the newest sample or the range's end. Those over all topics need full reach."""
    newest_ms = newest_sample_ms()
    if not newest_ms:
        return []
    to_ms = newest_ms if chosen.end_ms is None else min(chosen.end_ms, newest_ms)
    is_length = chosen.last or chosen.start_ms is None
    from_ms = to_ms - length_ms(chosen.last or DEFAULT) if is_length else chosen.start_ms or 0
    from_ms = min(max(from_ms, newest_ms - KEPT_MS), to_ms - RANGE_MS_MIN)
    samples = list(ClusterSample.objects.filter(at_ms__gte=from_ms, at_ms__lte=to_ms).order_by("at_ms"))

    def drawn(title: str, note: str, link: str, say: Callable[[float | None], str], *lines: ChartSeries) -> DrawnPanel:
        return DrawnPanel(Panel(title, note, say, ()), time_chart(lines, to_ms - from_ms, to_ms, say), (), link)

    def of(name: str, column: str) -> ChartSeries:
        known = ((sample.at_ms, getattr(sample, column)) for sample in samples)
        return ChartSeries(name, [(at_ms, value) for at_ms, value in known if value is not None])

    is_limited = reach.is_limited(Resource.TOPIC) or reach.is_limited(Resource.GROUP)
    of_all = [] if is_limited else [replace(of("all groups", "lag"), colour=TOTAL)]
    lags = [*of_all, *_largest_lags(from_ms, to_ms, reach)]
    note = f"by consumer groups; the {GROUPS_SHOWN} furthest behind"
    unread = drawn("Records not read", note, "consumers", in_count, *lags)
    if is_limited:
        return [unread]
    records, sizes = of("records", "records_per_second"), of("bytes", "bytes_per_second")
    return [
        drawn("Records in per second", "Kafka's own topics are left out", "topics", rate, records),
        drawn("Bytes in per second", "what the leaders' logs grew by, as they are stored", "brokers", byte_size, sizes),
        unread,
    ]


def sample_rows() -> Iterator[StoredSample]:
    """Return every sample that is kept, the oldest first."""
    columns = ("at_ms", "records_per_second", "bytes_per_second", "lag")
    return ClusterSample.objects.order_by("at_ms").values_list(*columns).iterator()


def _largest_lags(from_ms: int, to_ms: int, reach: Reach) -> list[ChartSeries]:
    largest = list(groups_within(reach).filter(lag__gt=0).order_by("-lag", "name")[:GROUPS_SHOWN])
    colours = colours_of(GROUP, [group.name for group in largest])
    return [
        ChartSeries(_short(group.name), _lag_points(group, from_ms, to_ms), holds=True, colour=colours[group.name])
        for group in largest
    ]


def _lag_points(group: ConsumerGroup, from_ms: int, to_ms: int) -> list[tuple[int, float | None]]:
    """With the last one before, which held until the first; None: the lag is not known from there on."""
    samples = LagSample.objects.filter(group=group, at_ms__lte=to_ms)
    before = samples.filter(at_ms__lt=from_ms).order_by("-at_ms").values_list("at_ms", "lag")[:1]
    return [
        *before,
        *samples.filter(at_ms__gte=from_ms).order_by("at_ms").values_list("at_ms", "lag"),
    ]


def _short(name: str) -> str:
    return name if len(name) <= GROUP_NAME_LENGTH_MAX else f"{name[:GROUP_NAME_LENGTH_MAX]}…"
