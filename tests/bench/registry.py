"""Figures of the schema registry: `python -m tests.bench.registry [URL] [--schemas N]`.

Without a URL it starts a cluster of one broker and a registry. It fills the topic with N schemas, so that a registry
reads them at its start, and asks for ids over connections that are kept, as consumers do.
"""

import argparse
import json
import socket
import statistics
import tempfile
import threading
import time
from pathlib import Path

import psutil
from confluent_kafka import Producer

from tests.barnabas_cluster import running_cluster
from tests.registry_process import running_registries

_SECONDS = 10.0
_CLIENTS = 4
_RATE = 2_000
_TOPIC = "_schemas-bench"


def fill(bootstrap_servers: str, count: int, topic: str = _TOPIC) -> None:
    """Schemas of some twenty fields, in the words of the topic."""
    producer = Producer({"bootstrap.servers": bootstrap_servers, "log_level": 0})
    fields = [{"name": f"field_{at}", "type": ["null", "string"], "default": None} for at in range(20)]
    for number in range(1, count + 1):
        schema = json.dumps({"type": "record", "name": f"R{number}", "fields": fields}, separators=(",", ":"))
        key = {"keytype": "SCHEMA", "subject": f"s{number}", "version": 1, "magic": 1}
        value = {"subject": f"s{number}", "version": 1, "id": number, "schema": schema, "deleted": False}
        producer.produce(topic, json.dumps(value), json.dumps(key, separators=(",", ":")), partition=0)
        producer.poll(0)
    producer.flush()


def look_up(port: int, count: int, rate: float, until: float, took: list[float]) -> None:
    """At this rate, each counted from when it was due: a registry that stands still is not spared the waiting."""
    connection = socket.create_connection(("127.0.0.1", port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    due, number = time.monotonic(), 0
    while due < until:
        if (left := due - time.monotonic()) > 0:
            time.sleep(left)
        number = number * 31 % count + 1
        connection.sendall(b"GET /schemas/ids/%d?subject=s%d HTTP/1.1\r\nHost: a\r\n\r\n" % (number, number))
        _read_answer(connection)
        took.append(time.monotonic() - due)
        due += 1 / rate


def _read_answer(connection: socket.socket) -> None:
    """As little as can be: the client shares the machine with what is measured."""
    data = connection.recv(65_536)
    assert data.startswith(b"HTTP/1.1 200"), data[:100]
    head, _, body = data.partition(b"\r\n\r\n")
    left = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]) - len(body)
    while left > 0:
        left -= len(connection.recv(65_536))


def measure(port: int, count: int, rate: float = _RATE, seconds: float = _SECONDS) -> str:
    took: list[list[float]] = [[] for _ in range(_CLIENTS)]
    until = time.monotonic() + seconds
    threads = [threading.Thread(target=look_up, args=(port, count, rate / _CLIENTS, until, mine)) for mine in took]
    begun = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    all_took = sorted(item for mine in took for item in mine)
    p99 = all_took[len(all_took) * 99 // 100] * 1000
    pace = len(all_took) / (time.monotonic() - begun)
    return f"{pace:,.0f} id look-ups/s, median {statistics.median(all_took) * 1000:.2f} ms, p99 {p99:.2f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--schemas", type=int, default=10_000)
    parser.add_argument("--bootstrap-servers", default="")
    parser.add_argument("--rate", type=float, default=_RATE)
    arguments = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="registry-bench-"))
    if arguments.bootstrap_servers:
        run(directory, arguments.bootstrap_servers, arguments.schemas, arguments.rate)
        return
    with running_cluster(directory) as cluster:
        run(directory, cluster.bootstrap_servers, arguments.schemas, arguments.rate)


def run(directory: Path, bootstrap_servers: str, count: int, rate: float) -> None:
    topic = f"{_TOPIC}-{directory.name}"
    with running_registries(directory / "first", bootstrap_servers, kafkastore_topic=topic):
        pass
    fill(bootstrap_servers, count, topic)
    begun = time.monotonic()
    with running_registries(directory / "second", bootstrap_servers, kafkastore_topic=topic) as [registry]:
        assert registry.process is not None
        print(f"start with {count:,} schemas: {time.monotonic() - begun:.1f} s")
        process = psutil.Process(registry.process.pid)
        print(f"memory: {process.memory_info().rss / 1e6:.0f} MB")
        before = process.cpu_times()
        print(measure(registry.port, count, rate))
        after = process.cpu_times()
        print(f"processor time of the registry: {after.user + after.system - before.user - before.system:.1f} s")


if __name__ == "__main__":
    main()
