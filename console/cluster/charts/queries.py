"""Reading series: what was written, filled up with what stood still, over any span there is."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable

from django.db.models import Max, Q

from console.cluster.charts.colours import colour_of_name, colour_of_number
from console.cluster.charts.measures import CLUSTER, KINDS
from console.cluster.charts.models import Series, SeriesRow
from console.cluster.charts.recorder import Key
from console.cluster.charts.tiers import FINEST, TIERS, UNKNOWN, ChartRow, ChartTier, tier_for

_CLUSTER_KEY: Key = (CLUSTER, "")
#: Written points of a series: (ms, its columns), in the order of time.
_Points = list[tuple[int, tuple[float, ...]]]


class Past:
    """What some series were within a span, read at once."""

    def __init__(self, keys: Collection[Key], from_ms: int, to_ms: int, *, back_ms: int = 0):
        """`back_ms`: how long ago the span's end is; what is long ago is known in coarser steps."""
        keys = {*keys, _CLUSTER_KEY}
        tier = tier_for(to_ms - from_ms, back_ms=back_ms)
        written = _read(keys, tier, from_ms, to_ms)
        looked = [at_ms for at_ms, _ in written[_CLUSTER_KEY]]
        if tier is not FINEST:
            # A step that is not over has no mean yet.
            since_ms = looked[-1] + tier.step_ms if looked else from_ms
            for key, points in _read(keys, FINEST, since_ms, to_ms).items():
                written[key] += [point for point in points if point[0] >= since_ms]
            looked = [at_ms for at_ms, _ in written[_CLUSTER_KEY]]
        self._written = written
        self._looked = [at_ms for at_ms in looked if from_ms <= at_ms <= to_ms]

    @property
    def is_empty(self) -> bool:
        return not self._looked

    def values(self, kind: str, name: str, measure: str) -> list[tuple[int, float]]:
        """Return (ms, value) of every known moment of observation."""
        column, points = KINDS[kind].index(measure), self._written[kind, name]
        moments = [at_ms for at_ms, _ in points]
        filled = []
        for at_ms in self._looked:
            at = bisect_right(moments, at_ms) - 1
            if at >= 0 and (value := points[at][1][column]) != UNKNOWN:
                filled.append((at_ms, value))
        return filled


def colours_of(kind: str, names: Collection[str]) -> dict[str, int]:
    """Return the colour of each of `names`, which it has in every chart."""
    numbers = dict(Series.objects.filter(kind=kind, name__in=names).values_list("name", "number"))
    return {
        name: colour_of_name(name) if (number := numbers.get(name)) is None else colour_of_number(number)
        for name in names
    }


def _read(keys: Collection[Key], tier: ChartTier, from_ms: int, to_ms: int) -> dict[Key, _Points]:
    """Read points from the last one before the span on, where there is one."""
    of_keys = _any_of(keys)
    rows = SeriesRow.objects.filter(of_keys, tier=tier.number)
    within = rows.filter(begins_ms__gte=tier.row_of(from_ms), begins_ms__lte=to_ms)
    before = rows.filter(begins_ms__lt=tier.row_of(from_ms)).values("series").annotate(last=Max("begins_ms"))
    last_before = Q(pk__in=[])
    for item in before:
        last_before |= Q(series=item["series"], begins_ms=item["last"])
    points: dict[Key, _Points] = defaultdict(list)
    columns = ("series__kind", "series__name", "begins_ms", "values")
    for kind, name, begins_ms, packed in (
        (within | rows.filter(last_before)).order_by("begins_ms").values_list(*columns)
    ):
        row = ChartRow.unpack(bytes(packed), len(KINDS[kind]), TIERS[tier.number].length)
        points[kind, name] += ((begins_ms + index * tier.step_ms, values) for index, values in row.points())
    return points


def _any_of(keys: Iterable[Key]) -> Q:
    names: dict[str, list[str]] = defaultdict(list)
    for kind, name in keys:
        names[kind].append(name)
    wanted = Q(pk__in=[])
    for kind, item in names.items():
        wanted |= Q(series__kind=kind, series__name__in=item)
    return wanted
