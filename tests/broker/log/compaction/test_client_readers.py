"""Batches that compaction wrote, read by clients of others."""

import aiokafka.record
import kafka.record
import pytest

from broker.log.compaction.rebuild import empty_batch, rebuild_batch
from broker.log.compaction.record_spans import unpack_batch
from broker.records.batch import Compression, parse_batch_header
from broker.records.builder import build_batch
from broker.records.record import Record

CLIENTS = pytest.mark.parametrize("client", [kafka.record, aiokafka.record], ids=["kafka-python", "aiokafka"])
NOW = 1_700_000_000_000
RECORDS = [
    Record(0, NOW, b"gone", b"1"),
    Record(0, NOW + 700, b"a", None, (("h", b"x"),)),
    Record(0, NOW - 9, b"b", b"2" * 300),
]


def batch_and_header(codec):
    batch = bytes(build_batch(RECORDS, base_offset=40, compression=codec))
    return batch, parse_batch_header(batch)


@CLIENTS
@pytest.mark.parametrize("horizon_ms", [None, NOW + 86_400_000])
@pytest.mark.parametrize("codec", list(Compression))
def test_clients_read_a_batch_that_lost_records(client, codec, horizon_ms):
    batch, header = batch_and_header(codec)
    payload, spans = unpack_batch(header, batch)
    read = client.MemoryRecords(rebuild_batch(header, payload, spans[1:], horizon_ms)).next_batch()
    assert read.validate_crc()
    result = [(r.offset, r.timestamp, r.key, r.value, list(r.headers)) for r in read]
    assert result == [(41, NOW + 700, b"a", None, [("h", b"x")]), (42, NOW - 9, b"b", b"2" * 300, [])]
    assert read.next_offset == 43


@CLIENTS
@pytest.mark.parametrize("codec", list(Compression))
def test_clients_step_over_a_batch_that_lost_all_records(client, codec):
    _, header = batch_and_header(codec)
    read = client.MemoryRecords(empty_batch(header)).next_batch()
    assert read.validate_crc()
    assert list(read) == []
    assert read.next_offset == 43
