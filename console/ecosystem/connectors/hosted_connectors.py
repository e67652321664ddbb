"""What runs within the console's own Connect workers, as the collector last saw it: for whoever ends one."""

from console.ecosystem.connectors.models import Connector
from console.processes.dependents import Inmate
from console.processes.models import ManagedProcess


def connectors_of_workers(process: ManagedProcess) -> list[Inmate]:
    """Return what runs in a worker of Kafka Connect; nothing runs in a process of another kind.

    That is every connector: the console starts workers only where there are no others, and they are of one group.
    """
    if process.kind != ManagedProcess.Kind.CONNECT:
        return []
    running = Connector.objects.exclude(state__in=("STOPPED", "PAUSED"))
    return [_inmate(*row) for row in running.values_list("name", "kind", "topics")]


def _inmate(name: str, kind: str, topics: list[str]) -> Inmate:
    named = frozenset(topics)
    return Inmate(name, reads=named) if kind == "sink" else Inmate(name, writes=named)
