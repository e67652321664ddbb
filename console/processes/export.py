"""Managed processes as rows of a file."""

from collections.abc import Iterable, Iterator

from console.kit.access.log_tail import sentence_within
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
    for process in processes:
        port = process.ports[0] if process.ports else None
        seen = (port, process.pid, process.started_at, process.memory_bytes, process.cpu_percent)
        sentence = sentence_within(reach, process.state_sentence)
        values = (
            sentence,
            process.desired,
            process.restart,
            process.restart_count,
            process.port_says,
            process.cluster_says,
        )
        yield (process.name, process.kind, process.host, process.state, *values, *seen)
