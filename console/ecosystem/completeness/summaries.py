"""The summary of each reader of some topics: of the last hour's windows, written beside its series."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from broker.audit.increment import AuditTier
from console.ecosystem.completeness.models import DeliveryRow, DeliverySeries
from console.ecosystem.completeness.points import FINEST, Points, unpack
from console.ecosystem.completeness.summary import SETTLED_AFTER_MS, SUMMARY_MS, bins, expected_of, summary

#: Tiers that deliver to somebody.
READERS = (AuditTier.CONSUMED, AuditTier.MIRRORED, AuditTier.SUNK)
_COLUMNS = (
    "expected", "received", "again", "aside", "delivered", "p50_ms", "p95_ms", "p99_ms", "most_ms", "early",
)  # fmt: skip
_TOPICS_AT_ONCE = 200


def summarize(topics: Collection[str], now_ms: int) -> None:
    """Summarize all readers of `topics`, silent ones included, since they fall behind, too."""
    names = sorted(topics)
    for at in range(0, len(names), _TOPICS_AT_ONCE):
        by_topic: dict[str, list[DeliverySeries]] = defaultdict(list)
        for series in DeliverySeries.objects.filter(topic__in=names[at : at + _TOPICS_AT_ONCE]):
            by_topic[series.topic].append(series)
        every = [item for those in by_topic.values() for item in those]
        from_ms = now_ms - SUMMARY_MS - SETTLED_AFTER_MS
        points = finest_points(every, from_ms - from_ms % FINEST.step_ms)
        for those in by_topic.values():
            _summarize(those, points, now_ms)
        readers = [finding for finding in every if finding.tier in READERS]
        rewrite(readers, _COLUMNS)


def rewrite(series: Collection[DeliverySeries], columns: Sequence[str]) -> None:
    """Update these columns of existing rows. `bulk_update` uses a CASE for each, at ten times the cost."""
    DeliverySeries.objects.bulk_create(
        series, batch_size=_TOPICS_AT_ONCE, update_conflicts=True, unique_fields=["id"], update_fields=columns
    )


def finest_points(series: Iterable[DeliverySeries], from_ms: int) -> dict[int, Points]:
    """Return the finest points by the number of the series."""
    points: dict[int, Points] = defaultdict(dict)
    rows = DeliveryRow.objects.filter(
        series__in=[item.pk for item in series], tier=FINEST.number, begins_ms__gte=FINEST.row_of(from_ms)
    )
    for number, begins_ms, packed in rows.values_list("series", "begins_ms", "points"):
        points[number] |= unpack(bytes(packed), FINEST, begins_ms)
    return points


def _summarize(series: Collection[DeliverySeries], points: dict[int, Points], now_ms: int) -> None:
    expected, width_ms = expected_among(series, points), width_of(series)
    to_ms = now_ms - now_ms % width_ms
    for delivery_series in series:
        if delivery_series.tier not in READERS:
            continue
        steps = range(to_ms - width_ms * (-(-(SUMMARY_MS + SETTLED_AFTER_MS) // width_ms)), to_ms, width_ms)
        totals = summary(
            bins(expected, points.get(delivery_series.pk, {}), steps, now_ms, begins_for(delivery_series, width_ms))
        )
        delivery_series.expected, delivery_series.received, delivery_series.again, delivery_series.aside = (
            totals.expected,
            totals.received,
            totals.again,
            totals.aside,
        )
        delivery_series.delivered, delivery_series.early = totals.delivered, totals.early
        delivery_series.p50_ms, delivery_series.p95_ms, delivery_series.p99_ms, delivery_series.most_ms = totals.latency


def width_of(series: Iterable[DeliverySeries]) -> int:
    """Return the shortest bins that hold whole windows of all of them."""
    longest = max((delivery_series.window_ms for delivery_series in series), default=FINEST.step_ms)
    return max(1, -(-longest // FINEST.step_ms)) * FINEST.step_ms


def begins_for(reader: DeliverySeries, width_ms: int) -> int:
    """Return the first bin that the reader may have received whole: records from before it started do not count."""
    return reader.first_ms - reader.first_ms % width_ms + width_ms


def expected_among(series: Iterable[DeliverySeries], points: dict[int, Points]) -> dict[int, int] | None:
    """Return the expected records by step of one topic's series; None where nothing counts them."""
    appended = [points.get(finding.pk, {}) for finding in series if finding.tier == AuditTier.APPENDED]
    produced = [points.get(finding.pk, {}) for finding in series if finding.tier == AuditTier.PRODUCED]
    if not appended and not produced:
        return None
    return expected_of(appended, produced[0] if produced else {})
