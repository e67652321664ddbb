"""compression.type of topics and brokers, live, as producers and consumers see it over a socket."""

import pytest

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.handlers.config_resources import ConfigResourceType
from broker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from broker.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from broker.records.batch import Compression, iterate_headers
from broker.records.builder import build_batch
from broker.records.record import Record, decode_records
from tests.broker.server.test_bad_input import produce

VALUES = [b"value-%d " % n * 20 for n in range(20)]


@pytest.fixture
async def client(served):
    served.lead("t")
    served.tell_of("t")
    return await served.client()


async def configure(served, **configs: str) -> None:
    """As the notification of a changed topic does."""
    served.store.configs["t"] = {name.replace("_", "."): value for name, value in configs.items()}
    await served.topic_configs.apply("t")


def batch(compression: Compression = Compression.NONE, **options) -> bytes:
    return bytes(build_batch([Record(0, 1_000, b"k", value) for value in VALUES], compression=compression, **options))


async def produced(client, sent: bytes, acks: int = 1) -> tuple[ErrorCode, int]:
    (partition,) = (await client.ask(produce(sent, acks), 9)).responses[0].partition_responses
    return ErrorCode(partition.error_code), partition.base_offset


async def stored(client) -> bytes:
    topic = FetchTopic(topic="t", partitions=[FetchPartition(partition=0, partition_max_bytes=1_000_000)])
    response = await client.ask(FetchRequest(max_wait_ms=0, topics=[topic]), 12)
    return bytes(response.responses[0].partitions[0].records)


async def codecs(client) -> list[Compression]:
    return [header.compression for _, header in iterate_headers(await stored(client))]


async def test_topic_decides_how_batches_are_packed_from_the_next_one_on(served, client):
    for number, (name, sent) in enumerate(
        [
            ("producer", Compression.GZIP),
            ("zstd", Compression.NONE),
            ("zstd", Compression.ZSTD),
            ("lz4", Compression.GZIP),
            ("snappy", Compression.NONE),
            ("gzip", Compression.LZ4),
            ("uncompressed", Compression.ZSTD),
        ]
    ):
        await configure(served, compression_type=name)
        assert await produced(client, batch(sent), acks=-1) == (ErrorCode.NONE, number * len(VALUES))
    assert [codec.name.lower() for codec in await codecs(client)] == [
        "gzip",
        "zstd",
        "zstd",
        "lz4",
        "snappy",
        "gzip",
        "none",
    ]
    log = await stored(client)
    values = [record.value for at, _ in iterate_headers(log) for record in decode_records(log[at:])]
    assert values == 7 * VALUES


async def test_broker_decides_for_topics_that_say_nothing(served, client):
    config = AlterableConfig(name="compression.type", value="zstd")
    resource = AlterConfigsResource(resource_type=ConfigResourceType.BROKER, resource_name="", configs=[config])
    await client.ask(IncrementalAlterConfigsRequest(resources=[resource]), 1)
    await produced(client, batch())
    await configure(served, compression_type="producer")
    await produced(client, batch())
    assert await codecs(client) == [Compression.ZSTD, Compression.NONE]


async def test_level_of_the_topic_counts(served, client):
    sizes = []
    for level in ("1", "9"):
        await configure(served, compression_type="gzip", compression_gzip_level=level)
        await produced(client, batch())
        sizes.append([header.size_bytes for _, header in iterate_headers(await stored(client))][-1])
    assert sizes[1] < sizes[0]


async def test_idempotent_and_transactional_producers_are_known_as_before(served, client):
    await configure(served, compression_type="lz4")
    first = batch(producer_id=7, producer_epoch=0, base_sequence=0)
    assert await produced(client, first) == (ErrorCode.NONE, 0)
    assert await produced(client, first) == (ErrorCode.NONE, 0), "sent again, not written again"
    later = batch(producer_id=7, producer_epoch=0, base_sequence=90)
    assert await produced(client, later) == (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, -1)
    request = produce(batch(producer_id=8, producer_epoch=0, base_sequence=0, is_transactional=True), acks=-1)
    request.transactional_id = "x"
    (partition,) = (await client.ask(request, 9)).responses[0].partition_responses
    assert partition.error_code == ErrorCode.NONE
    assert served.verified == [("x", 8, 0, (TopicPartition("t", 0),))]
    assert await codecs(client) == [Compression.LZ4] * 2
    assert served.replicas.get("t", 0).log.has_open_transaction(8, 0)


async def test_many_requests_of_one_connection_keep_their_order(served, client):
    await configure(served, compression_type="gzip")
    for number in range(20):
        sent = build_batch([Record(0, 1, None, b"%d" % number * 10)], compression=Compression(number % 5))
        await client.send_request(produce(bytes(sent)), 9, correlation_id=number)
    request = produce(bytes(batch()))
    offsets = [
        (await client.answer(request.api, 9, correlation_id=number)).responses[0].partition_responses[0].base_offset
        for number in range(20)
    ]
    assert offsets == list(range(20))
    log = await stored(client)
    values = [record.value for at, _ in iterate_headers(log) for record in decode_records(log[at:])]
    assert values == [b"%d" % number * 10 for number in range(20)]


async def test_producer_that_wants_no_answer_gets_none(served, client):
    await configure(served, compression_type="zstd")
    await client.send_request(produce(batch(), acks=0), 9)
    assert await produced(client, batch()) == (ErrorCode.NONE, len(VALUES))
    assert await codecs(client) == [Compression.ZSTD] * 2


async def test_batch_too_large_as_sent_or_as_packed_is_refused(served, client):
    await configure(served, compression_type="zstd", max_message_bytes="500")
    assert await produced(client, batch()) == (ErrorCode.MESSAGE_TOO_LARGE, -1)
    await configure(served, compression_type="uncompressed", max_message_bytes="500")
    small = batch(Compression.ZSTD)
    assert len(small) <= 500
    assert await produced(client, small) == (ErrorCode.MESSAGE_TOO_LARGE, -1)


async def test_consumer_older_than_zstd_is_told_so_where_the_topic_asks_for_it(served, client):
    """KIP-110: a topic that takes what producers send answers what there is."""
    await configure(served, compression_type="zstd")
    await produced(client, batch())
    topic = FetchTopic(topic="t", partitions=[FetchPartition(partition=0, partition_max_bytes=1_000_000)])
    for version, code in ((9, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE), (10, ErrorCode.NONE)):
        response = await client.ask(FetchRequest(max_wait_ms=0, topics=[topic]), version)
        assert response.responses[0].partitions[0].error_code == code
