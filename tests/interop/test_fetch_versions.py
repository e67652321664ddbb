"""That clients really fetch by topic id and in sessions, and lose nothing by it."""

import logging
import re
import time

from confluent_kafka import Consumer
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from tests.interop.test_kafka_python import DEADLINE_S, create_topic

PARTITIONS = 4
#: Wide enough for one small batch: partitions compete for the room in an answer.
ONE_BATCH_BYTES = 400


class Heard(logging.Handler):
    """Keeps what a client's library logs."""

    def __init__(self):
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def write(cluster, name, count: int, partitions=range(PARTITIONS)) -> None:
    """Each record in a batch of its own."""
    producer = KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, batch_size=0)
    for number in range(count):
        for partition in partitions:
            producer.send(name, b"%d" % number, partition=partition)
    producer.flush(DEADLINE_S)
    producer.close()


def read(consumer: KafkaConsumer, count: int) -> dict[int, list[int]]:
    """Offsets by partition, until there are `count` records."""
    seen: dict[int, list[int]] = {partition: [] for partition in range(PARTITIONS)}
    end = time.monotonic() + DEADLINE_S
    while sum(map(len, seen.values())) < count and time.monotonic() < end:
        for batch in consumer.poll(100).values():
            for record in batch:
                seen[record.partition].append(record.offset)
    return seen


def reader(cluster, **settings) -> KafkaConsumer:
    return KafkaConsumer(bootstrap_servers=cluster.bootstrap_servers, auto_offset_reset="earliest", **settings)


def sessions(cluster) -> float:
    gauge = re.compile(r"^barnabas_broker_fetch_sessions (\S+)", re.MULTILINE)
    return sum(float(gauge.search(broker.get("/metrics"))[1]) for broker in cluster.brokers)


def test_kafka_python_reads_in_sessions_while_partitions_come_and_go(cluster, name):
    create_topic(cluster, name, PARTITIONS)
    write(cluster, name, 50)
    before = sessions(cluster)
    consumer = reader(cluster, fetch_max_bytes=ONE_BATCH_BYTES)
    everything = [TopicPartition(name, index) for index in range(PARTITIONS)]
    consumer.assign(everything)
    assert read(consumer, 50 * PARTITIONS) == {index: list(range(50)) for index in range(PARTITIONS)}
    assert sessions(cluster) > before
    consumer.pause(everything[0])
    write(cluster, name, 10)
    assert read(consumer, 30) == {0: [], **{index: list(range(50, 60)) for index in (1, 2, 3)}}
    consumer.resume(everything[0])
    write(cluster, name, 5)
    assert read(consumer, 30) == {0: list(range(50, 65)), **{index: list(range(60, 65)) for index in (1, 2, 3)}}
    consumer.close()


def test_librdkafka_fetches_by_topic_id(cluster, name):
    create_topic(cluster, name, PARTITIONS)
    write(cluster, name, 5)
    heard = Heard()
    logger = logging.Logger("librdkafka", logging.DEBUG)
    logger.addHandler(heard)
    settings = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": name, "auto.offset.reset": "earliest"}
    consumer = Consumer({**settings, "debug": "protocol"}, logger=logger)
    consumer.subscribe([name])
    got, end = 0, time.monotonic() + DEADLINE_S
    while got < 5 * PARTITIONS and time.monotonic() < end:
        got += consumer.poll(0.2) is not None
    consumer.close()
    versions = {match[1] for line in heard.lines for match in re.finditer(r"Sent FetchRequest \(v(\d+)", line)}
    assert (got, versions) == (5 * PARTITIONS, {"16"})
