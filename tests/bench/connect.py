"""What a Connect worker carries: records a second of one task, memory of many connectors, time of a rebalance.

`python -m tests.bench.connect [TEXT]` prints a line each, of those whose names hold TEXT; the machine should be idle.
"""

import json
import re
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import psutil
from confluent_kafka import Consumer, Producer, TopicPartition

from broker.connect.api import Field, Schema, Struct, Type
from broker.connect.api import schema as types
from broker.connect.converters.registry.avro.converter import AvroConverter
from tests.barnabas_cluster import await_true, running_cluster
from tests.broker.connect.workers import Worker, start_worker
from tests.registry_process import running_registries

_LINES, _ROWS, _RECORDS = 500_000, 300_000, 1_000_000
_TEXT = "org.apache.kafka.connect.storage.StringConverter"
_JSON = "org.apache.kafka.connect.json.JsonConverter"
_AVRO = "io.confluent.connect.avro.AvroConverter"
_CONNECTORS = 200
_JOINED = re.compile(r"timestamp=(\S+) .*event=joined generation=(\d+) units=(\d+)")


def _properties(bootstrap_servers: str) -> dict[str, str]:
    kinds = ("config", "offset", "status")
    storage = {f"{kind}.storage.topic": f"bench-{kind}" for kind in kinds}
    copies = {f"{kind}.storage.replication.factor": "1" for kind in kinds}
    return {
        "bootstrap.servers": bootstrap_servers, "group.id": "bench", "scheduled.rebalance.max.delay.ms": "1000",
        "heartbeat.interval.ms": "500", "value.converter": _TEXT, **storage, **copies,
    }  # fmt: skip


def _cpu_s(worker: Worker) -> float:
    times = psutil.Process(worker.process.pid).cpu_times()
    return times.user + times.system


def _await_count(bootstrap_servers: str, topic: str, count: int) -> None:
    consumer = Consumer({"bootstrap.servers": bootstrap_servers, "log_level": 0, "group.id": "bench-count"})
    try:
        await_true(lambda: consumer.list_topics(topic, timeout=30).topics[topic].partitions, "the topic", 60)
        places = [
            TopicPartition(topic, partition)
            for partition in consumer.list_topics(topic, timeout=30).topics[topic].partitions
        ]
        await_true(lambda: sum(consumer.get_watermark_offsets(place, 30)[1] for place in places) >= count, "lines", 300)
    finally:
        consumer.close()


def _figure_of_source(what: str, bootstrap_servers: str, worker: Worker, topic: str, count: int, config: dict) -> str:
    began, spent = time.monotonic(), _cpu_s(worker)
    worker.ask("PUT", f"/connectors/{topic}/config", config, status=201)
    _await_count(bootstrap_servers, topic, count)
    lasted, spent = time.monotonic() - began, _cpu_s(worker) - spent
    worker.ask("DELETE", f"/connectors/{topic}", status=204)
    return f"{what}: {count / lasted:,.0f} a second of one task with its start, {count / spent:,.0f} a CPU second"


def _lines(file: Path) -> None:
    if not file.exists():
        file.write_text("".join(f"{n:09} a line of about a hundred bytes {'x' * 60}\n" for n in range(_LINES)))


def lines_of_a_file(bootstrap_servers: str, worker: Worker, directory: Path) -> str:
    _lines(directory / "lines.txt")
    config = {"connector.class": "FileStreamSource", "file": str(directory / "lines.txt"), "batch.size": "10000"}
    return _figure_of_source("file source", bootstrap_servers, worker, "lines", _LINES, config | {"topic": "lines"})


def lines_of_a_directory(bootstrap_servers: str, worker: Worker, directory: Path) -> str:
    inbox = directory / "inbox"
    inbox.mkdir()
    _lines(inbox / "lines.txt")
    config = {
        "connector.class": "DirectorySource", "directory": str(inbox), "topic": "put", "batch.size": "10000",
        "file.rest.ms": "0",
    }  # fmt: skip
    return _figure_of_source("directory source, lines", bootstrap_servers, worker, "put", _LINES, config)


def rows_of_a_table(bootstrap_servers: str, worker: Worker, directory: Path) -> str:
    with sqlite3.connect(directory / "rows.db") as database:
        database.execute(
            "CREATE TABLE rows (id INTEGER PRIMARY KEY, customer TEXT, item TEXT, price REAL, at TIMESTAMP)"
        )
        rows = ((n, f"customer-{n % 100}", "pear", n / 100, "2026-01-01 00:00:00.000000") for n in range(_ROWS))
        database.executemany("INSERT INTO rows VALUES (?, ?, ?, ?, ?)", rows)
    config = {
        "connector.class": "SqlSource", "connection.url": f"sqlite:///{directory}/rows.db", "mode": "incrementing",
        "incrementing.column.name": "id", "table.whitelist": "rows", "batch.max.rows": "10000",
        "value.converter": _JSON,
    }  # fmt: skip
    return _figure_of_source("SQL source, SQLite, JSON with schemas", bootstrap_servers, worker, "rows", _ROWS, config)


def _orders(bootstrap_servers: str, topic: str, written: Callable[[dict[str, Any]], bytes]) -> None:
    order = {"id": 1, "customer": "customer-1", "item": "pear", "price": 1.5}
    producer = Producer(
        {"bootstrap.servers": bootstrap_servers, "log_level": 0, "queue.buffering.max.messages": _RECORDS + 1}
    )
    for n in range(_RECORDS):
        producer.produce(topic, written(order | {"id": n}))
    producer.flush(120)


