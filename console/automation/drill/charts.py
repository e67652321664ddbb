"""A drill's seconds as lines."""

from collections.abc import Callable, Iterable, Sequence

from console.automation.drill.samples import Sample
from console.cluster.charts.drawing import AxisMark, DrawnPanel
from console.cluster.charts.panels import Panel
from console.cluster.charts.time_chart import WIDTH, ChartSeries, TimeChart, time_chart
from console.kit.common.figures import grouped

_LINES: Sequence[tuple[str, str, dict[str, Callable[[Sample], int]]]] = (
    (
        "Partitions in trouble",
        "as the collector saw them, every second or two",
        {
            "without leader": lambda sample: sample.leaderless,
            "short of replicas": lambda sample: sample.under_replicated,
            "below minimum": lambda sample: sample.below,
        },
    ),
    ("Partitions it leads", "as the collector saw them", {"led": lambda sample: sample.led}),
)


def charts_of(
    seen: Sequence[Sample], fault_ms: int | None, back_ms: int | None, *, of_broker: bool
) -> list[DrawnPanel]:
    """Return charts; None before there are two samples; leaderships only for a drill of a broker."""
    if len(seen) < 2:
        return []
    span_ms = max(60_000, seen[-1].at_ms - seen[0].at_ms)
    moments = ((fault_ms, "the fault begins", "warning"), (back_ms, "put back", "ok"))
    panels = []
    for title, note, lines in _LINES if of_broker else _LINES[:1]:
        drawn = [
            ChartSeries(name, [(item.at_ms, float(read(item))) for item in seen], holds=True)
            for name, read in lines.items()
        ]
        chart = time_chart(drawn, span_ms, seen[-1].at_ms, _say)
        panels.append(DrawnPanel(Panel(title, note, _say, ()), chart, tuple(_marks(chart, moments))))
    return panels


def _marks(chart: TimeChart, moments: Iterable[tuple[int | None, str, str]]) -> list[AxisMark]:
    return [
        AxisMark(round(WIDTH * (at_ms - chart.from_ms) / (chart.to_ms - chart.from_ms), 1), at_ms, sentence, tone)
        for at_ms, sentence, tone in moments
        if at_ms is not None and chart.from_ms <= at_ms <= chart.to_ms
    ]


def _say(value: float | None) -> str:
    return grouped(None if value is None else round(value))
