"""Panels and their past, drawn."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from console.cluster.charts.colours import colour_of_api
from console.cluster.charts.measures import API, MEASURES
from console.cluster.charts.panels import Curve, Panel
from console.cluster.charts.queries import Past, colours_of
from console.cluster.charts.spans import ChartQuery, column_count
from console.cluster.charts.tiers import tier_for
from console.cluster.charts.time_chart import WIDTH, ChartSeries, TimeChart, time_chart
from console.state.history.models import Change

#: A collector that nobody watches looks a quarter as often.
_LOOKS_APART_MS = 60_000
MARKS_MAX = 40


@dataclass(frozen=True, slots=True)
class AxisMark:
    """Something that happened, on the axis."""

    x: float
    at_ms: int
    sentence: str
    tone: str


@dataclass(frozen=True, slots=True)
class DrawnPanel:
    panel: Panel
    chart: TimeChart
    marks: tuple[AxisMark, ...]
    #: The route of a page that has more of it.
    link: str = ""

    @property
    def summary(self) -> str:
        """The chart in words, for people who cannot see the lines."""
        now = ", ".join(f"{line.name} {line.now}" for line in self.chart.lines)
        return f"{self.panel.title}: highest {self.chart.highest}; now {now}."


def draw(panels: Sequence[Panel], changes: Iterable[Change], query: ChartQuery, now_ms: int) -> list[DrawnPanel]:
    """Draw the panels; None before the first sample. `changes` are those of the span, newest first."""
    from_ms, to_ms = query.range_ms(now_ms)
    keys = {(curve.kind, curve.name) for panel in panels for curve in panel.curves}
    past = Past(keys, from_ms, to_ms, back_ms=now_ms - to_ms)
    if past.is_empty:
        return []
    shift_ms = query.former_ms(to_ms - from_ms)
    former = (
        Past(keys, from_ms - shift_ms, to_ms - shift_ms, back_ms=now_ms - to_ms + shift_ms) if query.compares else None
    )
    bridge_ms = 2 * max(_LOOKS_APART_MS, tier_for(to_ms - from_ms, back_ms=now_ms - to_ms).step_ms)

    def series(curve: Curve, colour: int | None) -> Iterable[ChartSeries]:
        summary = MEASURES[curve.measure].summary
        now = past.values(curve.kind, curve.name, curve.measure)
        yield ChartSeries(curve.words, now, bridge_ms=bridge_ms, reduce=summary, colour=colour)
        if former is not None:
            points = [
                (at_ms + shift_ms, value) for at_ms, value in former.values(curve.kind, curve.name, curve.measure)
            ]
            yield ChartSeries(query.compared_span_text, points, bridge_ms=2 * bridge_ms, is_former=True, reduce=summary)

    happened = list(changes)[:MARKS_MAX]
    columns = column_count(to_ms - from_ms, now_ms - to_ms)
    drawn = []
    for panel in panels:
        colours = _colours(panel)
        lines = [item for curve in panel.curves for item in series(curve, colours.get(curve))]
        chart = time_chart(lines, to_ms - from_ms, to_ms, panel.say, columns)
        drawn.append(DrawnPanel(panel, chart, tuple(_mark(change, chart) for change in happened)))
    return drawn


def _colours(panel: Panel) -> dict[Curve, int]:
    """Return the colours of lines that are objects."""
    if not panel.is_of_objects:
        return {}
    names: dict[str, list[str]] = defaultdict(list)
    for curve in panel.curves:
        names[curve.kind].append(curve.name)
    by_kind = {kind: colours_of(kind, items) for kind, items in names.items() if kind != API}
    return {
        curve: colour_of_api(curve.words) if curve.kind == API else by_kind[curve.kind][curve.name]
        for curve in panel.curves
    }


def _mark(change: Change, chart: TimeChart) -> AxisMark:
    share = (change.at_ms - chart.from_ms) / max(1, chart.to_ms - chart.from_ms)
    return AxisMark(round(WIDTH * min(max(share, 0.0), 1.0), 1), change.at_ms, change.sentence, change.tone)
