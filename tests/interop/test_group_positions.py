"""Where consumers go on: commits of every kind, positions moved by hand and by time, offsets deleted by a tool."""

import time

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka import TopicPartition as AioTopicPartition
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from kafka import KafkaConsumer
from kafka import TopicPartition as PythonTopicPartition
from kafka.structs import OffsetAndMetadata

from tests.barnabas_cluster import await_true

COUNT = 100
#: Of record n is n seconds later.
BEGAN_MS = 1_600_000_000_000


@pytest.fixture
def topic(cluster, name) -> str:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.create_topics([NewTopic(name, 1, 3, config={"retention.ms": "-1"})])[name].result(30)
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    for number in range(COUNT):
        producer.produce(name, str(number), timestamp=BEGAN_MS + 1_000 * number)
    assert producer.flush(30) == 0
    return name


def committed(cluster, group: str, topic: str) -> int:
    """As a tool sees it; -1001 is nothing."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    partitions = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0)])
    return admin.list_consumer_group_offsets([partitions])[group].result(20).topic_partitions[0].offset


def librdkafka(cluster, group: str, **config) -> Consumer:
    settings = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": group, "auto.offset.reset": "earliest"}
    return Consumer({**settings, "enable.auto.commit": False, **config})


def read_one(consumer: Consumer) -> bytes:
    results = []
    await_true(lambda: results.extend(consumer.consume(1, 0.2)) or results, "a record")
    assert results[0].error() is None
    return results[0].value()


def test_librdkafka_commits_at_once_later_and_by_itself(cluster, topic):
    consumer = librdkafka(cluster, topic)
    consumer.subscribe([topic])
    read_one(consumer)
    (done,) = consumer.commit(asynchronous=False)
    assert (done.error, committed(cluster, topic, topic)) == (None, 1)
    consumer.commit(offsets=[TopicPartition(topic, 0, 7, metadata="why")], asynchronous=True)
    await_true(lambda: consumer.poll(0) is not None and committed(cluster, topic, topic) == 7, "the commit arrives")
    (first,) = consumer.committed([TopicPartition(topic, 0)], timeout=10)
    assert (first.offset, first.metadata) == (7, "why")
    consumer.close()
    automatic = librdkafka(cluster, topic, **{"enable.auto.commit": True, "auto.commit.interval.ms": 200})
    automatic.subscribe([topic])
    assert read_one(automatic) == b"7"
    await_true(lambda: automatic.consume(1, 0.05) and committed(cluster, topic, topic) > 7, "it commits by itself")
    automatic.close()


def test_librdkafka_seeks_and_is_set_back_to_a_time(cluster, topic):
    consumer = librdkafka(cluster, topic)
    consumer.subscribe([topic])
    read_one(consumer)
    consumer.seek(TopicPartition(topic, 0, 42))
    await_true(lambda: read_one(consumer) == b"42", "the record sought")
    at_time = TopicPartition(topic, 0, BEGAN_MS + 60_000)
    consumer.commit(offsets=consumer.offsets_for_times([at_time], timeout=10), asynchronous=False)
    consumer.close()
    successor = librdkafka(cluster, topic)
    successor.subscribe([topic])
    assert read_one(successor) == b"60"
    successor.close()


def test_offsets_of_a_group_are_set_by_a_tool_while_nobody_is_in_it(cluster, topic):
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})

    def alter(offset: int):
        wanted = ConsumerGroupTopicPartitions(topic, [TopicPartition(topic, 0, offset)])
        return admin.alter_consumer_group_offsets([wanted])[topic].result(20).topic_partitions[0]

    assert alter(30).error is None
    consumer = librdkafka(cluster, topic)
    consumer.subscribe([topic])
    assert read_one(consumer) == b"30"
    assert alter(50).error.code() == KafkaError.UNKNOWN_MEMBER_ID
    assert committed(cluster, topic, topic) == 30
    consumer.close()


def test_kafka_python_commits_seeks_and_is_set_back_to_a_time(cluster, topic):
    settings = {"bootstrap_servers": cluster.bootstrap_servers, "group_id": topic, "auto_offset_reset": "earliest"}
    only = PythonTopicPartition(topic, 0)
    consumer = KafkaConsumer(topic, enable_auto_commit=False, **settings)
    assert next(consumer).value == b"0"
    consumer.commit()
    assert committed(cluster, topic, topic) == 1
    consumer.commit_async({only: OffsetAndMetadata(9, "why", -1)})
    await_true(lambda: consumer.poll(50) is not None and committed(cluster, topic, topic) == 9, "the commit arrives")
    consumer.seek(only, 42)
    assert next(consumer).value == b"42"
    consumer.seek(only, consumer.offsets_for_times({only: BEGAN_MS + 60_000})[only].offset)
    assert next(consumer).value == b"60"
    consumer.close()
    automatic = KafkaConsumer(topic, enable_auto_commit=True, auto_commit_interval_ms=200, **settings)
    assert next(automatic).value == b"9"
    await_true(lambda: automatic.poll(50) is not None and committed(cluster, topic, topic) > 9, "it commits by itself")
    automatic.close()


async def test_aiokafka_commits_seeks_and_is_set_back_to_a_time(cluster, topic):
    settings = {"bootstrap_servers": cluster.bootstrap_servers, "group_id": topic, "auto_offset_reset": "earliest"}
    only = AioTopicPartition(topic, 0)
    consumer = AIOKafkaConsumer(topic, enable_auto_commit=False, **settings)
    await consumer.start()
    assert (await consumer.getone()).value == b"0"
    await consumer.commit()
    assert committed(cluster, topic, topic) == 1
    await consumer.commit({only: (9, "why")})
    assert committed(cluster, topic, topic) == 9
    consumer.seek(only, 42)
    assert (await consumer.getone()).value == b"42"
    consumer.seek(only, (await consumer.offsets_for_times({only: BEGAN_MS + 60_000}))[only].offset)
    assert (await consumer.getone()).value == b"60"
    await consumer.stop()
    automatic = AIOKafkaConsumer(topic, enable_auto_commit=True, auto_commit_interval_ms=200, **settings)
    await automatic.start()
    assert (await automatic.getone()).value == b"9"
    deadline = time.monotonic() + 20
    while committed(cluster, topic, topic) <= 9:
        assert time.monotonic() < deadline, "it commits by itself"
        await automatic.getmany(timeout_ms=50)
    await automatic.stop()


def test_offsets_of_a_deleted_topic_go_with_it(cluster, topic):
    consumer = librdkafka(cluster, topic)
    consumer.assign([TopicPartition(topic, 0)])
    consumer.commit(offsets=[TopicPartition(topic, 0, 7)], asynchronous=False)
    consumer.close()
    assert committed(cluster, topic, topic) == 7
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.delete_topics([topic])[topic].result(30)
    await_true(lambda: committed(cluster, topic, topic) < 0, "nothing is committed any more")
