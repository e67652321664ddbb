"""Values over time as lines of an SVG, cut into equal columns that stand still while time moves on. Pure.

Columns are aligned to the clock, so that a chart drawn again a moment later differs in its last column only.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from console.cluster.charts.colours import PATTERNS
from console.cluster.charts.measures import mean

WIDTH, HEIGHT = 1_000, 120
COLUMNS = 60
COLUMNS_MAX = 120
#: Above the highest value and below zero, for the stroke.
_MARGIN = 2


@dataclass(frozen=True, slots=True)
class ChartSeries:
    """(ms, value) in the order of time. One that `holds` keeps its value until the next, and None, not known, too;
    others are means of values, and what is known of a column is shown in the next ones for `bridge_ms`.
    """

    name: str
    points: Sequence[tuple[int, float | None]]
    holds: bool = False
    bridge_ms: int = 0
    #: What it was before, moved to now: it has the colour of the line before it.
    is_former: bool = False
    #: What a column shows of several points.
    reduce: Callable[[Sequence[float]], float] = mean
    #: Of the palette; None: the next one, after the line before it.
    colour: int | None = None


@dataclass(frozen=True, slots=True)
class ChartLine:
    """A series as SVG points, in pieces where nothing was known in between. `number` is its colour, `pattern` says how
    it is dashed: 0 not at all, 1 and 2 beside lines of the same colour.
    """

    name: str
    number: int
    pieces: tuple[str, ...]
    now: str
    is_former: bool = False
    pattern: int = 0


@dataclass(frozen=True, slots=True)
class ChartColumn:
    x: float
    at_ms: int
    text: str


@dataclass(frozen=True, slots=True)
class TimeChart:
    """`top` and `middle` are what the axis says; `columns` are what the pointer finds."""

    lines: tuple[ChartLine, ...]
    columns: tuple[ChartColumn, ...]
    top: str
    middle: str
    highest: str
    from_ms: int
    to_ms: int
    column_width: float = WIDTH / COLUMNS


def time_chart(
    series: Sequence[ChartSeries],
    span_ms: int,
    now_ms: int,
    say: Callable[[float | None], str],
    column_count: int = COLUMNS,
) -> TimeChart:
    """Return the chart of the last `span_ms`. `say` formats a value with its unit, None where nothing is known."""
    width_ms = span_ms // column_count
    to_ms = -(-now_ms // width_ms) * width_ms
    from_ms = to_ms - column_count * width_ms
    values = [_columns(item, from_ms, width_ms, column_count, now_ms) for item in series]
    rows = [*values, [_last(item) for item in series if not item.is_former]]
    highest = max((value for row in rows for value in row if value is not None), default=None)
    top = nice_top(highest or 0.0)
    lines = tuple(
        ChartLine(item.name, number, _pieces(row, top), say(_last(item)), item.is_former, pattern)
        for (number, pattern), item, row in zip(_styles(series), series, values, strict=True)
    )
    columns = tuple(
        ChartColumn(round(index * WIDTH / column_count, 1), from_ms + index * width_ms, text)
        for index in range(column_count)
        if (text := _tooltip([(value.name, row[index]) for value, row in zip(series, values, strict=True)], say))
    )
    middle = say(top / 2) if say(top / 2) not in (say(top), say(0.0)) else ""
    return TimeChart(lines, columns, say(top), middle, say(highest), from_ms, to_ms, WIDTH / column_count)


def _styles(series: Sequence[ChartSeries]) -> list[tuple[int, int]]:
    """Return colour and pattern of each. A former one has those of the line before it."""
    styles: list[tuple[int, int]] = []
    number = 0
    for item in series:
        if not item.is_former or not styles:
            number += 1
            colour = number if item.colour is None else item.colour
            alike = sum(other == colour and not one.is_former for one, (other, _) in zip(series, styles, strict=False))
            styles.append((colour, alike % PATTERNS))
        else:
            styles.append(styles[-1])
    return styles


def nice_top(highest: float) -> float:
    """Return the next round number whose half is round too; 1 for nothing at all."""
    if highest <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(highest))
    return next(step * power for step in (1, 2, 4, 6, 8, 10) if step * power >= highest * 0.999)


def _columns(series: ChartSeries, from_ms: int, width_ms: int, count: int, now_ms: int) -> list[float | None]:
    columns: list[list[float | None]] = [[] for _ in range(count)]
    before: float | None = None
    for at_ms, value in series.points:
        index = (at_ms - from_ms) // width_ms
        if index < 0:
            before = value
        elif index < count:
            columns[index].append(value)
    if not series.holds:
        known = [[value for value in items if value is not None] for items in columns]
        return _bridged([series.reduce(item) if item else None for item in known], series.bridge_ms // width_ms)
    held: list[float | None] = []
    for index, items in enumerate(columns):
        before = items[-1] if items else before
        held.append(before if from_ms + index * width_ms <= now_ms else None)
    return held


def _bridged(row: list[float | None], columns: int) -> list[float | None]:
    """Fill gaps of up to so many columns with the column before."""
    known = None
    for index, value in enumerate(row):
        if value is not None:
            if known is not None and index - known - 1 <= columns:
                row[known + 1 : index] = [row[known]] * (index - known - 1)
            known = index
    return row


def _pieces(row: Sequence[float | None], top: float) -> tuple[str, ...]:
    pieces: list[list[str]] = [[]]
    for index, value in enumerate(row):
        if value is None:
            pieces.append([])
            continue
        x = (index + 0.5) * WIDTH / len(row)
        pieces[-1].append(f"{x:.1f},{_y(value, top):.1f}")
    return tuple(" ".join(piece if len(piece) > 1 else piece * 2) for piece in pieces if piece)


def _y(value: float, top: float) -> float:
    return _MARGIN + (HEIGHT - 2 * _MARGIN) * (1 - min(value, top) / top)


def _last(series: ChartSeries) -> float | None:
    return series.points[-1][1] if series.points else None


def _tooltip(values: Sequence[tuple[str, float | None]], say: Callable[[float | None], str]) -> str:
    known = [(name, value) for name, value in values if value is not None]
    if len(values) == 1:
        return say(known[0][1]) if known else ""
    return " · ".join(f"{_isolated(name)} {say(value)}" for name, value in known)


def _isolated(name: str) -> str:
    """Wrap a name in Unicode's isolating marks: text without elements has no other way (UAX 9)."""
    return name if name.isascii() else f"\u2068{name}\u2069"
