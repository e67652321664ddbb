"""The last day of each row of a list, as a line of 48 points. One query, however many rows there are."""

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from django.db.models import FilteredRelation, Q

from console.cluster.charts.measures import CLUSTER, KINDS
from console.cluster.charts.models import Series
from console.cluster.charts.recorder import Key
from console.cluster.charts.tiers import FINEST, TIERS, UNKNOWN, Row

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
    looked = {_column(at_ms, from_ms) for at_ms, _ in points.pop((CLUSTER, ""), [])}
    lines = {name: spark_path(_row(written, looked, from_ms)) for (_, name), written in points.items()}
    return {name: line for name, line in lines.items() if line}


def _read(kind: str, names: Collection[str], measure: str, from_ms: int, now_ms: int) -> Iterator[tuple[Key, _Points]]:
    """Yield what was written of each series, in the order of time: nothing of one that stood still all the while."""
    of_steps = Q(rows__tier=_STEPS.number, rows__begins_ms__gte=_STEPS.row_of(from_ms))
    of_now = Q(rows__tier=FINEST.number, rows__begins_ms__gte=FINEST.row_of(now_ms - _STEPS.step_ms))
    series = Series.objects.filter(Q(kind=kind, name__in=names) | Q(kind=CLUSTER, name=""))
    rows = series.annotate(lately=FilteredRelation("rows", condition=of_steps | of_now)).order_by("pk")
    found = rows.values_list("kind", "name", "lately__tier", "lately__begins_ms", "lately__values")
    for key, of_series in groupby(found.iterator(), lambda row: (row[0], row[1])):
        columns = KINDS[key[0]]
        at = 0 if key[0] == CLUSTER else columns.index(measure)
        written: _Points = []
        for _, _, number, begins_ms, packed in of_series:
            if number is not None:
                tier = TIERS[number]
                values = Row.unpack(bytes(packed), len(columns), tier.length).points()
                written += ((begins_ms + index * tier.step_ms, point[at]) for index, point in values)
        yield key, sorted(written)


def _column(at_ms: int, from_ms: int) -> int:
    return (at_ms - from_ms) // _STEPS.step_ms


def _row(written: _Points, looked: Collection[int], from_ms: int) -> list[float | None]:
    """Return the value of each column, as written last; None where the collector did not look, or none was known."""
    values = {_column(at_ms, from_ms): value for at_ms, value in written}
    before = max((column for column in values if column < 0), default=None)
    value = 0.0 if not written else UNKNOWN if before is None else values[before]
    row: list[float | None] = []
    for column in range(COLUMNS):
        value = values.get(column, value)
        row.append(None if value == UNKNOWN or column not in looked else value)
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
