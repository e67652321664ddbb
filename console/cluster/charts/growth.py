"""How much each topic grew within a day: kept with the topic, since the list of topics sorts in the database."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter

from django.db.models import OuterRef, Q, Subquery

from console.cluster.charts.measures import KINDS, TOPIC
from console.cluster.charts.models import Series, SeriesRow
from console.cluster.charts.tiers import TIERS, UNKNOWN, ChartRow
from console.state.clusters.models import Topic

_DAY_MS = 24 * 3_600_000
#: The finest tier that still has the whole day.
_TIER = TIERS[1]
_SIZE = KINDS[TOPIC].index("size")
_ROWS_PER_STATEMENT = 500


def save_growth(at_ms: int) -> None:
    """Write `Topic.day_growth_bytes` of each topic where it changed; None while no size of the last day is known."""
    before = dict(_sizes_before(at_ms - _DAY_MS))
    changed = []
    for topic in Topic.objects.only("name", "size_bytes", "day_growth_bytes"):
        size = before.get(topic.name)
        growth = None if size is None else topic.size_bytes - round(size)
        if growth != topic.day_growth_bytes:
            topic.day_growth_bytes = growth
            changed.append(topic)
    if changed:
        Topic.objects.bulk_update(changed, ["day_growth_bytes"], batch_size=_ROWS_PER_STATEMENT)


def size_a_day_ago(points: Iterable[tuple[int, float]], from_ms: int) -> float | None:
    """Return the last size that was known at `from_ms`, or else the first one known since; None without either.

    `points` are (ms, bytes) in the order of time.
    """
    size = None
    for at_ms, value in points:
        if value == UNKNOWN:
            continue
        if at_ms > from_ms and size is not None:
            break
        size = value
        if at_ms > from_ms:
            break
    return size


def _sizes_before(from_ms: int) -> Iterator[tuple[str, float | None]]:
    """Yield name and size of each topic with a series.

    What stands still is in the last row before `from_ms`; where that row knows no size, the next may.
    """
    rows = SeriesRow.objects.filter(series=OuterRef("pk"), tier=_TIER.number)
    begun = rows.filter(begins_ms__lte=from_ms).order_by("-begins_ms")
    since = rows.filter(begins_ms__gt=from_ms).order_by("begins_ms")
    topics = Series.objects.filter(kind=TOPIC)
    is_chosen = Q(pk__in=topics.values(row=Subquery(begun.values("pk")[:1])))
    is_chosen |= Q(pk__in=topics.values(row=Subquery(since.values("pk")[:1])))
    chosen = SeriesRow.objects.filter(is_chosen).order_by("series", "begins_ms")
    columns = chosen.values_list("series__name", "begins_ms", "values").iterator()
    for name, of_topic in groupby(columns, key=itemgetter(0)):
        yield name, size_a_day_ago(_points(of_topic), from_ms)


def _points(rows: Iterable[tuple[str, int, bytes | memoryview]]) -> Iterator[tuple[int, float]]:
    for _, begins_ms, packed in rows:
        row = ChartRow.unpack(bytes(packed), len(KINDS[TOPIC]), _TIER.length)
        yield from ((begins_ms + index * _TIER.step_ms, values[_SIZE]) for index, values in row.points())
