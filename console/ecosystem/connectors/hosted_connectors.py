"""What runs within the console's own Connect workers, as the collector last saw it: for whoever ends one."""

from console.ecosystem.connectors.models import Connector
from console.ecosystem.connectors.sink_topics import matched_by_pattern
from console.kit.access.reach import EVERYTHING
from console.processes.dependents import Inmate
from console.processes.models import ManagedProcess


def connectors_of_workers(process: ManagedProcess) -> list[Inmate]:
    """Return what runs in a worker of Kafka Connect; nothing runs in a process of another kind.

    That is every connector: the console starts workers only where there are no others, and they are of one group.
    """
    if process.kind != ManagedProcess.Kind.CONNECT:
        return []
    running = list(Connector.objects.exclude(state__in=("STOPPED", "PAUSED")).defer("trace", "tasks"))
    matched = matched_by_pattern(running, EVERYTHING)
    return [_inmate(row, frozenset((*row.topics, *matched.get(row.name, ())))) for row in running]


def _inmate(row: Connector, topics: frozenset[str]) -> Inmate:
    return Inmate(row.name, reads=topics) if row.kind == "sink" else Inmate(row.name, writes=topics)