def _as_text(order: dict[str, Any]) -> bytes:
    return json.dumps(order).encode()


def _in_envelope(order: dict[str, Any]) -> bytes:
    kinds = {"id": "int64", "customer": "string", "item": "string", "price": "double"}
    schema = {"type": "struct", "fields": [{"field": name, "type": kind} for name, kind in kinds.items()]}
    return json.dumps({"schema": schema, "payload": order}).encode()


def parquet_of_avro(bootstrap_servers: str, worker: Worker, directory: Path) -> str:
    kinds = {"id": types.INT64, "customer": types.STRING, "item": types.STRING, "price": types.FLOAT64}
    schema = Schema(Type.STRUCT, fields=tuple(Field(name, kind) for name, kind in kinds.items()))
    with running_registries(directory / "registry", bootstrap_servers) as [registry]:
        results = {"schema.registry.url": registry.url}
        converter = AvroConverter()
        converter.configure(results, False)

        def written(order: dict[str, Any]) -> bytes:
            return converter.from_connect("avro", (), schema, Struct(schema, order)) or b""

        named = {f"value.converter.{key}": value for key, value in results.items()}
        return _parquet("Parquet sink, Avro", "avro", _AVRO, written, bootstrap_servers, worker, directory, named)


def _parquet(
    what: str,
    topic: str,
    converter: str,
    written: Callable[[dict[str, Any]], bytes],
    bootstrap_servers: str,
    worker: Worker,
    directory: Path,
    more: Mapping[str, str] | None = None,
) -> str:
    """From the first file to the last one: what comes before is the group's start."""
    _orders(bootstrap_servers, topic, written)
    directory_of_topic, per_file = directory / topic, 50_000
    config = {
        "connector.class": "ObjectSink", "topics": topic, "path": str(directory_of_topic), "format": "parquet",
        "file.max.records": str(per_file), "partition.duration.ms": str(10**13), "value.converter": converter,
        "consumer.override.auto.offset.reset": "earliest", **(more or {}),
    }  # fmt: skip
    worker.ask("PUT", f"/connectors/parquet-{topic}/config", config, status=201)

    def files() -> int:
        return len(list(directory_of_topic.rglob("*.parquet")))

    await_true(lambda: files() >= 1, "the first file", 120)
    first, began, spent = files(), time.monotonic(), _cpu_s(worker)
    await_true(lambda: files() * per_file >= _RECORDS, "all files", 300)
    lasted, spent, count = time.monotonic() - began, _cpu_s(worker) - spent, _RECORDS - first * per_file
    worker.ask("DELETE", f"/connectors/parquet-{topic}", status=204)
    return f"{what}: {count / lasted:,.0f} a second, {count / spent:,.0f} a CPU second"


def many_connectors(worker: Worker, directory: Path) -> str:
    for n in range(_CONNECTORS):
        config = {"connector.class": "FileStreamSource", "file": str(directory / f"none-{n}"), "topic": "idle"}
        path = f"/connectors/c{n}/config"
        await_true(lambda: "name" in worker.ask("PUT", path, config), "configured", 60)  # noqa: B023 (called at once)

    def all_run() -> bool:
        body = worker.ask("GET", "/connectors?expand=status")
        return (
            sum([t["state"] for t in item["status"]["tasks"]] == ["RUNNING"] for item in body.values()) == _CONNECTORS
        )

    await_true(all_run, "all connectors run", 300)
    status = Path(f"/proc/{worker.process.pid}/status").read_text()
    kib = int(re.search(r"VmRSS:\s+(\d+)", status)[1])
    return f"{_CONNECTORS} connectors with a task each on a worker: {kib / 1024:.0f} MB"


def _joins(worker: Worker) -> list[tuple[float, int, int]]:
    matches = _JOINED.findall(worker.log.read_text())
    return [(datetime.fromisoformat(at).timestamp(), int(generation), int(units)) for at, generation, units in matches]


def rebalance(workers: list[Worker]) -> str:
    """From the first join of the last worker to the last one of all, when they have their shares."""
    share = 2 * _CONNECTORS // len(workers)

    def is_shared() -> bool:
        last = [joins[-1][2] if (joins := _joins(worker)) else 0 for worker in workers]
        return sum(last) == 2 * _CONNECTORS and all(abs(units - share) <= 2 for units in last)

    await_true(is_shared, "the work is shared", 300)
    began = _joins(workers[-1])[0][0]
    ended = max(_joins(worker)[-1][0] for worker in workers)
    return f"{_CONNECTORS} connectors with a task each over {len(workers)} workers: {ended - began:.2f} s"


_OF_A_TASK = {
    "file source": lines_of_a_file,
    "directory source": lines_of_a_directory,
    "SQL source": rows_of_a_table,
    "Parquet sink, texts": partial(_parquet, "Parquet sink, texts", "texts", _TEXT, _as_text),
    "Parquet sink, JSON": partial(_parquet, "Parquet sink, JSON with schemas", "orders", _JSON, _in_envelope),
    "Parquet sink, Avro": parquet_of_avro,
}


def main(text: str = "") -> int:
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
            for name, figure in _OF_A_TASK.items():
                if text in name:
                    print(figure(cluster.bootstrap_servers, workers[0], directory), flush=True)
            if text in "many connectors":
                print(many_connectors(workers[0], directory), flush=True)
                another()
                another()
                print(rebalance(workers), flush=True)
        finally:
            for worker in workers:
                worker.process.kill()
                worker.process.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
