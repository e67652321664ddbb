"""Charts on pages of other features: the two main ones of an object, and a spark line for each row of a list."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django import template

from console.cluster.charts.drawing import draw
from console.cluster.charts.measures import BROKER, GROUP, TOPIC
from console.cluster.charts.panels import Panel, broker_panels, group_panels, topic_panels
from console.cluster.charts.spans import ChartQuery
from console.cluster.charts.sparks import HEIGHT, WIDTH, spark_lines
from console.kit.common.clock import now_ms

register = template.Library()

#: The measure that a list shows, and the attribute of its rows that names them.
_LISTED = {TOPIC: ("records", "name"), GROUP: ("lag", "name"), BROKER: ("records", "broker_id")}
#: The panels of an object, and which two of them are the main ones.
_PANELS: Mapping[str, tuple[Callable[[str], list[Panel]], tuple[int, int]]] = {
    TOPIC: (topic_panels, (0, 1)),
    GROUP: (group_panels, (0, 2)),
    BROKER: (lambda name: broker_panels(int(name), ()), (1, 2)),
}


@register.inclusion_tag("charts/partials/main.html", takes_context=True)
def main_charts(context: Mapping[str, Any], kind: str, name: object) -> dict[str, object]:
    """Draw the two main charts of an object, over the span that the page's address asks for."""
    panels, main = _PANELS[kind]
    every = panels(str(name))
    return charts_of(context, [every[number] for number in main])


@register.inclusion_tag("charts/partials/main.html", takes_context=True)
def charts_of(context: Mapping[str, Any], panels: Sequence[Panel]) -> dict[str, object]:
    """Draw `panels` in the same way."""
    at_ms = now_ms()
    request = context["request"]
    query = ChartQuery.parse(request.GET, at_ms)
    return {"charts": draw(panels, (), query, at_ms), "query": query, "request": request}


@register.inclusion_tag("charts/partials/sparks.html")
def sparks(kind: str, rows: Iterable[Any]) -> dict[str, object]:
    """Draw the last day of each of `rows`, to be used by the row as `#spark-<kind>-<primary key>`."""
    measure, attribute = _LISTED[kind]
    keys = {str(getattr(row, attribute)): row.pk for row in rows}
    lines = spark_lines(kind, keys.keys(), measure, now_ms()) if keys else {}
    drawn = [(keys[name], line) for name, line in lines.items()]
    return {"kind": kind, "lines": drawn, "width": WIDTH, "height": HEIGHT}
