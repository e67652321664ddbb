"""acks=all with three replicas on three brokers, all on this machine: what replication costs and how long it takes.

CPU and memory are those of all three brokers together.
"""

import contextlib
import time
import uuid
from collections.abc import Callable, Iterator

import psutil
from confluent_kafka.admin import AdminClient, NewTopic

from tests.barnabas_cluster import Cluster, await_true
from tests.bench.librdkafka import BatchProducer
from tests.bench.loads import BATCH_1MB, BATCH_64KB, GB, Figure, touch_memory
from tests.bench.raw import RawConnection, paced, pipelined, produce_frame

_ALL = -1
_REPLICAS = 3


class ReplicatedTarget:
    """Three brokers and a topic of one partition that all of them hold."""

    def __init__(self, cluster: Cluster):
        self._cluster = cluster
        self._processes = [psutil.Process(broker.process.pid) for broker in cluster.brokers]
        self._admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})

    @property
    def bootstrap_servers(self) -> str:
        return self._cluster.bootstrap_servers

    def cpu_seconds(self) -> float:
        return sum(sum(process.cpu_times()[:2]) for process in self._processes)

    def rss_mb(self) -> float:
        return sum(process.memory_info().rss for process in self._processes) / 1e6

    def timed(self, work: Callable[[], None]) -> tuple[float, float]:
        """(seconds, CPU seconds of all brokers)"""
        cpu, start = self.cpu_seconds(), time.perf_counter()
        work()
        return time.perf_counter() - start, self.cpu_seconds() - cpu

    @contextlib.contextmanager
    def topic(self) -> Iterator[tuple[str, int]]:
        """(name, port of the leader)"""
        name = f"bench-{uuid.uuid4().hex[:10]}"
        self._admin.create_topics([NewTopic(name, 1, _REPLICAS)])[name].result(30)
        await_true(lambda: len(self._partition(name).isrs) == _REPLICAS, "all replicas are in sync")
        try:
            yield name, self._cluster.broker(self._partition(name).leader).port
        finally:
            self._admin.delete_topics([name])[name].result(30)

    def _partition(self, name: str):
        return self._admin.list_topics(name, timeout=10).topics[name].partitions[0]


Load = Callable[[ReplicatedTarget], Figure]


def produce_load(value_bytes: int, total_bytes: int, settings: dict) -> Load:
    def run(target: ReplicatedTarget) -> Figure:
        count = total_bytes // value_bytes
        with target.topic() as (topic, _):
            producer = BatchProducer(target.bootstrap_servers, topic, value_bytes, settings | {"acks": "all"})
            producer.send(1_000)
            touch_memory((_REPLICAS + 1) * total_bytes)
            seconds, cpu = target.timed(lambda: producer.send(count))
            producer.close()
        payload = count * value_bytes
        return Figure(payload / 1e6 / seconds, "MB/s", cpu / (payload / GB), "s/GB", rss_mb=target.rss_mb())

    return run


def small_pipelined(in_flight: int, seconds: float) -> Load:
    def run(target: ReplicatedTarget) -> Figure:
        with target.topic() as (topic, port):
            connection = RawConnection("127.0.0.1", port)
            request = produce_frame(topic, b"x" * 100, acks=_ALL)
            pipelined(connection, request, in_flight, 0.3)
            done = 0

            def work() -> None:
                nonlocal done
                done = pipelined(connection, request, in_flight, seconds)

            took, cpu = target.timed(work)
            connection.close()
        return Figure(done / took, "req/s", cpu / done * 1e6, "µs/req", rss_mb=target.rss_mb())

    return run


def small_paced(per_second: int, seconds: float) -> Load:
    def run(target: ReplicatedTarget) -> Figure:
        with target.topic() as (topic, port):
            connection = RawConnection("127.0.0.1", port)
            request = produce_frame(topic, b"x" * 100, acks=_ALL)
            paced(connection, request, per_second, 0.5)
            latencies = sorted(paced(connection, request, per_second, seconds))
            connection.close()
        p50, p99 = latencies[len(latencies) // 2], latencies[int(len(latencies) * 0.99)]
        return Figure(per_second, "req/s", p50_ms=p50, p99_ms=p99, rss_mb=target.rss_mb())

    return run


def replicated_loads(scale: float) -> dict[str, Load]:
    """Every load by name; `scale` stretches how much is sent and how long."""

    def size(megabytes: float) -> int:
        return int(megabytes * 1e6 * scale)

    return {
        "replicated: produce 1 KB, 1 MB batches": produce_load(1_024, size(400), BATCH_1MB),
        "replicated: produce 1 KB, 64 KB batches": produce_load(1_024, size(400), BATCH_64KB),
        "replicated: small, 32 in flight": small_pipelined(32, 3 * scale),
        "replicated: small, 500 a second": small_paced(500, 4 * scale),
        "replicated: small, 5,000 a second": small_paced(5_000, 4 * scale),
    }
