"""Batches that kafka-python and aiokafka build pass our gate and decode equal, and the other way round."""

import aiokafka.record.default_records as aiokafka_records
import kafka.record.default_records as kafka_python_records
import pytest

from broker.records.batch import Compression, check_produced_batch, parse_batch_header, patch_batch
from broker.records.builder import build_batch
from broker.records.record import Record, decode_records

HEADERS = (("trace", b"\x00\x01"), ("trace", b"again"), ("ü", b""))
RECORDS = [
    Record(0, 1_700_000_000_000, b"key-0", b"value" * 100, HEADERS),
    Record(1, 1_700_000_000_500, None, b"no key"),
    Record(2, 1_699_999_999_000, b"tombstone", None),
    Record(3, 1_700_000_000_001, b"", b"", (("empty", b""),)),
]
CLIENTS = pytest.mark.parametrize("client", [kafka_python_records, aiokafka_records], ids=["kafka-python", "aiokafka"])
CODECS = pytest.mark.parametrize("compression", list(Compression))


def built_by(client, compression: Compression, producer: tuple[int, int, int] = (-1, -1, -1)) -> bytearray:
    producer_id, producer_epoch, base_sequence = producer
    builder = client.DefaultRecordBatchBuilder(
        magic=2,
        compression_type=int(compression),
        is_transactional=0,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        batch_size=1_000_000,
    )
    for record in RECORDS:
        builder.append(record.offset, record.timestamp_ms, record.key, record.value, list(record.headers))
    return bytearray(builder.build())


@CLIENTS
@CODECS
def test_client_batch_passes_and_decodes_equal(client, compression):
    batch = built_by(client, compression)
    header = check_produced_batch(batch)
    assert header.compression is compression
    assert (header.records_count, header.max_timestamp) == (4, 1_700_000_000_500)
    assert decode_records(batch) == RECORDS


@CLIENTS
def test_client_batch_of_an_idempotent_producer_passes(client):
    header = check_produced_batch(built_by(client, Compression.NONE, producer=(4_000, 2, 17)))
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (4_000, 2, 17)


@CLIENTS
@CODECS
def test_our_batch_is_read_by_the_client(client, compression):
    batch = build_batch(RECORDS, base_offset=500, compression=compression)
    theirs = client.DefaultRecordBatch(batch)
    assert theirs.validate_crc()
    assert (theirs.base_offset, theirs.next_offset, theirs.max_timestamp) == (500, 504, 1_700_000_000_500)
    read = [Record(r.offset, r.timestamp, r.key, r.value, tuple(r.headers)) for r in theirs]
    assert read == [record._replace(offset=500 + record.offset) for record in RECORDS]


@CLIENTS
def test_patched_batch_is_still_good_for_the_client(client):
    batch = built_by(client, Compression.LZ4)
    patch_batch(batch, 0, 10**12, 31)
    theirs = client.DefaultRecordBatch(batch)
    assert theirs.validate_crc()
    assert [record.offset for record in theirs] == [10**12 + delta for delta in range(4)]
    assert parse_batch_header(batch).partition_leader_epoch == 31
