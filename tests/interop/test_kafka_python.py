"""kafka-python, unmodified and with its default settings (its producer is idempotent), against three brokers."""

import time

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic

from tests.interop.records import CODECS, COUNT, PARTITIONS, Sent, in_order, records

DEADLINE_S = 60


def create_topic(cluster, name, partitions=PARTITIONS):
    admin = KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers)
    admin.create_topics([NewTopic(name, partitions, 1)])
    admin.close()


def produce(cluster, topic, sent, codec="none"):
    producer = KafkaProducer(
        bootstrap_servers=cluster.bootstrap_servers, compression_type=None if codec == "none" else codec, linger_ms=5
    )
    futures = [producer.send(topic, record.value, record.key, headers=list(record.headers)) for record in sent]
    producer.flush(DEADLINE_S)
    for future in futures:
        future.get(DEADLINE_S)
    producer.close()


def drain(reader, count):
    received, end = [], time.monotonic() + DEADLINE_S
    while len(received) < count and time.monotonic() < end:
        for batch in reader.poll(200).values():
            for partition in batch:
                received.append(
                    (
                        partition.partition,
                        partition.offset,
                        Sent(partition.key, partition.value, tuple(partition.headers)),
                    )
                )
    assert len(received) == count
    return received


@pytest.mark.parametrize("codec", CODECS)
def test_what_was_produced_is_read_back_from_the_beginning(cluster, name, codec):
    create_topic(cluster, name)
    sent = records(codec)
    produce(cluster, name, sent, codec)
    reader = KafkaConsumer(bootstrap_servers=cluster.bootstrap_servers)
    reader.assign([TopicPartition(name, index) for index in range(PARTITIONS)])
    reader.seek_to_beginning()
    assert in_order(drain(reader, COUNT)) == sent
    reader.close()


def test_reading_from_an_offset_and_from_the_end(cluster, name):
    create_topic(cluster, name, partitions=1)
    produce(cluster, name, records("gzip", 1_000), "gzip")
    reader = KafkaConsumer(bootstrap_servers=cluster.bootstrap_servers)
    only = TopicPartition(name, 0)
    reader.assign([only])
    reader.seek(only, 990)
    assert [offset for _, offset, _ in drain(reader, 10)] == list(range(990, 1_000))
    reader.seek_to_end(only)
    assert reader.position(only) == 1_000
    produce(cluster, name, records("none", 3))
    assert [offset for _, offset, _ in drain(reader, 3)] == [1_000, 1_001, 1_002]
    reader.close()


def read(members) -> int:
    """Who was given a partition late reads it again: what is committed is how far each has come."""
    return sum(member.position(partition) or 0 for member in members for partition in member.assignment())


def test_two_consumers_of_a_group_share_the_partitions_and_go_on_where_they_committed(cluster, name):
    create_topic(cluster, name, partitions=4)
    sent = records("lz4")
    produce(cluster, name, sent, "lz4")
    settings = {
        "bootstrap_servers": cluster.bootstrap_servers,
        "group_id": name,
        "auto_offset_reset": "earliest",
        "enable_auto_commit": False,
    }
    members = [KafkaConsumer(name, **settings), KafkaConsumer(name, **settings)]
    seen, end = {}, time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        for member in members:
            for batch in member.poll(100).values():
                seen.update({(partition.partition, partition.offset): partition.key for partition in batch})
        if len(seen) == COUNT and [len(member.assignment()) for member in members] == [2, 2] and read(members) == COUNT:
            break
    assert sorted(seen.values()) == sorted(record.key for record in sent)
    assert [len(member.assignment()) for member in members] == [2, 2]
    for member in members:
        member.commit()
    for member in members:  # who is still there when one leaves gets its partitions, too
        member.close()
    produce(cluster, name, records("none", 20))
    successor = KafkaConsumer(name, **settings)
    assert len(drain(successor, 20)) == 20
    assert sum(successor.committed(TopicPartition(name, index)) for index in range(4)) == COUNT
    successor.close()
