"""Managed processes as rows of a file."""

from collections.abc import Iterable, Iterator

from console.kit.access.last_line import sentence_within
from console.kit.access.reach import Reach
from console.processes.models import ManagedProcess

TITLES = (
    "process",
    "kind",
    "host",
    "state",
    "sentence",
    "wanted",
    "restart",
    "restarts",
    "port_says",
    "cluster_says",
    "port",
    "pid",
    "started_at",
    "memory_bytes",
    "cpu_percent",
)


def process_rows(processes: Iterable[ManagedProcess], reach: Reach) -> Iterator[tuple[object, ...]]:
    for each in processes:
        port = each.ports[0] if each.ports else None
        seen = (port, each.pid, each.started_at, each.memory_bytes, each.cpu_percent)
        sentence = sentence_within(reach, each.state_sentence)
        told = (sentence, each.desired, each.restart, each.restart_count, each.port_says, each.cluster_says)
        yield (each.name, each.kind, each.host, each.state, *told, *seen)
