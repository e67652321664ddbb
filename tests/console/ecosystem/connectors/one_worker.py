"""A broker and one distributed worker on it, which is a group of its own."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from tests.barnabas_cluster import await_true, running_cluster
from tests.broker.connect.workers import Worker, start_worker

_KINDS = ("config", "offset", "status")


@contextlib.contextmanager
def running_worker(directory: Path) -> Iterator[Worker]:
    with running_cluster(directory, brokers=1) as cluster:
        worker = start_worker(
            directory / "worker",
            "distributed",
            {
                "bootstrap.servers": cluster.bootstrap_servers,
                "group.id": "console",
                "heartbeat.interval.ms": "500",
                "offset.storage.partitions": "3",
                "status.storage.partitions": "2",
                **{f"{kind}.storage.topic": f"connect-{kind}" for kind in _KINDS},
                **{f"{kind}.storage.replication.factor": "1" for kind in _KINDS},
            },
        )
        try:
            await_true(worker.answers, "REST answers", 120)
            yield worker
        finally:
            worker.stop()
