"""What runs within the console's own Connect workers, as the collector last saw it: for whoever ends one."""

from console.ecosystem.connectors.models import Connector
from console.processes.dependents import Inmate


def connectors_of_workers() -> list[Inmate]:
    """All there are: the console starts the workers only where none are elsewhere, and they are of one group."""
    running = Connector.objects.exclude(state__in=("STOPPED", "PAUSED"))
    return [_inmate(*row) for row in running.values_list("name", "kind", "topics")]


def _inmate(name: str, kind: str, topics: list[str]) -> Inmate:
    named = frozenset(topics)
    return Inmate(name, reads=named) if kind == "sink" else Inmate(name, writes=named)
