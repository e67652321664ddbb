"""What is charted of a connector: its tasks, and how much a sink has not read."""

from collections.abc import Iterator, Sequence

from console.cluster.charts.measures import CONNECTOR, TOPIC, Reading
from console.cluster.charts.panels import Curve, Panel, in_count, panel
from console.ecosystem.connectors.models import Connector
from console.ecosystem.connectors.sink_topics import matched_by_pattern
from console.ecosystem.connectors.unread import unread_by_failed
from console.kit.access.reach import EVERYTHING
from console.kit.common.figures import rate
from console.state.clusters.models import ClusterState
from console.state.consumers.models import ConsumerGroup

#: Topics with a line of their own.
TOPICS_SHOWN = 6


def readings(state: ClusterState) -> tuple[int, Iterator[Reading]]:
    return state.connectors_at_ms, _readings()


def _readings() -> Iterator[Reading]:
    lags = dict(
        ConsumerGroup.objects.filter(name__in=Connector.objects.exclude(group="").values("group")).values_list(
            "name", "lag"
        )
    )
    failed = list(Connector.objects.filter(kind="sink", failed_since_ms__isnull=False).defer("trace", "tasks"))
    unread = unread_by_failed(failed, matched_by_pattern(failed, EVERYTHING), EVERYTHING)
    for name, group, *tasks in Connector.objects.values_list("name", "group", "running_count", "failed_count"):
        yield Reading(CONNECTOR, name, (*tasks, unread.get(name, lags.get(group))))


def panels(row: Connector, topics: Sequence[str], *, with_lag: bool) -> list[Panel]:
    """Return the panels of the connector. `topics` are those it names, in the person's reach.

    `with_lag`: the person may see the group of a sink, and all that it reads.
    """
    lag = panel(CONNECTOR, row.name, "Records not read", f"by the group {row.group}", in_count, lag="records")
    tasks = panel(CONNECTOR, row.name, "Tasks", "", in_count, running="running", failed="failed")
    if row.group:
        return [tasks, lag] if with_lag else [tasks]
    written = tuple(Curve(topic, TOPIC, topic, "records") for topic in topics[:TOPICS_SHOWN])
    flow = Panel("Records per second", "into its topics, by all producers", rate, written, is_of_objects=True)
    return [tasks, flow] if written else [tasks]
