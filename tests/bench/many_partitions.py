"""What thousands of partitions cost three brokers: making them, losing a broker, stopping one, doing nothing.

Each figure is taken from a cluster of its own. Clients and ZooKeeper run on the same cores. CPU is what the brokers'
processes used, which other work on the machine hardly changes; times are what a client sees.
"""

import contextlib
import statistics
import threading
import time
from collections.abc import Callable, Iterator

import psutil
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.barnabas_cluster import BrokerProcess, Cluster, await_true, running_cluster

_SESSION_TIMEOUT_S = 4.0
_TOPIC = "many"
_IDLE_S = 60
#: Quiet long enough for whatever was begun to be done.
_SETTLE_S = 10
_ROUNDS = 3


def figures() -> dict[str, Callable[[], str]]:
    """By name what measures and tells it in words."""
    return {
        "create a topic of 100 x 3": _create_figure,
        "fail-over, 1,000 leaders": _fail_over_figure,
        "clean stop, 1,000 leaders": _clean_stop_figure,
        "idle, 10,000 replicas on 3 brokers": _idle_figure,
    }


def _create_figure() -> str:
    with running_cluster(brokers=3) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
        created, written = [], []
        for number in range(_ROUNDS):
            began = time.perf_counter()
            _create(admin, f"hundred-{number}", 100)
            created.append(time.perf_counter() - began)
            _write_to_each(cluster, f"hundred-{number}", range(100))
            written.append(time.perf_counter() - began)
        return (
            f"{statistics.median(created):.2f} s (slowest {max(created):.2f} s); "
            f"each has taken a record, acks=all, after {statistics.median(written):.2f} s"
        )


def _fail_over_figure() -> str:
    """From the kill until every partition the broker led has acknowledged a record, acks=all, by its new leader."""
    with _cluster_with(3_000) as cluster:
        victim = _not_controller(cluster)
        led = _led_by(cluster, victim)
        producer = _producer(cluster)
        producer.list_topics(_TOPIC)
        began = time.perf_counter()
        victim.kill()
        acknowledged = _send_to_each(producer, _TOPIC, led)
        took = sorted(at - began for at in acknowledged)
        middle = statistics.median(took)
        return (
            f"{len(led):,} partitions serve again after {took[-1]:.2f} s (the first {took[0]:.2f}, half {middle:.2f}); "
            f"the session's end takes {_SESSION_TIMEOUT_S:.0f} s of it"
        )


def _clean_stop_figure() -> str:
    with _cluster_with(3_000) as cluster:
        _write_to_each(cluster, _TOPIC, range(3_000))
        broker = _not_controller(cluster)
        led = _led_by(cluster, broker)
        with _Load(cluster, 3_000) as load:
            time.sleep(_SETTLE_S)
            began = time.perf_counter()
            assert broker.stop() == 0
            took = time.perf_counter() - began
        return (
            f"{took:.2f} s for {len(led):,} leaders; {load.acknowledged:,} records acknowledged meanwhile, "
            f"{load.errors} errors, the longest wait for one {load.longest_s:.2f} s"
        )


def _idle_figure() -> str:
    with _cluster_with(3_334) as cluster:
        _write_to_each(cluster, _TOPIC, range(3_334))
        time.sleep(_SETTLE_S)
        busy = _cpu_over(cluster, _IDLE_S)
        memory = [_memory_mb(broker) for broker in cluster.brokers]
        broker = _not_controller(cluster)
        broker.stop()
        began = time.perf_counter()
        broker.start()
        broker.await_healthy()
        started = time.perf_counter() - began
        cpu = ", ".join(f"{100 * share:.1f} %" for share in busy)
        return (
            f"{cpu} of a core; RSS {', '.join(f'{item:.0f}' for item in memory)} MB; started again in {started:.2f} s"
        )


# --- the cluster


@contextlib.contextmanager
def _cluster_with(partitions: int) -> Iterator[Cluster]:
    """Three brokers that hold `partitions` three times, each leading a third."""
    overrides = {
        "zookeeper.session.timeout.ms": f"{1000 * _SESSION_TIMEOUT_S:.0f}",
        "offsets.topic.num.partitions": "1",
    }
    with running_cluster(brokers=3, overrides=overrides) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
        _create(admin, _TOPIC, partitions)
        time.sleep(_SETTLE_S)
        yield cluster


def _create(admin: AdminClient, topic: str, partitions: int) -> None:
    admin.create_topics([NewTopic(topic, partitions, 3)], operation_timeout=60, request_timeout=60)[topic].result(60)


def _not_controller(cluster: Cluster) -> BrokerProcess:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
    controller = admin.describe_cluster().result(10).controller.id
    return next(broker for broker in cluster.brokers if broker.broker_id != controller)


def _led_by(cluster: Cluster, broker: BrokerProcess) -> list[int]:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
    partitions = admin.list_topics(_TOPIC, timeout=10).topics[_TOPIC].partitions
    return [index for index, item in partitions.items() if item.leader == broker.broker_id]


def _cpu_over(cluster: Cluster, seconds: float) -> list[float]:
    """Share of a core each broker used."""
    processes = [psutil.Process(broker.process.pid) for broker in cluster.brokers]
    before = [_cpu_s(process) for process in processes]
    time.sleep(seconds)
    return [(_cpu_s(process) - used) / seconds for process, used in zip(processes, before, strict=True)]


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


def _memory_mb(broker: BrokerProcess) -> float:
    return psutil.Process(broker.process.pid).memory_info().rss / 1e6


# --- the load


def _producer(cluster: Cluster) -> Producer:
    return Producer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "enable.idempotence": True,
            "linger.ms": 5,
            "topic.metadata.refresh.fast.interval.ms": 100,
            "retry.backoff.ms": 50,
            "log_level": 0,
        }
    )


def _write_to_each(cluster: Cluster, topic: str, partitions: range) -> None:
    _send_to_each(_producer(cluster), topic, partitions)


def _send_to_each(producer: Producer, topic: str, partitions: range | list[int]) -> list[float]:
    """When each acknowledged the one record it was sent."""
    acknowledged: list[float] = []

    def delivered(error, _message) -> None:
        assert error is None, error
        acknowledged.append(time.perf_counter())

    for partition in partitions:
        producer.produce(topic, b"value", partition=partition, on_delivery=delivered)
    await_true(lambda: producer.flush(0.05) == 0, "each partition has its record", 60)
    return acknowledged


class _Load:
    """A thousand records a second to all partitions in turn, until left."""

    def __init__(self, cluster: Cluster, partitions: int):
        self.acknowledged = self.errors = 0
        self.longest_s = 0.0
        self._producer = _producer(cluster)
        self._partitions = partitions
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> "_Load":
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._is_over.set()
        self._thread.join()
        assert self._producer.flush(60) == 0

    def _run(self) -> None:
        number = 0
        while not self._is_over.wait(0.01):
            for _ in range(10):
                partition = number % self._partitions
                sent = time.perf_counter()
                self._producer.produce(
                    _TOPIC, b"value", partition=partition, on_delivery=lambda error, _, at=sent: self._done(error, at)
                )
                number += 1
            self._producer.poll(0)

    def _done(self, error, sent_at: float) -> None:
        self.acknowledged += error is None
        self.errors += error is not None
        self.longest_s = max(self.longest_s, time.perf_counter() - sent_at)
