"""The last day of each row of a list, as a line of 48 points. One query, however many rows there are."""

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from django.db.models import FilteredRelation, OuterRef, Q, Subquery

from console.cluster.charts.measures import CLUSTER, KINDS
from console.cluster.charts.models import Series, SeriesRow
from console.cluster.charts.recorder import Key
from console.cluster.charts.tiers import FINEST, TIERS, UNKNOWN, ChartRow

#: Each column is a step of the coarsest tier; what the step that is not over was so far, the finest one knows.
_STEPS = TIERS[-1]
COLUMNS = 48
WIDTH, HEIGHT = 2 * (COLUMNS - 1), 18

_Points = list[tuple[int, float]]


def spark_lines(kind: str, names: Collection[str], measure: str, now_ms: int) -> dict[str, str]:
    """Return the path data of the SVG for each of `names`, none for what nothing is known of."""
    to_ms = now_ms - now_ms % _STEPS.step_ms + _STEPS.step_ms
    from_ms = to_ms - COLUMNS * _STEPS.step_ms
    points = dict(_read(kind, names, measure, from_ms, now_ms))
    read_columns = {_column(at_ms, from_ms) for at_ms, _ in points.pop((CLUSTER, ""), [])}
    lines = {name: spark_path(_row(written, read_columns, from_ms)) for (_, name), written in points.items()}
    return {name: line for name, line in lines.items() if line}


def _read(kind: str, names: Collection[str], measure: str, from_ms: int, now_ms: int) -> Iterator[tuple[Key, _Points]]:
    """Yield the written points of each series in the order of time, from the last row before the span on.

    The recorder writes a value only when it changes, so the value at `from_ms` may stand in a row of days ago.
    """
    earlier = SeriesRow.objects.filter(
        series=OuterRef("pk"), tier=_STEPS.number, begins_ms__lt=_STEPS.row_of(from_ms)
    ).order_by("-begins_ms")
    of_before = Q(rows__pk=Subquery(earlier.values("pk")[:1]))
    of_steps = Q(rows__tier=_STEPS.number, rows__begins_ms__gte=_STEPS.row_of(from_ms))
    of_now = Q(rows__tier=FINEST.number, rows__begins_ms__gte=FINEST.row_of(now_ms - _STEPS.step_ms))
    series = Series.objects.filter(Q(kind=kind, name__in=names) | Q(kind=CLUSTER, name=""))
    rows = series.annotate(lately=FilteredRelation("rows", condition=of_before | of_steps | of_now)).order_by("pk")
    columns_of_rows = rows.values_list("kind", "name", "lately__tier", "lately__begins_ms", "lately__values")
    for key, of_series in groupby(columns_of_rows.iterator(), lambda row: (row[0], row[1])):
        columns = KINDS[key[0]]
        at = 0 if key[0] == CLUSTER else columns.index(measure)
        written: _Points = []
        for _, _, number, begins_ms, packed in of_series:
            if number is not None:
                tier = TIERS[number]
                values = ChartRow.unpack(bytes(packed), len(columns), tier.length).points()
                written += ((begins_ms + index * tier.step_ms, point[at]) for index, point in values)
        yield key, sorted(written)


def _column(at_ms: int, from_ms: int) -> int:
    return (at_ms - from_ms) // _STEPS.step_ms


def _row(written: _Points, read_columns: Collection[int], from_ms: int) -> list[float | None]:
    """Return the last written value of each column; None where the collector did not read, or it was unknown."""
    values = {_column(at_ms, from_ms): value for at_ms, value in written}
    before = max((column for column in values if column < 0), default=None)
    value = UNKNOWN if before is None else values[before]
    row: list[float | None] = []
    for column in range(COLUMNS):
        value = values.get(column, value)
        row.append(None if value == UNKNOWN or column not in read_columns else value)
    return row


def spark_path(row: Sequence[float | None]) -> str:
    """Return the line through `row`, with zero at the bottom and the highest value at the top; empty without two."""
    known = [value for value in row if value is not None]
    if len(known) < 2:
        return ""
    highest, pieces, is_drawn = max(*known, 1e-9), [], False
    for column, value in enumerate(row):
        if value is None:
            is_drawn = False
            continue
        y = round(1 + (HEIGHT - 2) * (1 - max(value, 0.0) / highest))
        pieces.append(f"{'L' if is_drawn else 'M'}{2 * column} {y}")
        is_drawn = True
    return "".join(pieces)
