"""Expected and received by produce time, drawn: an area, a step line over it, and what differs in colour. Pure.

As Confluent's stream monitoring shows it: the axis is when records were produced, never when they were read.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from console.cluster.charts.time_chart import HEIGHT, WIDTH, ChartColumn, ChartLine, nice_top
from console.ecosystem.completeness.summary import Bin, latencies
from console.kit.common.figures import UNKNOWN, grouped, milliseconds

_MARGIN = 2
LATENCIES = ("p50", "p95", "p99", "highest")


@dataclass(frozen=True, slots=True)
class StepChart:
    """`area` is the expected, `steps` the received, pieces of an SVG path; `under` and `over` are bins that differ."""

    area: str
    steps: str
    under: str
    over: str
    columns: tuple[ChartColumn, ...]
    top: str
    middle: str
    highest: str
    from_ms: int
    to_ms: int
    column_width: float
    summary: str


@dataclass(frozen=True, slots=True)
class LatencyChart:
    lines: tuple[ChartLine, ...]
    columns: tuple[ChartColumn, ...]
    top: str
    middle: str
    highest: str
    from_ms: int
    to_ms: int
    column_width: float
    summary: str


def step_chart(bins: Sequence[Bin], width_ms: int) -> StepChart:
    """Return the chart of at least one bin. What the youngest bin still lacks is not marked as missing."""
    top = nice_top(float(max(max(bin_.expected or 0, bin_.received) for bin_ in bins)))
    width = WIDTH / len(bins)
    known = [None if bin_.expected is None else bin_.expected for bin_ in bins]
    under = [(at, bin_.received, bin_.expected) for at, bin_ in enumerate(bins) if bin_.is_settled and bin_.missing]
    over = [(at, bin_.received - bin_.over, bin_.received) for at, bin_ in enumerate(bins) if bin_.over]
    expected, received = (sum(items) for items in ([item or 0 for item in known], [bin_.received for bin_ in bins]))
    return StepChart(
        area=_steps(known, top, width, is_area=True),
        steps=_steps([_drawn(bin_) for bin_ in bins], top, width),
        under=_blocks(under, top, width),
        over=_blocks(over, top, width),
        columns=tuple(_column(at, bin_.at_ms, width, _tooltip(bin_)) for at, bin_ in enumerate(bins)),
        top=grouped(round(top)),
        middle=grouped(round(top / 2)) if top >= 2 else "",
        highest=grouped(max(bin_.received for bin_ in bins)),
        from_ms=bins[0].at_ms,
        to_ms=bins[-1].at_ms + width_ms,
        column_width=width,
        summary=f"{grouped(expected)} records expected, {grouped(received)} received; {len(under)} times too few, "
        f"{len(over)} times again.",
    )


def latency_chart(bins: Sequence[Bin], width_ms: int) -> LatencyChart:
    rows = [latencies(bin_.point) for bin_ in bins]
    highest = max((value for row in rows for value in row if value is not None), default=0.0)
    top, width = nice_top(highest), WIDTH / len(bins)
    names = list(enumerate(LATENCIES))
    last = next((row for row in reversed(rows) if row[0] is not None), (None,) * len(LATENCIES))
    return LatencyChart(
        lines=tuple(
            ChartLine(name, at + 1, _pieces([row[at] for row in rows], top, width), milliseconds(last[at]))
            for at, name in names
        ),
        columns=tuple(
            _column(at, bin_.at_ms, width, " · ".join(f"{name} {milliseconds(row[number])}" for number, name in names))
            for at, (bin_, row) in enumerate(zip(bins, rows, strict=True))
            if row[0] is not None
        ),
        top=milliseconds(top),
        middle=milliseconds(top / 2),
        highest=milliseconds(highest or None),
        from_ms=bins[0].at_ms,
        to_ms=bins[-1].at_ms + width_ms,
        column_width=width,
        summary=f"Latency by produce time: {', '.join(f'{name} {milliseconds(last[at])}' for at, name in names)}.",
    )


def _drawn(one: Bin) -> int | None:
    """Return the point; None before the reader came, so that no line is drawn at zero."""
    return None if one.expected is None and not one.received else one.received


def _column(at: int, at_ms: int, width: float, text: str) -> ChartColumn:
    return ChartColumn(round(at * width, 1), at_ms, text)


def _tooltip(bin_: Bin) -> str:
    expected = UNKNOWN if bin_.expected is None else grouped(bin_.expected)
    parts = [f"expected {expected}", f"received {grouped(bin_.received)}"]
    if bin_.missing:
        parts.append(f"{grouped(bin_.missing)} {'missing' if bin_.is_settled else 'to come'}")
    if bin_.over:
        parts.append(f"{grouped(bin_.over)} again")
    parts += [f"{grouped(count)} {kind}" for kind, count in sorted(bin_.point.aside.items()) if count]
    return " · ".join(parts)


def _y(value: float, top: float) -> float:
    return _MARGIN + (HEIGHT - 2 * _MARGIN) * (1 - min(value, top) / top)


def _steps(values: Sequence[int | None], top: float, width: float, *, is_area: bool = False) -> str:
    """Return an SVG path along the values, one bin's width each; an area is closed at the bottom."""
    path, was_known = [], False
    ground = f"V{_y(0, top):.1f}"
    for at, value in enumerate(values):
        if value is None:
            path += [f"{ground}Z"] if is_area and was_known else []
            was_known = False
            continue
        if not was_known:
            path.append(f"M{at * width:.1f} {_y(0, top):.1f}V{_y(value, top):.1f}" if is_area else "")
            path.append("" if is_area else f"M{at * width:.1f} {_y(value, top):.1f}")
        path.append(f"V{_y(value, top):.1f}H{(at + 1) * width:.1f}")
        was_known = True
    return "".join(path) + (f"{ground}Z" if is_area and was_known else "")


def _blocks(steps: Iterable[tuple[int, int, int | None]], top: float, width: float) -> str:
    """Return rectangles from one value to another, at least a stroke high: a single record among millions is seen."""
    path = []
    for at, low, high in steps:
        upper, lower = _y(high or 0, top), _y(max(low, 0), top)
        upper = min(upper, lower - 3)
        path.append(f"M{at * width:.1f} {lower:.1f}H{(at + 1) * width:.1f}V{upper:.1f}H{at * width:.1f}Z")
    return "".join(path)


def _pieces(row: Sequence[float | None], top: float, width: float) -> tuple[str, ...]:
    pieces: list[list[str]] = [[]]
    for at, value in enumerate(row):
        if value is None:
            pieces.append([])
            continue
        pieces[-1].append(f"{(at + 0.5) * width:.1f},{_y(value, top):.1f}")
    return tuple(" ".join(piece if len(piece) > 1 else piece * 2) for piece in pieces if piece)
