"""aiokafka, unmodified, against three brokers."""

import asyncio

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from tests.interop.records import CODECS, COUNT, PARTITIONS, Sent, in_order, records

DEADLINE_S = 60


async def create_topic(cluster, name, partitions=PARTITIONS):
    admin = AIOKafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers)
    await admin.start()
    await admin.create_topics([NewTopic(name, partitions, 1)])
    await admin.close()


async def produce(cluster, topic, sent, codec="none"):
    compression = None if codec == "none" else codec
    async with AIOKafkaProducer(
        bootstrap_servers=cluster.bootstrap_servers, compression_type=compression, linger_ms=5
    ) as producer:
        futures = [
            await producer.send(topic, record.value, record.key, headers=list(record.headers)) for record in sent
        ]
        await asyncio.wait_for(asyncio.gather(*futures), DEADLINE_S)


async def drain(reader, count):
    received = []
    async with asyncio.timeout(DEADLINE_S):
        while len(received) < count:
            for batch in (await reader.getmany(timeout_ms=200)).values():
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
async def test_what_was_produced_is_read_back_from_the_beginning(cluster, name, codec):
    await create_topic(cluster, name)
    sent = records(codec)
    await produce(cluster, name, sent, codec)
    reader = AIOKafkaConsumer(bootstrap_servers=cluster.bootstrap_servers)
    await reader.start()
    reader.assign([TopicPartition(name, index) for index in range(PARTITIONS)])
    await reader.seek_to_beginning()
    assert in_order(await drain(reader, COUNT)) == sent
    await reader.stop()


async def test_reading_from_an_offset_and_from_the_end(cluster, name):
    await create_topic(cluster, name, partitions=1)
    await produce(cluster, name, records("zstd", 1_000), "zstd")
    reader = AIOKafkaConsumer(bootstrap_servers=cluster.bootstrap_servers)
    await reader.start()
    only = TopicPartition(name, 0)
    reader.assign([only])
    reader.seek(only, 990)
    assert [offset for _, offset, _ in await drain(reader, 10)] == list(range(990, 1_000))
    await reader.seek_to_end(only)
    assert await reader.position(only) == 1_000
    await produce(cluster, name, records("none", 3))
    assert [offset for _, offset, _ in await drain(reader, 3)] == [1_000, 1_001, 1_002]
    await reader.stop()


async def test_two_consumers_of_a_group_share_the_partitions_and_go_on_where_they_committed(cluster, name):
    await create_topic(cluster, name, partitions=4)
    sent = records("snappy")
    await produce(cluster, name, sent, "snappy")
    settings = {
        "bootstrap_servers": cluster.bootstrap_servers,
        "group_id": name,
        "auto_offset_reset": "earliest",
        "enable_auto_commit": False,
    }
    members = [AIOKafkaConsumer(name, **settings), AIOKafkaConsumer(name, **settings)]
    await asyncio.gather(*(member.start() for member in members))
    seen = {}
    async with asyncio.timeout(DEADLINE_S):
        while len(seen) < COUNT or [len(member.assignment()) for member in members] != [2, 2]:
            for member in members:
                for batch in (await member.getmany(timeout_ms=100)).values():
                    seen.update({(partition.partition, partition.offset): partition.key for partition in batch})
    assert sorted(seen.values()) == sorted(record.key for record in sent)
    for member in members:
        await member.commit()
        await member.stop()
    await produce(cluster, name, records("none", 20))
    successor = AIOKafkaConsumer(name, **settings)
    await successor.start()
    await drain(successor, 20)
    assert sum([await successor.committed(TopicPartition(name, index)) for index in range(4)]) == COUNT
    await successor.stop()
