"""Transactions of one producer, one after the other: how many end in a second, and how long one takes.

A transaction is 100 records of 100 bytes to one partition. It costs a producer three answers (partition added, records
written, outcome decided), each after a round of replication, and the next one waits for the marker of the one before.
"""

import time
import uuid
from collections.abc import Callable

from confluent_kafka import Producer

from tests.bench.loads import Figure, Target
from tests.bench.replicated import ReplicatedTarget

_RECORDS = 100
_TIMEOUT_S = 30.0


class TransactionalProducer:
    def __init__(self, bootstrap_servers: str, topic: str):
        self._topic = topic
        settings = {
            "bootstrap.servers": bootstrap_servers,
            "transactional.id": uuid.uuid4().hex,
            "linger.ms": 0,
            "log_level": 0,
        }
        self._producer = Producer(settings)
        self._producer.init_transactions(_TIMEOUT_S)

    def run(self, seconds: float) -> list[float]:
        """How long each transaction took."""
        took, ends_at = [], time.perf_counter() + seconds
        while (began := time.perf_counter()) < ends_at:
            self.transact(_RECORDS)
            took.append(time.perf_counter() - began)
        return took

    def transact(self, records: int) -> None:
        self._producer.begin_transaction()
        for _ in range(records):
            self._producer.produce(self._topic, b"x" * 100, partition=0)
        self._producer.commit_transaction(_TIMEOUT_S)


def _figure(producer: TransactionalProducer, seconds: float, cpu_seconds: Callable[[], float]) -> Figure:
    producer.run(0.3)
    cpu = cpu_seconds()
    took = sorted(producer.run(seconds))
    per_transaction = (cpu_seconds() - cpu) / len(took) * 1e6
    p50, p99 = (took[int(len(took) * share)] * 1e3 for share in (0.5, 0.99))
    return Figure(len(took) / sum(took), "txn/s", per_transaction, "µs/txn", p50_ms=p50, p99_ms=p99)


def transactions(seconds: float) -> Callable[[Target], Figure]:
    def run(target: Target) -> Figure:
        with target.topic() as topic:
            producer = TransactionalProducer(target.bootstrap_servers, topic)
            return _figure(producer, seconds, lambda: target.cpu_seconds() or 0.0)

    return run


def replicated_transactions(seconds: float) -> Callable[[ReplicatedTarget], Figure]:
    """Everything with three replicas: the records, the coordinator's state."""

    def run(target: ReplicatedTarget) -> Figure:
        with target.topic() as (topic, _):
            producer = TransactionalProducer(target.bootstrap_servers, topic)
            return _figure(producer, seconds, target.cpu_seconds)

    return run
