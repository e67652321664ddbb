"""What the pages of deliveries show, of those a person may see: readers, the worst first, and one topic's past."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Concat

from broker.audit.increment import AuditTier
from broker.audit.states import WindowState
from console.cluster.charts.spans import ChartQuery
from console.cluster.charts.tiers import ChartTier
from console.ecosystem.completeness.models import AuditedTopic, DeliveryRow, DeliverySeries
from console.ecosystem.completeness.points import TIERS, Points, unpack
from console.ecosystem.completeness.queries import SINK_GROUP
from console.ecosystem.completeness.step_chart import LatencyChart, StepChart, latency_chart, step_chart
from console.ecosystem.completeness.summaries import READERS, begins_for, expected_among, width_of
from console.ecosystem.completeness.summary import Bin, Summary, bins, summary
from console.kit.access.filters import within
from console.kit.access.reach import EVERYTHING, Reach, Resource

#: Readers speak every ten seconds, their sums are written once a minute at the latest.
SILENT_AFTER_MS = 240_000
READERS_SHOWN, ROWS_SHOWN, TROUBLES_SHOWN, BINS_MAX = 6, 200, 20, 150
TITLES = (
    "topic", "tier", "reader", "state", "expected", "received", "again", "aside", "delivered_percent", "p50_ms",
    "p95_ms", "p99_ms", "highest_ms", "ahead_of_clock", "lost_windows", "last_heard_ms",
)  # fmt: skip
BIN_TITLES = (
    "tier", "reader", "from_ms", "width_ms", "expected", "received", "missing", "again", "aside", "settled", "p50_ms",
    "p95_ms", "p99_ms", "highest_ms", "ahead_of_clock",
)  # fmt: skip
_MINUTE = 60_000
_WIDTHS = tuple(number * _MINUTE for number in (1, 2, 5, 10, 20, 30, 60, 120, 360, 720, 1_440))
_TONES = {"lost": "critical", "reads again": "warning", "behind": "warning", "delivered": "ok"}


@dataclass(frozen=True, slots=True)
class ReaderRow:
    """`lost`: windows of which the verdict knows that something is missing at this reader."""

    row: DeliverySeries
    lost: int
    now_ms: int

    @property
    def column(self) -> str:
        """The column's name in the verdict."""
        return f"{self.row.tier} {self.row.reader}"

    @property
    def word(self) -> str:
        if self.lost:
            return "lost"
        if self.now_ms - self.row.at_ms > SILENT_AFTER_MS:
            return "not told now"
        if self.row.delivered is None:
            return "nothing to compare"
        if self.row.again:
            return "reads again"
        return "delivered" if self.row.delivered >= 100 else "behind"

    @property
    def tone(self) -> str:
        return _TONES.get(self.word, "plain")

    @property
    def delivered(self) -> str:
        """The delivered percentage; never 100 % while a record is missing."""
        share = self.row.delivered
        if share is None:
            return "–"
        return "100 %" if share >= 100 else f"{min(share, 99.99):.{2 if share > 99 else 1}f} %"

    @property
    def rank(self) -> tuple[object, ...]:
        """Return them, worst first."""
        row, silent = self.row, self.word == "not told now"
        share = 101.0 if row.delivered is None else row.delivered
        return (not self.lost, silent, share, -(row.again or 0), -(row.p99_ms or 0), row.topic, row.reader)

    @property
    def cells(self) -> tuple[object, ...]:
        row = self.row
        return (
            row.topic, row.tier, row.reader, self.word, row.expected, row.received, row.again, row.aside, row.delivered,
            row.p50_ms, row.p95_ms, row.p99_ms, row.most_ms, row.early, self.lost, row.at_ms,
        )  # fmt: skip


def seen_series(reach: Reach = EVERYTHING) -> QuerySet[DeliverySeries]:
    """Return the series whose topic, group and source are within reach."""
    series = DeliverySeries.objects.alias(group=Concat(Value(SINK_GROUP), F("reader")))
    consumed = Q(tier=AuditTier.CONSUMED) & within(reach, Resource.GROUP, "reader")
    sunk = Q(tier=AuditTier.SUNK) & within(reach, Resource.GROUP, "group")
    others = ~Q(tier__in=(AuditTier.CONSUMED, AuditTier.SUNK))
    return series.filter(within(reach, Resource.TOPIC, "topic")).filter(consumed | sunk | others)


def readers(now_ms: int, reach: Reach = EVERYTHING, search: str = "", topic: str = "") -> list[ReaderRow]:
    series = seen_series(reach).filter(tier__in=READERS)
    if search:
        series = series.filter(Q(topic__icontains=search) | Q(reader__icontains=search))
    if topic:
        series = series.filter(topic=topic)
    lost = _lost(topic)
    rows = [
        ReaderRow(finding, lost.get((finding.topic, f"{finding.tier} {finding.reader}"), 0), now_ms)
        for finding in series
    ]
    return sorted(rows, key=lambda row: row.rank)


