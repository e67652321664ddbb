"""Sums of deliveries in the database: added up by the collector alone, together with how far the audit topic is read.

Both are one transaction. Whoever is killed before it goes on from the positions of before, and adds the same again;
whoever is killed behind it has nothing left to add. So nothing is lost and nothing is there twice.
"""

from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import TypeVar

from console.cluster.charts.tiers import ChartTier
from console.ecosystem.completeness.contributions import SeriesKey
from console.ecosystem.completeness.models import NAME_LENGTH_MAX, AuditPosition, DeliveryRow, DeliverySeries
from console.ecosystem.completeness.points import FINEST, TIERS, Points, by_row, merged, pack, unpack
from console.ecosystem.completeness.summaries import rewrite, summarize
from console.kit.common.databases import cluster_atomic

#: More are not kept: whoever may write the audit topic could name as many as he likes.
SERIES_MAX = 20_000
_AT_ONCE = 500
T = TypeVar("T")


class SeriesUpdate:
    """Update of a series since the last write: what is to be added, and its last report."""

    __slots__ = ("at_ms", "points", "window_ms")

    def __init__(self) -> None:
        self.points: Points = {}
        self.at_ms, self.window_ms = 0, FINEST.step_ms


def positions(topic_id: str) -> dict[int, int]:
    """Return the read positions of the sums of that topic; none for an earlier topic of the same name."""
    if topic_id:
        AuditPosition.objects.exclude(topic_id__in=("", topic_id)).delete()
    return dict(AuditPosition.objects.values_list("partition", "offset"))


def write(heard: Mapping[SeriesKey, SeriesUpdate], read_to: Mapping[int, int], topic_id: str, now_ms: int) -> None:
    """Write all of it in one transaction."""
    with cluster_atomic():
        series = _series(heard)
        for tier in TIERS:
            _write_rows(series, heard, tier, now_ms)
        summarize({item.topic for item in series.values()}, now_ms)
        AuditPosition.objects.bulk_create(
            [AuditPosition(partition=item, offset=offset, topic_id=topic_id) for item, offset in read_to.items()],
            update_conflicts=True,
            unique_fields=["partition"],
            update_fields=["offset", "topic_id"],
        )


def _series(heard: Mapping[SeriesKey, SeriesUpdate]) -> dict[SeriesKey, DeliverySeries]:
    """Return the series of `heard`, new ones made as long as there is room."""
    topics = {key.topic for key in heard}
    delivery_series: dict[SeriesKey, DeliverySeries] = {}
    for names in _batches(sorted(topics)):
        for series in DeliverySeries.objects.filter(topic__in=names):
            key = SeriesKey(series.topic, series.tier, series.reader)
            if key in heard:
                delivery_series[key] = series
    room = SERIES_MAX - DeliverySeries.objects.count()
    new = [
        key for key in heard if key not in delivery_series and heard[key].points and len(key.reader) <= NAME_LENGTH_MAX
    ]
    for key in new[: max(0, room)]:
        delivery_series[key] = DeliverySeries(**key._asdict(), first_ms=min(heard[key].points))
    for key, item in delivery_series.items():
        points_heard = heard[key]
        item.first_ms = min(item.first_ms, *points_heard.points) if points_heard.points else item.first_ms
        item.at_ms, item.window_ms = max(item.at_ms, points_heard.at_ms), points_heard.window_ms
    fresh = [item for item in delivery_series.values() if item.pk is None]
    made = {series.pk for series in DeliverySeries.objects.bulk_create(fresh, batch_size=_AT_ONCE)}
    rewrite([item for item in delivery_series.values() if item.pk not in made], ("first_ms", "at_ms", "window_ms"))
    return delivery_series


def _write_rows(
    series: Mapping[SeriesKey, DeliverySeries], heard: Mapping[SeriesKey, SeriesUpdate], tier: ChartTier, now_ms: int
) -> None:
    added = {
        (series[key].pk, begins_ms): points
        for key in series
        for begins_ms, points in by_row(heard[key].points, tier).items()
        if begins_ms + tier.row_ms > now_ms - tier.kept_ms
    }
    for keys in _batches(sorted(added)):
        before = _rows(tier, keys)
        rows = [
            DeliveryRow(
                series_id=number,
                tier=tier.number,
                begins_ms=begins_ms,
                points=pack(_sum(before.get((number, begins_ms), {}), added[number, begins_ms]), tier, begins_ms),
            )
            for number, begins_ms in keys
        ]
        DeliveryRow.objects.bulk_create(
            rows, update_conflicts=True, unique_fields=["series", "tier", "begins_ms"], update_fields=["points"]
        )


def _rows(tier: ChartTier, keys: Collection[tuple[int, int]]) -> dict[tuple[int, int], Points]:
    numbers, beginnings = {number for number, _ in keys}, {begins_ms for _, begins_ms in keys}
    rows = DeliveryRow.objects.filter(tier=tier.number, series__in=numbers, begins_ms__in=beginnings)
    return {
        (number, begins_ms): unpack(bytes(packed), tier, begins_ms)
        for number, begins_ms, packed in rows.values_list("series", "begins_ms", "points")
    }


def _sum(before: Points, added: Points) -> Points:
    return {
        at_ms: merged(points[at_ms] for points in (before, added) if at_ms in points)
        for at_ms in before.keys() | added.keys()
    }


def forget(topics: Collection[str], now_ms: int) -> None:
    """Delete expired rows, and series of topics that are gone or without a row."""
    for tier in TIERS:
        old = now_ms - tier.kept_ms - tier.row_ms
        DeliveryRow.objects.filter(tier=tier.number, begins_ms__lte=old).delete()
    gone = set(DeliverySeries.objects.values_list("topic", flat=True).distinct()) - set(topics)
    for names in _batches(sorted(gone)):
        DeliverySeries.objects.filter(topic__in=names).delete()
    DeliverySeries.objects.filter(rows__isnull=True).delete()


def _batches(things: Collection[T]) -> Iterator[list[T]]:
    remaining = iter(things)
    while some := list(islice(remaining, _AT_ONCE)):
        yield some
