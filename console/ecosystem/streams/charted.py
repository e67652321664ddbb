"""What is charted of a stream job: as its driver last told, while it runs."""

from collections.abc import Iterator

from console.cluster.charts.measures import STREAM, Reading
from console.cluster.charts.panels import Panel, in_count, panel, process_panels
from console.ecosystem.streams.models import StreamProgress
from console.kit.common.figures import milliseconds, rate
from console.processes.models import ManagedProcess
from console.processes.states import Observed
from console.state.clusters.models import ClusterState


def readings(state: ClusterState) -> tuple[int, Iterator[Reading]]:
    return state.processes_at_ms, _readings()


def _readings() -> Iterator[Reading]:
    running = StreamProgress.objects.filter(
        process__kind=ManagedProcess.Kind.STREAM, process__observed=Observed.RUNNING
    )
    for name, facts in running.values_list("process__name", "facts"):
        last = (facts.get("recent") or [{}])[-1]
        batch_ms = (facts.get("duration_ms") or {}).get("triggerExecution")
        yield Reading(STREAM, name, (last.get("arrived"), last.get("processed"), facts.get("lag"), batch_ms))


def panels(name: str) -> list[Panel]:
    return [
        panel(STREAM, name, "Records per second", "of its last batch", rate, arriving="arrived", processed="processed"),
        panel(STREAM, name, "Records not read", "over all partitions it reads", in_count, lag="records"),
        panel(STREAM, name, "A batch takes", "from its trigger to its commit", milliseconds, batch="time"),
        *process_panels(name),
    ]