def _lost(topic: str) -> dict[tuple[str, str], int]:
    audited = AuditedTopic.objects.filter(finding_count__gt=0)
    counts: dict[tuple[str, str], int] = {}
    for name, findings in (audited.filter(name=topic) if topic else audited).values_list("name", "findings"):
        for _, column, state, *_ in findings:
            if state == WindowState.MISSING:
                counts[name, column] = counts.get((name, column), 0) + 1
    return counts


@dataclass(frozen=True, slots=True)
class DeliveryPast:
    """One reader's past of one topic: `summary` of its settled bins, `findings` of the verdict about the reader."""

    reader: ReaderRow
    bins: tuple[Bin, ...]
    width_ms: int
    summary: Summary
    steps: StepChart
    latency: LatencyChart
    findings: list[list[object]]

    @property
    def troubles(self) -> list[Bin]:
        """Return them, newest first."""
        return [bin_ for bin_ in reversed(self.bins) if (bin_.is_settled and bin_.missing) or bin_.over]

    @property
    def troubles_shown(self) -> list[Bin]:
        return self.troubles[:TROUBLES_SHOWN]

    @property
    def has_latency(self) -> bool:
        return bool(self.latency.columns)

    @property
    def cells(self) -> Iterator[tuple[object, ...]]:
        row = self.reader.row
        for bin_ in self.bins:
            shares = [bin_.point.latency.percentile(share) for share in (0.5, 0.95, 0.99)]
            highest = bin_.point.latency.most_ms if shares[0] is not None else None
            yield (
                row.tier, row.reader, bin_.at_ms, self.width_ms, bin_.expected, bin_.received, bin_.missing, bin_.over,
                bin_.point.put_aside, bin_.is_settled, *shares, highest, bin_.point.latency.early,
            )  # fmt: skip


def deliveries(rows: Sequence[ReaderRow], topic: str, query: ChartQuery, now_ms: int) -> list[DeliveryPast]:
    """Return the deliveries of the topic's readers over the requested span."""
    from_ms, to_ms = query.range_ms(now_ms)
    resolution = resolution_for(now_ms - from_ms)
    series = [*DeliverySeries.objects.filter(topic=topic).exclude(tier__in=READERS), *(row.row for row in rows)]
    width_ms = width_for(to_ms - from_ms, max(resolution.step_ms, width_of(series)))
    from_ms, to_ms = from_ms - from_ms % width_ms, -(-to_ms // width_ms) * width_ms
    points = _points(series, resolution, from_ms, to_ms)
    expected = expected_among(series, points)
    findings, histories = _findings(topic), []
    for row in rows:
        received = points.get(row.row.pk, {})
        mine = bins(expected, received, range(from_ms, to_ms, width_ms), now_ms, begins_for(row.row, width_ms))
        past_summary, steps = summary(mine), step_chart(mine, width_ms)
        latency, column_findings = latency_chart(mine, width_ms), findings.get(row.column, [])
        histories.append(DeliveryPast(row, tuple(mine), width_ms, past_summary, steps, latency, column_findings))
    return histories


def _findings(topic: str) -> dict[str, list[list[object]]]:
    """Return findings by column: window, column, state, partition, offset, sentence."""
    by_reader: dict[str, list[list[object]]] = {}
    for (findings,) in AuditedTopic.objects.filter(name=topic).values_list("findings"):
        for finding in findings:
            by_reader.setdefault(finding[1], []).append(finding)
    return by_reader


def resolution_for(age_ms: int) -> ChartTier:
    """Return the finest resolution that still has data so old."""
    return next((tier for tier in TIERS if tier.kept_ms >= age_ms), TIERS[-1])


def width_for(span_ms: int, at_least_ms: int) -> int:
    """Return the width of the bins: round, at least what is stored, and few enough to be told apart."""
    fitting = (width for width in _WIDTHS if width % at_least_ms == 0 and span_ms <= width * BINS_MAX)
    return next(fitting, -(-span_ms // (BINS_MAX * at_least_ms)) * at_least_ms)


def _points(series: Sequence[DeliverySeries], resolution: ChartTier, from_ms: int, to_ms: int) -> dict[int, Points]:
    points: dict[int, Points] = {delivery_series.pk: {} for delivery_series in series}
    rows = DeliveryRow.objects.filter(
        series__in=list(points), tier=resolution.number, begins_ms__gte=resolution.row_of(from_ms), begins_ms__lt=to_ms
    )
    for number, begins_ms, packed in rows.values_list("series", "begins_ms", "points"):
        for at_ms, point in unpack(bytes(packed), resolution, begins_ms).items():
            if from_ms <= at_ms < to_ms:
                points[number][at_ms] = point
    return points
