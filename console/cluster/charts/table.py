"""What charts show as a table, for files and programs."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from console.cluster.charts.panels import Panel
from console.cluster.charts.queries import Past
from console.cluster.charts.spans import ChartQuery

TITLES = ("time", "chart", "series", "value")


def rows(panels: Sequence[Panel], query: ChartQuery, now_ms: int) -> Iterator[tuple[object, ...]]:
    """Yield each series in the order of time; nothing where values are unknown."""
    from_ms, to_ms = query.range_ms(now_ms)
    curves = [(panel.title, curve) for panel in panels for curve in panel.curves]
    past = Past({(curve.kind, curve.name) for _, curve in curves}, from_ms, to_ms, back_ms=now_ms - to_ms)
    for title, curve in curves:
        for at_ms, value in past.values(curve.kind, curve.name, curve.measure):
            yield datetime.fromtimestamp(at_ms / 1000, UTC), title, curve.words, value
