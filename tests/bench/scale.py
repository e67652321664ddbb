"""What a broker takes to start, and what it holds when nothing happens: seconds, MB of memory, open files.

Each figure is taken from a cluster of its own, started for it.
"""

import contextlib
import statistics
import time
from collections.abc import Callable, Iterator

import psutil
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.barnabas_cluster import BrokerProcess, Cluster, await_true, running_cluster

_RECORDS_PER_PARTITION = 200
_STARTS = 5
#: Quiet long enough for whatever a start leaves behind to be done.
_SETTLE_S = 3


def figures() -> dict[str, Callable[[], str]]:
    """By name what measures and tells it in words."""
    return {
        "start, 100 partitions, clean stop": lambda: _start_figure(100, is_clean=True),
        "start, 100 partitions, kill -9": lambda: _start_figure(100, is_clean=False),
        "start, 1,000 partitions, clean stop": lambda: _start_figure(1_000, is_clean=True),
        "start, 1,000 partitions, kill -9": lambda: _start_figure(1_000, is_clean=False),
        "memory, idle": lambda: _memory_figure(0),
        "memory, 1,000 partitions": lambda: _memory_figure(1_000),
        "memory, a log of 1,000 segments": _segments_figure,
    }


def _start_figure(partitions: int, *, is_clean: bool) -> str:
    with _cluster_with("t", partitions) as cluster:
        broker = cluster.brokers[0]
        _write(cluster, "t", partitions * _RECORDS_PER_PARTITION)
        seconds = []
        for _ in range(_STARTS):
            broker.stop() if is_clean else broker.kill()
            began = time.perf_counter()
            broker.start()
            broker.await_healthy()
            seconds.append(time.perf_counter() - began)
            _write(cluster, "t", 10 * partitions)
        return f"{statistics.median(seconds):.2f} s to serving (slowest {max(seconds):.2f} s)"


def _memory_figure(partitions: int) -> str:
    with _cluster_with("t", partitions) as cluster:
        if partitions:
            _write(cluster, "t", partitions * _RECORDS_PER_PARTITION)
        time.sleep(_SETTLE_S)
        before = _held_by(cluster.brokers[0])
        cluster.brokers[0].stop()
        cluster.brokers[0].start()
        cluster.brokers[0].await_healthy()
        time.sleep(_SETTLE_S)
        return f"{before}; started again {_held_by(cluster.brokers[0])}"


def _segments_figure() -> str:
    with _cluster_with("t", 1, {"segment.bytes": "1000"}) as cluster:
        producer = Producer(
            {"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0, "batch.num.messages": 1, "linger.ms": 0}
        )
        for _ in range(1_100):
            producer.produce("t", bytes(800))
            producer.poll(0)
        assert producer.flush(60) == 0
        directory = cluster.brokers[0].directory / "logs" / "t-0"
        return f"{len(list(directory.glob('*.log'))):,} segments, {_held_by(cluster.brokers[0])}"


def _held_by(broker: BrokerProcess) -> str:
    process = psutil.Process(broker.process.pid)
    return f"RSS {process.memory_info().rss / 1e6:.0f} MB, {process.num_fds():,} open files"


@contextlib.contextmanager
def _cluster_with(topic: str, partitions: int, config: dict[str, str] | None = None) -> Iterator[Cluster]:
    with running_cluster(overrides={"offsets.topic.num.partitions": "1"}) as cluster:
        if partitions:
            admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
            admin.create_topics([NewTopic(topic, partitions, 1, config=config or {})])[topic].result(60)
            logs = cluster.brokers[0].directory / "logs"
            await_true(lambda: len(list(logs.glob(f"{topic}-*"))) == partitions, "every partition has its directory")
        yield cluster


def _write(cluster: Cluster, topic: str, count: int) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "linger.ms": 20, "log_level": 0})
    for number in range(count):
        producer.produce(topic, f"value {number}".encode() * 20, f"key {number}".encode())
        if number % 1_000 == 0:
            producer.poll(0)
    assert producer.flush(120) == 0
