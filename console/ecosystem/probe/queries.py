"""Reading what is kept of the probe for its page: the last day as charts, rows and gaps."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from broker.probe.tally import MIRROR
from console.cluster.charts.drawing import DrawnPanel
from console.cluster.charts.panels import Panel
from console.cluster.charts.time_chart import ChartSeries, time_chart
from console.ecosystem.probe.figures import ProbeFigures, added
from console.ecosystem.probe.gaps import MINUTE_MS, Minute, ProbeGap, gaps
from console.ecosystem.probe.models import HOUR, MINUTE, ProbeState, ProbeWindow
from console.ecosystem.probe.rows import PartRow, broker_rows, partition_rows
from console.ecosystem.probe.store import DAY_MS, state
from console.kit.common.clock import now_ms
from console.kit.common.figures import grouped, milliseconds

#: Twelve minutes each.
COLUMNS = 120
_COLUMN_MS = DAY_MS // COLUMNS


def _failed(share: float | None) -> float | None:
    return None if share is None else 100 * (1 - share)


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f} %" if 0 < value < 10 else f"{value:.0f} %"


def _count(value: float | None) -> str:
    return grouped(None if value is None else round(value))


_Lines = dict[str, Callable[[ProbeFigures], float | None]]
_PANELS: tuple[tuple[str, str, Callable[[float | None], str], _Lines], ...] = (
    (
        "Not available",
        "shares of what was tried: records not acknowledged, readings that failed",
        _percent,
        {
            "to write": lambda figures: _failed(figures.produce_availability),
            "to read": lambda figures: _failed(figures.consume_availability),
        },
    ),
    (
        "From sent to read",
        "from sending a record until it was read back",
        milliseconds,
        {"p50": lambda figures: figures.p50, "p95": lambda figures: figures.p95, "p99": lambda figures: figures.p99},
    ),
    (
        "Records not as they should be",
        "acknowledged records that are lost, there twice, or out of order",
        _count,
        {
            "lost": lambda figures: float(figures.lost),
            "twice": lambda figures: float(figures.duplicated),
            "out of order": lambda figures: float(figures.reordered),
        },
    ),
)


@dataclass(frozen=True, slots=True)
class Day:
    """The last 24 hours; the figures are of the whole."""

    state: ProbeState
    figures: ProbeFigures
    charts: list[DrawnPanel]
    brokers: list[PartRow]
    partitions: list[PartRow]
    mirror: ProbeFigures
    gaps: list[ProbeGap]


def last_day() -> Day:
    at_ms, kept = now_ms(), state()
    minutes = _minutes(at_ms)
    rows = ProbeWindow.objects.filter(tier=HOUR, begins_ms__gt=at_ms - DAY_MS)
    hours = list(rows.values_list("begins_ms", "parts"))
    return Day(
        kept,
        ProbeFigures(added(minute.figures.tally for minute in minutes)),
        _charts(minutes, at_ms),
        broker_rows(kept.brokers, hours, at_ms),
        partition_rows(kept.partitions, kept.troubled, hours, at_ms),
        ProbeFigures(added(parts.get(MIRROR, {}) for _, parts in hours)),
        gaps(minutes, at_ms - at_ms % MINUTE_MS),
    )


def _minutes(at_ms: int) -> list[Minute]:
    rows = ProbeWindow.objects.filter(tier=MINUTE, begins_ms__gt=at_ms - DAY_MS)
    columns = rows.values_list("begins_ms", "whole", "silent")
    return [Minute(begins_ms, ProbeFigures(whole), tuple(silent)) for begins_ms, whole, silent in columns]


def _charts(minutes: Sequence[Minute], at_ms: int) -> list[DrawnPanel]:
    if not minutes:
        return []
    columns = _columns(minutes)

    def points(read: Callable[[ProbeFigures], float | None]) -> list[tuple[int, float]]:
        return [(begins_ms, value) for begins_ms, figures in columns if (value := read(figures)) is not None]

    def drawn(title: str, note: str, say: Callable[[float | None], str], lines: _Lines) -> DrawnPanel:
        series = [ChartSeries(name, points(read)) for name, read in lines.items()]
        return DrawnPanel(Panel(title, note, say, ()), time_chart(series, DAY_MS, at_ms, say, COLUMNS), ())

    return [drawn(*panel) for panel in _PANELS]


def _columns(minutes: Sequence[Minute]) -> list[tuple[int, ProbeFigures]]:
    """Return minutes added up as the chart's columns: percentiles have no mean."""
    columns: dict[int, list[Minute]] = {}
    for minute in minutes:
        columns.setdefault(minute.begins_ms - minute.begins_ms % _COLUMN_MS, []).append(minute)
    return [
        (begins_ms, ProbeFigures(added(minute.figures.tally for minute in column)))
        for begins_ms, column in columns.items()
    ]
