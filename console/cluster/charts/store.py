"""Series and their rows in the database: written by the collector alone, and forgotten when their time is over."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from itertools import count, filterfalse

from django.db.models import Exists, Max, OuterRef

from console.cluster.charts.measures import KINDS
from console.cluster.charts.models import Series, SeriesRow
from console.cluster.charts.recorder import Key, RowKey
from console.cluster.charts.tiers import TIERS, ChartRow
from console.kit.common.databases import cluster_atomic
from console.kit.common.many_rows import put_rows

#: Rows of one statement: SQLite takes no more than 32,766 values.
_ROWS_PER_STATEMENT = 2_000


class RowStore:
    """Used by one thread: knows the numbers of the series it has seen."""

    def __init__(self) -> None:
        self._ids: dict[Key, int] = {}
        #: By kind, the numbers that series have.
        self._taken: dict[str, set[int]] = defaultdict(set)
        for pk, kind, name, number in Series.objects.values_list("pk", "kind", "name", "number"):
            self._ids[kind, name] = pk
            if number is not None:
                self._taken[kind].add(number)
        #: By tier, when its newest row begins: a later one need not be looked for, of thousands of series.
        self._newest_ms: dict[int, int] = dict(
            SeriesRow.objects.order_by().values_list("tier").annotate(newest=Max("begins_ms"))
        )

    def load(self, of_row: RowKey) -> ChartRow | None:
        """Return the stored row; None if there is none."""
        key, tier, begins_ms = of_row
        if key not in self._ids or begins_ms > self._newest_ms.get(tier, 0):
            return None
        stored = SeriesRow.objects.filter(series=self._ids[key], tier=tier, begins_ms=begins_ms)
        packed = stored.values_list("values", flat=True).first()
        return None if packed is None else ChartRow.unpack(bytes(packed), len(KINDS[key[0]]), TIERS[tier].length)

    def write(self, rows: Mapping[RowKey, ChartRow]) -> None:
        """Write the rows in place of their stored versions."""
        self._number({key for key, _, _ in rows})
        for _, tier, begins_ms in rows:
            self._newest_ms[tier] = max(begins_ms, self._newest_ms.get(tier, 0))
        written = ((self._ids[key], tier, begins_ms, row.pack()) for (key, tier, begins_ms), row in rows.items())
        with cluster_atomic():
            put_rows(SeriesRow, ["series", "tier", "begins_ms"], ["values"], written)

    def forget_old(self, at_ms: int) -> None:
        """Delete what is older than its tier keeps, except the last value before that, which still holds."""
        for tier in TIERS:
            old = SeriesRow.objects.filter(tier=tier.number, begins_ms__lt=at_ms - tier.kept_ms - tier.row_ms)
            newer = old.filter(series=OuterRef("series"), begins_ms__gt=OuterRef("begins_ms"))
            old.filter(Exists(newer)).delete()

    def forget_gone(self, known: Collection[Key], at_ms: int) -> None:
        """Forget series that are not `known` any more, once they are older than every chart."""
        gone = [pk for key, pk in self._ids.items() if key not in known]
        forgotten: set[int] = set()
        for at in range(0, len(gone), _ROWS_PER_STATEMENT):
            last = Series.objects.filter(pk__in=gone[at : at + _ROWS_PER_STATEMENT]).annotate(ms=Max("rows__begins_ms"))
            old = [item for item in last if (item.ms or 0) < at_ms - TIERS[-1].kept_ms - TIERS[-1].row_ms]
            Series.objects.filter(pk__in=[item.pk for item in old]).delete()
            for item in old:
                forgotten.add(item.pk)
                self._taken[item.kind].discard(item.number or 0)
        self._ids = {key: pk for key, pk in self._ids.items() if pk not in forgotten}

    def _number(self, keys: set[Key]) -> None:
        """Give each new series its row, and the lowest number that is free among those of its kind."""
        free = {kind: filterfalse(self._taken[kind].__contains__, count(1)) for kind, _ in keys}
        new = [Series(kind=kind, name=name, number=next(free[kind])) for kind, name in sorted(keys - self._ids.keys())]
        for series in Series.objects.bulk_create(new, batch_size=_ROWS_PER_STATEMENT):
            self._ids[series.kind, series.name] = series.pk
            self._taken[series.kind].add(series.number or 0)
