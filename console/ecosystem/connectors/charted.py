"""What is charted of a connector: its tasks, and how much a sink has not read."""

from collections.abc import Iterator

from console.cluster.charts.measures import CONNECTOR, Reading
from console.cluster.charts.panels import Panel, in_count, panel
from console.ecosystem.connectors.models import Connector
from console.state.clusters.models import ClusterState
from console.state.consumers.models import ConsumerGroup


def readings(state: ClusterState) -> tuple[int, Iterator[Reading]]:
    return state.connectors_at_ms, _readings()


def _readings() -> Iterator[Reading]:
    lags = dict(
        ConsumerGroup.objects.filter(name__in=Connector.objects.exclude(group="").values("group")).values_list(
            "name", "lag"
        )
    )
    for name, group, *tasks in Connector.objects.values_list("name", "group", "running_count", "failed_count"):
        yield Reading(CONNECTOR, name, (*tasks, lags.get(group)))


def panels(row: Connector, *, with_lag: bool) -> list[Panel]:
    """`with_lag`: of a sink, whose group and topics whoever asks may see."""
    lag = panel(CONNECTOR, row.name, "Records not read", f"by the group {row.group}", in_count, lag="records")
    tasks = panel(CONNECTOR, row.name, "Tasks", "", in_count, running="running", failed="failed")
    return [tasks, lag] if with_lag and row.group else [tasks]
