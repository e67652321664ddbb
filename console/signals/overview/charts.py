"""The charts of the overview, drawn from stored samples."""

from collections.abc import Iterator
from dataclasses import dataclass

from console.cluster.charts.time_chart import Series, TimeChart, time_chart
from console.kit.access.reach import EVERYTHING, Reach, Resource
from console.kit.common.figures import byte_size, grouped, rate
from console.signals.overview.export import StoredSample
from console.signals.overview.samples import newest_sample_ms
from console.state.clusters.models import ClusterSample
from console.state.consumers.access import groups_within
from console.state.consumers.models import ConsumerGroup, LagSample

#: Word in the address → how much of the past; the first is what the page opens with.
SPANS = {"1h": 3_600_000, "6h": 6 * 3_600_000}
SPAN_WORDS = {"1h": "1 hour", "6h": "6 hours"}
#: Groups with a line of their own.
GROUPS_SHOWN = 5
GROUP_NAME_LENGTH_MAX = 40


@dataclass(frozen=True, slots=True)
class TitledChart:
    """`note` says what is counted, `link` where there is more of it."""

    title: str
    note: str
    link: str
    chart: TimeChart

    @property
    def summary(self) -> str:
        """For who cannot see the lines."""
        now = ", ".join(f"{line.name} {line.now}" for line in self.chart.lines)
        return f"{self.title}: highest {self.chart.highest}; now {now}." if now else f"{self.title}: nothing known yet."


def overview_charts(span: str, reach: Reach = EVERYTHING) -> list[TitledChart]:
    """Up to the newest sample; none of them before the first. What only all topics together have is for full reach."""
    newest_ms = newest_sample_ms()
    if not newest_ms:
        return []
    span_ms = SPANS[span]
    samples = list(ClusterSample.objects.filter(at_ms__gte=newest_ms - span_ms).order_by("at_ms"))

    def of(name: str, column: str) -> Series:
        known = ((each.at_ms, getattr(each, column)) for each in samples)
        return Series(name, [(at_ms, value) for at_ms, value in known if value is not None])

    records = time_chart([of("records", "records_per_second")], span_ms, newest_ms, rate)
    sizes = time_chart([of("bytes", "bytes_per_second")], span_ms, newest_ms, byte_size)
    is_limited = reach.is_limited(Resource.TOPIC) or reach.is_limited(Resource.GROUP)
    of_all = [] if is_limited else [of("all groups", "lag")]
    lags = time_chart([*of_all, *_largest_lags(newest_ms - span_ms, reach)], span_ms, newest_ms, _records)
    unread = TitledChart(
        "Records not read", f"by consumer groups; the {GROUPS_SHOWN} furthest behind", "consumers", lags
    )
    if is_limited:
        return [unread]
    return [
        TitledChart("Records in per second", "Kafka's own topics are left out", "topics", records),
        TitledChart("Bytes in per second", "what the leaders' logs grew by, as they are stored", "brokers", sizes),
        unread,
    ]


def sample_rows() -> Iterator[StoredSample]:
    """Return every sample that is kept, the oldest first."""
    columns = ("at_ms", "records_per_second", "bytes_per_second", "lag")
    return ClusterSample.objects.order_by("at_ms").values_list(*columns).iterator()


def _largest_lags(from_ms: int, reach: Reach) -> list[Series]:
    largest = groups_within(reach).filter(lag__gt=0).order_by("-lag", "name")[:GROUPS_SHOWN]
    return [Series(_short(group.name), _lag_points(group, from_ms), holds=True) for group in largest]


def _lag_points(group: ConsumerGroup, from_ms: int) -> list[tuple[int, float]]:
    """With the last one before, which held until the first."""
    samples = LagSample.objects.filter(group=group)
    before = samples.filter(at_ms__lt=from_ms).order_by("-at_ms").values_list("at_ms", "lag")[:1]
    return [*before, *samples.filter(at_ms__gte=from_ms).order_by("at_ms").values_list("at_ms", "lag")]


def _short(name: str) -> str:
    return name if len(name) <= GROUP_NAME_LENGTH_MAX else f"{name[:GROUP_NAME_LENGTH_MAX]}…"


def _records(lag: float | None) -> str:
    return grouped(None if lag is None else round(lag))
