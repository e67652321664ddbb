"""Brokers of both sides and the mirror itself are killed in turn while records flow: each arrives once, in order."""

import random
import threading
import time
import uuid

import pytest
from confluent_kafka import Producer

from tests.barnabas_cluster import await_true
from tests.broker.mirror.conftest import mirroring

PARTITIONS = 4


class Writing:
    """Acknowledged values by partition and offset, from a thread that goes on until `end`."""

    def __init__(self, side, topic):
        self.acknowledged, self._topic = {}, topic
        self._producer = Producer(
            {"bootstrap.servers": side.bootstrap, "enable.idempotence": True, "linger.ms": 5, "batch.num.messages": 50}
        )
        self._is_ending = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        number = 0
        while not self._is_ending.wait(0.002):
            for _ in range(4):
                self._producer.produce(self._topic, f"{number}", partition=number % PARTITIONS, on_delivery=self._note)
                number += 1
            self._producer.poll(0)

    def _note(self, error, message):
        if error is None:
            self.acknowledged[message.partition(), message.offset()] = message.value()

    def end(self):
        self._is_ending.set()
        self._thread.join()
        assert self._producer.flush(60) == 0


def strike(sides, at_random):
    broker = at_random.choice(at_random.choice(sides).running.brokers)
    broker.kill()
    time.sleep(at_random.uniform(0.2, 3.0))
    broker.start()
    broker.await_healthy()


def in_sync(side):
    topics = side.admin.list_topics(timeout=10).topics.values()
    return all(len(partition.isrs) == 2 for topic in topics for partition in topic.partitions.values())


@pytest.mark.parametrize("seconds", [12, pytest.param(600, marks=[pytest.mark.long, pytest.mark.timeout(1500)])])
def test_every_acknowledged_record_arrives_once_and_in_order_whoever_is_killed(sides, seconds):
    east, west = sides
    topic = f"t-{uuid.uuid4().hex[:10]}"
    for side in sides:
        side.create(topic, PARTITIONS)
    at_random = random.Random(7)
    writing = Writing(east, topic)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with mirroring(east, west, {topic: PARTITIONS}, exactly_once=True):
            for _ in range(3):
                await_true(lambda: in_sync(east) and in_sync(west), "all replicas are in sync", 60)
                strike(sides, at_random)
    writing.end()
    last = [max(offset for at, offset in writing.acknowledged if at == partition) for partition in range(PARTITIONS)]
    with mirroring(east, west, {topic: PARTITIONS}, exactly_once=True) as task:
        missing: list[str] = []

        def is_all_read() -> bool:
            copies = {copy.source.partition: copy.next_offset for copy in task.copies.values()}
            missing[:] = [f"{copies[copy]:,} of {last[copy] + 1:,}" for copy in copies if copies[copy] <= last[copy]]
            return not missing

        try:
            await_true(is_all_read, "all is read", 400)
        except AssertionError as error:
            raise AssertionError(f"{error}: {'; '.join(missing)}") from None
    for partition in range(PARTITIONS):
        expected = [value for (at, _), value in sorted(writing.acknowledged.items()) if at == partition]
        assert west.values(topic, partition) == east.values(topic, partition)
        assert west.values(topic, partition) == expected
