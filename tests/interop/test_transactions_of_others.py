"""Transactions with kafka-python and aiokafka, unmodified, against three brokers."""

import asyncio
import time

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka import TopicPartition as AIOTopicPartition
from aiokafka.errors import ProducerFenced
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import AbortTransactionSpec
from kafka.errors import ClusterAuthorizationFailedError, KafkaError
from kafka.structs import OffsetAndMetadata

from tests.barnabas_cluster import await_true
from tests.interop.test_transactions import DEADLINE_S, PARTITIONS, create_topic, numbered, values_of


@pytest.fixture
def topic(cluster, name):
    return create_topic(cluster, name)


def transactional(cluster, transactional_id):
    producer = KafkaProducer(
        bootstrap_servers=cluster.bootstrap_servers, transactional_id=transactional_id, retry_backoff_ms=20
    )
    producer.init_transactions()
    return producer


def send(producer, topic, values):
    for number, value in enumerate(values):
        producer.send(topic, value, partition=number % PARTITIONS)


def test_kafka_python_commits_and_aborts(cluster, topic, name):
    producer = transactional(cluster, name)
    for word, ending in (("kept", producer.commit_transaction), ("dropped", producer.abort_transaction)):
        producer.begin_transaction()
        send(producer, topic, numbered(word))
        producer.flush(DEADLINE_S)
        ending()
    producer.close()
    await_true(lambda: values_of(cluster, topic) == set(numbered("kept")), "what was committed is read")
    assert values_of(cluster, topic, "read_uncommitted") == {*numbered("kept"), *numbered("dropped")}


def test_kafka_python_reads_committed_records_only(cluster, topic, name):
    producer = transactional(cluster, name)
    for word, ending in (("dropped", producer.abort_transaction), ("kept", producer.commit_transaction)):
        producer.begin_transaction()
        send(producer, topic, numbered(word))
        producer.flush(DEADLINE_S)
        ending()
    producer.begin_transaction()
    send(producer, topic, numbered("open"))
    producer.flush(DEADLINE_S)
    reader = KafkaConsumer(bootstrap_servers=cluster.bootstrap_servers, isolation_level="read_committed")
    partitions = [TopicPartition(topic, index) for index in range(PARTITIONS)]
    reader.assign(partitions)
    reader.seek_to_beginning()
    collected, deadline = set(), time.monotonic() + DEADLINE_S
    while len(collected) < 30 and time.monotonic() < deadline:
        collected |= {item.value for batch in reader.poll(200).values() for item in batch}
    assert collected == set(numbered("kept"))
    assert [reader.end_offsets([partition])[partition] for partition in partitions] == [
        22,
        22,
        22,
    ]  # as far as the open one
    reader.close()
    producer.abort_transaction()
    producer.close()


def test_kafka_python_fences_a_producer_by_another_of_its_id(cluster, topic, name):
    first = transactional(cluster, name)
    first.begin_transaction()
    send(first, topic, numbered("of the first"))
    first.flush(DEADLINE_S)
    second = transactional(cluster, name)
    second.begin_transaction()
    send(second, topic, numbered("of the second"))
    second.commit_transaction()
    with pytest.raises(KafkaError):
        first.commit_transaction()
    first.close(timeout=1)
    second.close()
    await_true(lambda: values_of(cluster, topic) == set(numbered("of the second")), "only the second's are read")


def test_kafka_python_commits_offsets_with_the_transaction(cluster, topic, name):
    producer = transactional(cluster, name)
    reader = KafkaConsumer(bootstrap_servers=cluster.bootstrap_servers, group_id=name, enable_auto_commit=False)
    place = TopicPartition(topic, 0)
    for offset, ending in ((5, producer.commit_transaction), (9, producer.abort_transaction)):
        producer.begin_transaction()
        send(producer, topic, numbered(f"to {offset}"))
        producer.send_offsets_to_transaction({place: OffsetAndMetadata(offset, "", -1)}, name)
        ending()
    await_true(lambda: reader.committed(place) == 5, "the offset of the committed transaction counts")
    reader.close()
    producer.close()


def test_kafka_python_sees_a_transaction_that_hangs_and_may_not_end_it_by_hand(cluster, topic, name):
    """As kafka-transactions.sh --abort would (KIP-664): that is for who may act for the cluster."""
    producer = transactional(cluster, name)
    producer.begin_transaction()
    producer.send(topic, b"hangs", partition=0)
    producer.flush(DEADLINE_S)
    admin, place = KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers), TopicPartition(topic, 0)
    [state] = admin.describe_producers([place])[place].active_producers
    assert state.current_transaction_start_offset == 0
    assert admin.describe_transactions([name])[name].producer_id == state.producer_id
    with pytest.raises(ClusterAuthorizationFailedError):
        admin.abort_transaction(AbortTransactionSpec(place, state.producer_id, state.producer_epoch))
    [state] = admin.describe_producers([place])[place].active_producers
    assert state.current_transaction_start_offset == 0
    admin.close()
    producer.abort_transaction()
    producer.close()
    assert values_of(cluster, topic) == set()


async def test_aiokafka_commits_aborts_and_reads_what_is_committed(cluster, topic, name):
    async with AIOKafkaProducer(
        bootstrap_servers=cluster.bootstrap_servers, transactional_id=name, retry_backoff_ms=20
    ) as producer:
        async with producer.transaction():
            await _send(producer, topic, numbered("kept"))
        await producer.begin_transaction()
        await _send(producer, topic, numbered("dropped"))
        await producer.abort_transaction()
    reader = AIOKafkaConsumer(bootstrap_servers=cluster.bootstrap_servers, isolation_level="read_committed")
    await reader.start()
    reader.assign([AIOTopicPartition(topic, index) for index in range(PARTITIONS)])
    await reader.seek_to_beginning()
    collected = set()
    async with asyncio.timeout(DEADLINE_S):
        while len(collected) < 30:
            collected |= {item.value for batch in (await reader.getmany(timeout_ms=200)).values() for item in batch}
    assert collected == set(numbered("kept"))
    await reader.stop()


async def _send(producer, topic, values):
    futures = [await producer.send(topic, value, partition=number % PARTITIONS) for number, value in enumerate(values)]
    await asyncio.gather(*futures)


async def test_aiokafka_commits_offsets_with_the_transaction(cluster, topic, name):
    place = AIOTopicPartition(topic, 0)
    async with (
        AIOKafkaProducer(
            bootstrap_servers=cluster.bootstrap_servers, transactional_id=name, retry_backoff_ms=20
        ) as producer,
        producer.transaction(),
    ):
        await _send(producer, topic, numbered("copied"))
        await producer.send_offsets_to_transaction({place: 7}, name)
    reader = AIOKafkaConsumer(bootstrap_servers=cluster.bootstrap_servers, group_id=name, enable_auto_commit=False)
    await reader.start()
    async with asyncio.timeout(DEADLINE_S):
        while await reader.committed(place) != 7:
            await asyncio.sleep(0.02)
    await reader.stop()


async def test_aiokafka_is_fenced_by_another_producer_of_its_id(cluster, topic, name):
    settings = {"bootstrap_servers": cluster.bootstrap_servers, "transactional_id": name, "retry_backoff_ms": 20}
    async with AIOKafkaProducer(**settings) as first:
        await first.begin_transaction()
        await _send(first, topic, numbered("of the first"))
        async with AIOKafkaProducer(**settings) as second, second.transaction():
            await _send(second, topic, numbered("of the second"))
        with pytest.raises(ProducerFenced):
            await first.commit_transaction()
