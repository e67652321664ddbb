"""Batches as a producer of one's own would send them: what they unpack to is up to the test."""

import time
from collections.abc import Iterable

from crc32c import crc32c

from broker.client.cluster import ClusterConnections, parse_bootstrap_servers
from broker.client.leaders import Leaders
from broker.common.types import TopicPartition
from broker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from broker.records.batch import (
    CHECKED_FROM,
    CRC,
    CRC_AT,
    HEADER,
    HEADER_BYTES,
    LENGTH_PREFIX_BYTES,
    Compression,
    parse_batch_header,
)
from broker.records.builder import build_batch
from broker.records.compression import compress
from broker.records.record import Record
from broker.records.varint import varint


def batch_of_payload(payload: bytes, records_count: int, compression: Compression, **fields: int) -> bytearray:
    """Return a batch that says it holds so many records, whatever its payload holds; its CRC is right. `fields` replace
    those of the header."""
    packed = bytes(compress(compression, payload))
    header = parse_batch_header(build_batch([Record(0, 1_000, None, None)], compression=compression))
    size = HEADER_BYTES - LENGTH_PREFIX_BYTES + len(packed)
    values = {"batch_length": size, "records_count": records_count, "last_offset_delta": records_count - 1, **fields}
    batch = bytearray(HEADER_BYTES)
    HEADER.pack_into(batch, 0, *header._replace(**values))
    return sealed(batch + packed)


def sealed(batch: bytearray) -> bytearray:
    """Set the CRC that the bytes of the batch have, in place."""
    CRC.pack_into(batch, CRC_AT, crc32c(memoryview(batch)[CHECKED_FROM:]))
    return batch


def batch_of_headers(count: int, compression: Compression = Compression.ZSTD, records: int = 1) -> bytearray:
    """Return a batch of records with so many headers each, all without a name and a value: of two bytes."""
    payload = bytearray()
    for number in range(records):
        body = b"\0" + varint(0) + varint(number) + varint(-1) + varint(-1) + varint(count) + b"\0\0" * count
        payload += varint(len(body)) + body
    return batch_of_payload(bytes(payload), records, compression)


def append_batch(bootstrap_servers: str, topic: str, values: Iterable[bytes], compression: Compression) -> None:
    """Produce `values` as one batch to partition 0; acknowledged when this returns."""
    now_ms = int(time.time() * 1000)
    append_made(
        bootstrap_servers,
        topic,
        build_batch([Record(0, now_ms, None, value) for value in values], compression=compression),
    )


def append_made(bootstrap_servers: str, topic: str, batch: bytes | bytearray) -> None:
    """Produce the batch as it is to partition 0; acknowledged when this returns."""
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=bytes(batch))])
    request = ProduceRequest(transactional_id=None, acks=-1, timeout_ms=20_000, topic_data=[data])
    with ClusterConnections(parse_bootstrap_servers(bootstrap_servers), timeout_s=30) as cluster:
        answer = Leaders(cluster).connection(TopicPartition(topic, 0)).ask(request)
    assert answer.responses[0].partition_responses[0].error_code == 0
