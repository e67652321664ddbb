"""A drill's seconds as lines."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from console.charts.drawing import DrawnPanel, Mark
from console.charts.panels import Panel
from console.charts.time_chart import WIDTH, Series, TimeChart, time_chart
from console.common.figures import grouped
from console.drill.samples import Sample

if TYPE_CHECKING:
    from console.drill.models import Drill

_LINES: Sequence[tuple[str, str, dict[str, Callable[[Sample], int]]]] = (
    (
        "Partitions in trouble",
        "as the collector saw them, every second or two",
        {
            "without leader": lambda each: each.leaderless,
            "short of replicas": lambda each: each.under_replicated,
            "below minimum": lambda each: each.below,
        },
    ),
    ("Partitions it leads", "as the collector saw them", {"led": lambda each: each.led}),
)


def charts_of(drill: "Drill") -> list[DrawnPanel]:
    seen = drill.seen
    if len(seen) < 2:
        return []
    span_ms = max(60_000, seen[-1].at_ms - seen[0].at_ms)
    return [
        _drawn(
            drill,
            title,
            note,
            {name: [(each.at_ms, float(read(each))) for each in seen] for name, read in lines.items()},
            span_ms,
        )
        for title, note, lines in _LINES
        if drill.broker_id is not None or "leads" not in title
    ]


def _drawn(
    drill: "Drill", title: str, note: str, lines: dict[str, list[tuple[int, float]]], span_ms: int
) -> DrawnPanel:
    last_ms = next(iter(lines.values()))[-1][0]
    chart = time_chart([Series(name, points, holds=True) for name, points in lines.items()], span_ms, last_ms, _say)
    return DrawnPanel(Panel(title, note, _say, ()), chart, tuple(_marks(drill, chart)))


def _marks(drill: "Drill", chart: TimeChart) -> list[Mark]:
    moments = ((drill.fault_ms, "the fault begins", "warning"), (drill.back_ms, "put back", "ok"))
    return [
        Mark(round(WIDTH * (at_ms - chart.from_ms) / (chart.to_ms - chart.from_ms), 1), at_ms, sentence, tone)
        for at_ms, sentence, tone in moments
        if at_ms is not None and chart.from_ms <= at_ms <= chart.to_ms
    ]


def _say(value: float | None) -> str:
    return grouped(None if value is None else round(value))
