"""The loads, each a function of a target (a broker) that returns a `Figure`, on a topic of its own."""

import contextlib
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import psutil
from confluent_kafka.admin import AdminClient, NewTopic

from tests.bench.attacks import Aim, attacked
from tests.bench.attacks.connections import ATTACKS
from tests.bench.librdkafka import BatchConsumer, BatchProducer
from tests.bench.raw import RawConnection, fetch_frame, one_at_a_time, paced, pipelined, produce_frame

GB = 1e9
BATCH_1MB = {"batch.size": 1_000_000, "batch.num.messages": 1_000_000, "linger.ms": 20, "acks": 1}
BATCH_64KB = {"batch.size": 65_536, "batch.num.messages": 1_000_000, "linger.ms": 5, "acks": 1}


@dataclass(frozen=True)
class Target:
    """A broker under load. `process` is known when it runs on this machine and was started by the benchmark."""

    name: str
    host: str
    port: int
    process: psutil.Process | None = None

    @property
    def bootstrap_servers(self) -> str:
        return f"{self.host}:{self.port}"

    def cpu_seconds(self) -> float | None:
        return sum(self.process.cpu_times()[:2]) if self.process else None

    def rss_mb(self) -> float | None:
        return self.process.memory_info().rss / 1e6 if self.process else None

    @contextlib.contextmanager
    def topic(self, name: str = "", config: dict[str, str] | None = None) -> Iterator[str]:
        """A fresh topic with one partition, deleted afterwards."""
        name = name or f"bench-{uuid.uuid4().hex[:10]}"
        admin = AdminClient({"bootstrap.servers": self.bootstrap_servers, "log_level": 0})
        admin.create_topics([NewTopic(name, 1, 1, config=config or {})])[name].result(30)
        try:
            yield name
        finally:
            admin.delete_topics([name])[name].result(30)


@dataclass(frozen=True)
class Figure:
    """What one run of a load gave. `rate` is in `unit`; CPU of the broker per GB of payload or per request."""

    rate: float
    unit: str
    cpu: float | None = None
    cpu_unit: str = ""
    p50_ms: float | None = None
    p99_ms: float | None = None
    alone_p99_ms: float | None = None
    rss_mb: float | None = None


def _timed(target: Target, work: Callable[[], None]) -> tuple[float, float | None]:
    """(seconds, CPU seconds of the broker)"""
    cpu, start = target.cpu_seconds(), time.perf_counter()
    work()
    seconds = time.perf_counter() - start
    return seconds, None if cpu is None else target.cpu_seconds() - cpu


def _throughput(target: Target, payload_bytes: int, work: Callable[[], None]) -> Figure:
    seconds, cpu = _timed(target, work)
    per_gb = None if cpu is None else cpu / (payload_bytes / GB)
    return Figure(payload_bytes / 1e6 / seconds, "MB/s", per_gb, "s/GB", rss_mb=target.rss_mb())


def touch_memory(size: int) -> None:
    """Use so much memory once and give it back, for the page cache and the client's queue to take.

    A virtual machine gets a page from its host when it first writes to it, which costs 2 s a GB, four times what the
    broker does with the data, and depends on what ran before.
    """
    bytearray(b"\1") * size


def produce_load(value_bytes: int, total_bytes: int, settings: dict) -> Callable[[Target], Figure]:
    def run(target: Target) -> Figure:
        count = total_bytes // value_bytes
        with target.topic() as topic:
            producer = BatchProducer(target.bootstrap_servers, topic, value_bytes, settings)
            producer.send(1_000)
            touch_memory(2 * total_bytes)
            figure = _throughput(target, count * value_bytes, lambda: producer.send(count))
            producer.close()
        return figure

    return run


def consume_load(value_bytes: int, total_bytes: int) -> Callable[[Target], Figure]:
    def run(target: Target) -> Figure:
        count = total_bytes // value_bytes
        with target.topic() as topic:
            producer = BatchProducer(target.bootstrap_servers, topic, value_bytes, BATCH_1MB)
            producer.send(count)
            producer.close()
            consumer = BatchConsumer(target.bootstrap_servers, topic, {"group.id": "bench"})
            consumer.start()
            figure = _throughput(target, count * value_bytes, lambda: consumer.read(count - 1))
            consumer.close()
        return figure

    return run


def _requests(target: Target, work: Callable[[], int]) -> Figure:
    done = 0

    def count() -> None:
        nonlocal done
        done = work()

    seconds, cpu = _timed(target, count)
    return Figure(done / seconds, "req/s", None if cpu is None else cpu / done * 1e6, "µs/req", rss_mb=target.rss_mb())


