"""What a Connect worker carries: lines a second of one task, memory of many connectors, time of a rebalance.

`python -m tests.bench.connect` prints a line each; the machine should be idle.
"""

import re
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

import psutil
from confluent_kafka import Consumer, TopicPartition

from tests.barnabas_cluster import await_true, running_cluster
from tests.broker.connect.workers import Worker, start_worker

_LINES = 500_000
_CONNECTORS = 200
_JOINED = re.compile(r"timestamp=(\S+) .*event=joined generation=(\d+) units=(\d+)")


def _properties(bootstrap_servers: str) -> dict[str, str]:
    kinds = ("config", "offset", "status")
    storage = {f"{kind}.storage.topic": f"bench-{kind}" for kind in kinds}
    copies = {f"{kind}.storage.replication.factor": "1" for kind in kinds}
    text = "org.apache.kafka.connect.storage.StringConverter"
    return {
        "bootstrap.servers": bootstrap_servers, "group.id": "bench", "scheduled.rebalance.max.delay.ms": "1000",
        "heartbeat.interval.ms": "500", "value.converter": text, **storage, **copies,
    }  # fmt: skip


def _cpu_s(worker: Worker) -> float:
    times = psutil.Process(worker.process.pid).cpu_times()
    return times.user + times.system


def _await_count(bootstrap_servers: str, topic: str, count: int) -> None:
    consumer = Consumer({"bootstrap.servers": bootstrap_servers, "group.id": "bench-count"})
    try:
        await_true(lambda: consumer.list_topics(topic, timeout=30).topics[topic].partitions, "the topic", 60)
        places = [
            TopicPartition(topic, each) for each in consumer.list_topics(topic, timeout=30).topics[topic].partitions
        ]
        await_true(lambda: sum(consumer.get_watermark_offsets(each, 30)[1] for each in places) >= count, "lines", 300)
    finally:
        consumer.close()


def lines_a_second(bootstrap_servers: str, worker: Worker, directory: Path) -> str:
    file = directory / "lines.txt"
    file.write_text("".join(f"{n:09} a line of about a hundred bytes {'x' * 60}\n" for n in range(_LINES)))
    began, spent = time.monotonic(), _cpu_s(worker)
    config = {"connector.class": "FileStreamSource", "file": str(file), "topic": "lines", "batch.size": "10000"}
    worker.ask("PUT", "/connectors/lines/config", config, status=201)
    _await_count(bootstrap_servers, "lines", _LINES)
    lasted, spent = time.monotonic() - began, _cpu_s(worker) - spent
    worker.ask("DELETE", "/connectors/lines", status=204)
    return f"file source: {_LINES / lasted:,.0f} lines/s of one task with its start, {_LINES / spent:,.0f} a CPU second"


def many_connectors(worker: Worker, directory: Path) -> str:
    for n in range(_CONNECTORS):
        config = {"connector.class": "FileStreamSource", "file": str(directory / f"none-{n}"), "topic": "idle"}
        path = f"/connectors/c{n}/config"
        await_true(lambda: "name" in worker.ask("PUT", path, config), "configured", 60)  # noqa: B023 (called at once)

    def all_run() -> bool:
        told = worker.ask("GET", "/connectors?expand=status")
        return (
            sum([t["state"] for t in each["status"]["tasks"]] == ["RUNNING"] for each in told.values()) == _CONNECTORS
        )

    await_true(all_run, "all connectors run", 300)
    status = Path(f"/proc/{worker.process.pid}/status").read_text()
    kib = int(re.search(r"VmRSS:\s+(\d+)", status)[1])
    return f"{_CONNECTORS} connectors with a task each on a worker: {kib / 1024:.0f} MB"


def _joins(worker: Worker) -> list[tuple[float, int, int]]:
    found = _JOINED.findall(worker.log.read_text())
    return [(datetime.fromisoformat(at).timestamp(), int(generation), int(units)) for at, generation, units in found]


def rebalance(workers: list[Worker]) -> str:
    """From the first join of the last worker to the last one of all, when they have their shares."""
    share = 2 * _CONNECTORS // len(workers)

    def is_shared() -> bool:
        last = [joins[-1][2] if (joins := _joins(each)) else 0 for each in workers]
        return sum(last) == 2 * _CONNECTORS and all(abs(units - share) <= 2 for units in last)

    await_true(is_shared, "the work is shared", 300)
    began = _joins(workers[-1])[0][0]
    ended = max(_joins(each)[-1][0] for each in workers)
    return f"{_CONNECTORS} connectors with a task each over {len(workers)} workers: {ended - began:.2f} s"


def main() -> int:
    with tempfile.TemporaryDirectory() as name, running_cluster(brokers=1) as cluster:
        directory = Path(name)
        workers: list[Worker] = []

        def another() -> Worker:
            at = directory / f"worker-{len(workers)}"
            workers.append(start_worker(at, "distributed", _properties(cluster.bootstrap_servers)))
            await_true(workers[-1].answers, "REST answers", 120)
            return workers[-1]

        try:
            another()
            await_true(lambda: _joins(workers[0]), "it leads", 60)
            print(lines_a_second(cluster.bootstrap_servers, workers[0], directory), flush=True)
            print(many_connectors(workers[0], directory), flush=True)
            another()
            another()
            print(rebalance(workers), flush=True)
        finally:
            for each in workers:
                each.process.kill()
                each.process.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
