"""The cluster inside librdkafka: a real TCP broker for produce, fetch and offsets, no restarts, no CreateTopics."""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from confluent_kafka import Consumer, Message, Producer, TopicPartition

PARTITIONS = 4


@dataclass
class MockCluster:
    bootstrap_servers: str
    _owner: Producer

    def have_topics(self, *names: str) -> None:
        """The mock makes a topic when it is first asked about, with PARTITIONS partitions."""
        for name in names:
            self._owner.list_topics(name, timeout=5)


@contextlib.contextmanager
def mock_cluster(*topics: str) -> Iterator[MockCluster]:
    owner = Producer({"test.mock.num.brokers": 1, "log_level": 2})
    brokers = owner.list_topics(timeout=5).brokers.values()
    cluster = MockCluster(",".join(f"{broker.host}:{broker.port}" for broker in brokers), owner)
    cluster.have_topics(*topics)
    yield cluster


def produce_all(bootstrap_servers: str, topic: str, values: Iterable[bytes], **more: object) -> None:
    """Every value acknowledged when this returns."""
    producer = Producer({"bootstrap.servers": bootstrap_servers, "acks": "all", "log_level": 2})
    failures = []
    for value in values:
        producer.produce(topic, value, on_delivery=lambda error, _message: failures.append(error), **more)
    assert producer.flush(20) == 0
    assert not any(failures)


def all_records(bootstrap_servers: str, topic: str) -> list[Message]:
    """Every record of a topic, partition by partition, read until the end of each."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap_servers,
            "group.id": "judge",
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 20,
            "log_level": 2,
        }
    )
    try:
        partitions = consumer.list_topics(topic, timeout=10).topics[topic].partitions
        consumer.assign([TopicPartition(topic, partition, 0) for partition in partitions])
        records, open_partitions = [], set(partitions)
        while open_partitions:
            message = consumer.poll(20)
            assert message is not None, f"{topic}: no end of {open_partitions} within 20 s"
            if message.error() is None:
                records.append(message)
            else:
                open_partitions.discard(message.partition())
        return sorted(records, key=lambda record: (record.partition(), record.offset()))
    finally:
        consumer.close()