def small_pipelined(in_flight: int, seconds: float) -> Callable[[Target], Figure]:
    def run(target: Target) -> Figure:
        with target.topic() as topic:
            connection = RawConnection(target.host, target.port)
            request = produce_frame(topic, b"x" * 100)
            pipelined(connection, request, in_flight, 0.3)
            figure = _requests(target, lambda: pipelined(connection, request, in_flight, seconds))
            connection.close()
        return figure

    return run


def small_one_in_flight(connections: int, seconds: float) -> Callable[[Target], Figure]:
    def run(target: Target) -> Figure:
        with target.topic() as topic:
            opened = [RawConnection(target.host, target.port) for _ in range(connections)]
            request = produce_frame(topic, b"x" * 100)
            figure = _requests(target, lambda: one_at_a_time(opened, request, seconds))
            for connection in opened:
                connection.close()
        return figure

    return run


def small_paced(per_second: int, seconds: float) -> Callable[[Target], Figure]:
    def run(target: Target) -> Figure:
        with target.topic() as topic:
            connection = RawConnection(target.host, target.port)
            p50, p99 = _percentiles(connection, produce_frame(topic, b"x" * 100), per_second, seconds)
            connection.close()
        return Figure(per_second, "req/s", p50_ms=p50, p99_ms=p99, rss_mb=target.rss_mb())

    return run


def _percentiles(connection: RawConnection, request: bytes, per_second: int, seconds: float) -> tuple[float, float]:
    paced(connection, request, per_second, 0.3)
    latencies = sorted(paced(connection, request, per_second, seconds))
    return latencies[len(latencies) // 2], latencies[int(len(latencies) * 0.99)]


def under_attack(attack: str, per_second: int, seconds: float) -> Callable[[Target], Figure]:
    """A well-behaved client's latency, first by itself and then while the broker is attacked."""

    def run(target: Target) -> Figure:
        with target.topic() as topic, target.topic(f"{topic}-compacted", {"cleanup.policy": "compact"}):
            connection = RawConnection(target.host, target.port)
            connection.send(produce_frame(topic, b"x" * 1_000, records=200))
            connection.answers(1)
            request = produce_frame(topic, b"x" * 100)
            _, alone = _percentiles(connection, request, per_second, seconds)
            with attacked(attack, Aim(target.host, target.port, topic)):
                p50, p99 = _percentiles(connection, request, per_second, seconds)
                rss_mb = target.rss_mb()
            connection.close()
        return Figure(per_second, "req/s", p50_ms=p50, p99_ms=p99, alone_p99_ms=alone, rss_mb=rss_mb)

    return run


def fetch_load(answer_bytes: int, total_bytes: int) -> Callable[[Target], Figure]:
    """The same answer again and again, two requests in flight: what the broker can send, whatever a client decodes."""

    def run(target: Target) -> Figure:
        with target.topic() as topic:
            connection = RawConnection(target.host, target.port)
            for _ in range(max(1, 2 * answer_bytes // 60_000)):
                connection.send(produce_frame(topic, b"x" * 1_000, records=60))
                connection.answers(1)
            request, count = fetch_frame(topic, 0, answer_bytes), total_bytes // answer_bytes

            def work() -> None:
                connection.send(request)
                for _ in range(count - 1):
                    connection.send(request)
                    connection.answers(1)
                connection.answers(1)

            figure = _throughput(target, count * answer_bytes, work)
            connection.close()
        return figure

    return run


def loads(scale: float) -> dict[str, Callable[[Target], Figure]]:
    """Every load by name; `scale` stretches how much is sent and how long."""

    def size(megabytes: float) -> int:
        return int(megabytes * 1e6 * scale)

    return {
        "produce 1 KB, 1 MB batches": produce_load(1_024, size(800), BATCH_1MB),
        "produce 1 KB, 64 KB batches": produce_load(1_024, size(500), BATCH_64KB),
        "produce 100 B, 1 MB batches": produce_load(100, size(200), BATCH_1MB),
        "small, 1 connection, 32 in flight": small_pipelined(32, 3 * scale),
        "small, 16 connections, 1 in flight": small_one_in_flight(16, 3 * scale),
        "small, 1,000 a second": small_paced(1_000, 3 * scale),
        "fetch raw, 1 MB answers": fetch_load(1_000_000, size(4_000)),
        "fetch raw, 64 KB answers": fetch_load(65_536, size(1_500)),
        "consume 1 KB, librdkafka": consume_load(1_024, size(500)),
        **{f"hostile: {attack}": under_attack(attack, 500, 4 * scale) for attack in ATTACKS},
    }
