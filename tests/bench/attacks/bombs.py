"""Attacks by record batches: a kilobyte that unpacks to megabytes, and a megabyte of next to nothing."""

import time
from collections.abc import Callable, Iterator

from broker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from broker.records.batch import Compression
from broker.records.builder import build_batch
from broker.records.record import Record
from tests.bench.attacks.aim import Aim, Line, have_topics, request
from tests.bench.raw import PRODUCE_VERSION

_MB = 1024 * 1024
_FRAME_BYTES = 1_000_000


def produce(topic: str, batches: list[bytes], partition: int = 0, **options) -> bytes:
    data = [PartitionProduceData(index=partition, records=batch) for batch in batches]
    topics = [TopicProduceData(name=topic, partition_data=data)]
    return request(ProduceRequest(acks=1, timeout_ms=1_000, topic_data=topics, **options), PRODUCE_VERSION)


def bombs(aim: Aim) -> Iterator[None]:
    """Five batches a second of 1 KB that would unpack to 32 MB, to a compacted topic."""
    batch = build_batch([Record(0, 1, b"k", bytes(16 * _MB))] * 2, compression=Compression.ZSTD)
    sent = produce(f"{aim.topic}-compacted", [batch])
    line = Line(aim)
    while True:
        line.send(sent)
        answer = line.take()
        assert b"decompressed" in answer, answer
        yield
        time.sleep(0.2)


def _many(codec: Compression) -> Callable[[Aim], Iterator[None]]:
    """A megabyte of batches that unpack to 14 MB each, all for one partition of a compacted topic, one of them at a
    time for a topic that packs what it is sent anew.
    """

    def attack(aim: Aim) -> Iterator[None]:
        packed = f"{aim.topic}-packed"
        have_topics(aim, packed, config={"compression.type": "gzip", "max.message.bytes": "20000000"})
        batch = build_batch([Record(0, 1_700_000_000_000, b"k", bytes(900_000))] * 16, compression=codec)
        many = produce(f"{aim.topic}-compacted", [batch] * max(1, min(4_000, _FRAME_BYTES // len(batch))))
        one = produce(packed, [batch])
        line = Line(aim)
        while True:
            line.send(many + one)
            line.take(2)
            yield
            time.sleep(0.2)

    return attack


def small_records(aim: Aim) -> Iterator[None]:
    """Batches of 90,000 records of no key and no value, compressed, to a compacted topic."""
    batch = build_batch([Record(0, 1_700_000_000_000, b"", None)] * 90_000, compression=Compression.ZSTD)
    sent = produce(f"{aim.topic}-compacted", [batch] * 8)
    line = Line(aim)
    while True:
        line.send(sent)
        line.take()
        yield
        time.sleep(0.2)


ATTACKS = {
    "5 decompression bombs a second": bombs,
    "requests full of gzip bombs": _many(Compression.GZIP),
    "requests full of snappy bombs": _many(Compression.SNAPPY),
    "requests full of lz4 bombs": _many(Compression.LZ4),
    "requests full of zstd bombs": _many(Compression.ZSTD),
    "batches of 90,000 empty records": small_records,
}
