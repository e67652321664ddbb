"""Values over time as lines of an SVG, cut into equal columns that stand still while time moves on. Pure.

Columns are aligned to the clock, so that a chart drawn again a moment later differs in its last column only.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 1_000, 120
COLUMNS = 60
#: Above the highest value and below zero, for the stroke.
_MARGIN = 2


@dataclass(frozen=True, slots=True)
class Series:
    """(ms, value) in the order of time. One that `holds` keeps its value until the next; others are means."""

    name: str
    points: Sequence[tuple[int, float]]
    holds: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A series as SVG points, in pieces where nothing was known in between. `number` counts from 1: its colour."""

    name: str
    number: int
    pieces: tuple[str, ...]
    now: str


@dataclass(frozen=True, slots=True)
class Column:
    x: float
    at_ms: int
    text: str


@dataclass(frozen=True, slots=True)
class TimeChart:
    """`top` and `middle` are what the axis says; `columns` are what the pointer finds."""

    lines: tuple[Line, ...]
    columns: tuple[Column, ...]
    top: str
    middle: str
    highest: str
    from_ms: int
    to_ms: int

    @property
    def column_width(self) -> float:
        return WIDTH / COLUMNS


def time_chart(series: Sequence[Series], span_ms: int, now_ms: int, say: Callable[[float | None], str]) -> TimeChart:
    """The last `span_ms`. `say` writes a value with its unit, None where nothing is known."""
    width_ms = span_ms // COLUMNS
    to_ms = -(-now_ms // width_ms) * width_ms
    from_ms = to_ms - COLUMNS * width_ms
    values = [_columns(each, from_ms, width_ms, now_ms) for each in series]
    highest = max((value for row in values for value in row if value is not None), default=0.0)
    top = nice_top(highest)
    lines = tuple(
        Line(each.name, number, _pieces(row, top), say(_last(row)))
        for number, (each, row) in enumerate(zip(series, values, strict=True), start=1)
    )
    columns = tuple(
        Column(round(index * WIDTH / COLUMNS, 1), from_ms + index * width_ms, text)
        for index in range(COLUMNS)
        if (text := _told([(each.name, row[index]) for each, row in zip(series, values, strict=True)], say))
    )
    middle = say(top / 2) if say(top / 2) not in (say(top), say(0.0)) else ""
    return TimeChart(lines, columns, say(top), middle, say(highest), from_ms, to_ms)


def nice_top(highest: float) -> float:
    """The next round number whose half is round too; 1 for nothing at all."""
    if highest <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(highest))
    return next(step * power for step in (1, 2, 4, 6, 8, 10) if step * power >= highest * 0.999)


def _columns(series: Series, from_ms: int, width_ms: int, now_ms: int) -> list[float | None]:
    found: list[list[float]] = [[] for _ in range(COLUMNS)]
    before: float | None = None
    for at_ms, value in series.points:
        index = (at_ms - from_ms) // width_ms
        if index < 0:
            before = value
        elif index < COLUMNS:
            found[index].append(value)
    if not series.holds:
        return [sum(each) / len(each) if each else None for each in found]
    held: list[float | None] = []
    for index, each in enumerate(found):
        before = each[-1] if each else before
        held.append(before if from_ms + index * width_ms <= now_ms else None)
    return held


def _pieces(row: Sequence[float | None], top: float) -> tuple[str, ...]:
    pieces: list[list[str]] = [[]]
    for index, value in enumerate(row):
        if value is None:
            pieces.append([])
            continue
        x = (index + 0.5) * WIDTH / COLUMNS
        pieces[-1].append(f"{x:.1f},{_y(value, top):.1f}")
    return tuple(" ".join(piece if len(piece) > 1 else piece * 2) for piece in pieces if piece)


def _y(value: float, top: float) -> float:
    return _MARGIN + (HEIGHT - 2 * _MARGIN) * (1 - min(value, top) / top)


def _last(row: Sequence[float | None]) -> float | None:
    return next((value for value in reversed(row) if value is not None), None)


def _told(values: Sequence[tuple[str, float | None]], say: Callable[[float | None], str]) -> str:
    known = [(name, value) for name, value in values if value is not None]
    if len(values) == 1:
        return say(known[0][1]) if known else ""
    return " · ".join(f"{name} {say(value)}" for name, value in known)
