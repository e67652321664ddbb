"""A batch packed anew is the same batch: only the codec, the length and the CRC are others."""

import random

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.records.batch import (
    COMPRESSION_BITS,
    NO_PRODUCER_ID,
    Compression,
    check_produced_batch,
    parse_batch_header,
)
from broker.records.builder import build_batch
from broker.records.record import Record, decode_records
from broker.records.repacking import Packing, repack_batch

RECORDS = [Record(0, 1_000 + n, b"key-%d" % n, b"value " * 40, (("h", b"1"), ("h", None))) for n in range(50)]
PRODUCERS = {
    "plain": {"producer_id": NO_PRODUCER_ID},
    "idempotent": {"producer_id": 7, "producer_epoch": 3, "base_sequence": 90},
    "transactional": {"producer_id": 7, "producer_epoch": 3, "base_sequence": 90, "is_transactional": True},
}


def repacked(batch, compression: Compression, level: int | None = None, unpacked_bytes_max: int = 1 << 24) -> bytearray:
    header = check_produced_batch(batch)
    return repack_batch(batch, header, Packing(compression, level), unpacked_bytes_max).batch


@pytest.mark.parametrize("producer", PRODUCERS)
@pytest.mark.parametrize("target", Compression)
@pytest.mark.parametrize("source", Compression)
def test_everything_but_the_codec_stays(source, target, producer):
    batch = build_batch(RECORDS, compression=source, **PRODUCERS[producer])
    again = repacked(batch, target)
    before, after = parse_batch_header(batch), check_produced_batch(again)
    assert after.compression is target
    assert decode_records(again) == decode_records(batch)
    same = {"batch_length": 0, "crc": 0, "attributes": 0}
    assert after._replace(**same) == before._replace(**same)
    assert after.attributes & ~COMPRESSION_BITS == before.attributes & ~COMPRESSION_BITS


def test_level_decides_how_small_it_gets():
    words, chance = [b"alpha", b"beta", b"gamma", b"delta", b"epsilon", b"zeta", b"eta", b"theta"], random.Random(1)
    records = [Record(0, 1, None, b" ".join(chance.choices(words, k=12))) for _ in range(2_000)]
    batch = build_batch(records)
    for compression, low, high in ((Compression.GZIP, 1, 9), (Compression.LZ4, 9, 17), (Compression.ZSTD, -50, 19)):
        fast, small = repacked(batch, compression, low), repacked(batch, compression, high)
        assert len(small) < len(fast)
        assert decode_records(small) == decode_records(fast)


@pytest.mark.parametrize("source", [item for item in Compression if item])
def test_batch_that_unpacks_to_more_than_it_may_is_refused(source):
    batch = build_batch([Record(0, 1, None, bytes(100_000))], compression=source)
    with pytest.raises(ApiError) as refused:
        repacked(batch, Compression.NONE, unpacked_bytes_max=100_000)
    assert refused.value.code is ErrorCode.CORRUPT_MESSAGE
