"""A segment as a person reads it."""

import pytest

from broker.log.config import LOG_APPEND_TIME, LogConfig
from broker.log.dump import SegmentDump, describe_time
from broker.log.log import Log
from broker.records.batch import Compression
from broker.records.builder import build_batch
from broker.records.record import Record

NOW_MS = 1_700_000_000_123


@pytest.fixture
def log(tmp_path):
    log = Log.open(tmp_path / "t-0", LogConfig())
    records = [Record(0, NOW_MS, b"k", b"v" * 200, (("trace", b"\xff"),)), Record(0, NOW_MS + 1, None, None)]
    log.append(build_batch(records, compression=Compression.ZSTD), 3)
    log.append(build_batch([Record(0, -1, b"", b"x")], producer_id=7, producer_epoch=2, base_sequence=40), 4)
    return log


def lines(log: Log, **options) -> list[str]:
    return list(SegmentDump(log.segments[0].files.log, **options).lines())


def test_each_batch_is_a_line_with_offsets_times_sizes_and_producer(log):
    first, second, total = lines(log)
    sizes = [header.size_bytes for _, header in log.segments[0].batches()]
    assert first.split("  ", 1)[0].strip() == ""
    assert first.strip() == (
        f"0  offsets 0-1  2 records  {sizes[0]} bytes  created 2023-11-14T22:13:20.124+00:00  epoch 3  zstd"
    )
    assert second.strip() == (
        f"{sizes[0]}  offsets 2-2  1 records  {sizes[1]} bytes  created at no time  epoch 4  producer 7/2 sequence 40"
    )
    assert total == f"2 batches, 3 records, {sum(sizes)} bytes"


def test_records_are_shown_if_asked_and_long_ones_cut(log):
    shown = [line.strip() for line in lines(log, with_records=True)]
    assert shown[1] == (f"0  2023-11-14T22:13:20.123+00:00  key 'k'  value '{'v' * 120}'… (200 bytes)  trace: b'\\xff'")
    assert shown[2] == "1  2023-11-14T22:13:20.124+00:00  key null  value null"
    assert shown[4] == "2  at no time  key ''  value 'x'"


def test_append_time_is_called_so(tmp_path, batch_of):
    log = Log.open(tmp_path / "t-1", LogConfig(message_timestamp_type=LOG_APPEND_TIME))
    log.append(batch_of(b"v"), 0, now_ms=NOW_MS)
    assert "appended 2023-11-14T22:13:20.123+00:00" in lines(log)[0]


def test_damage_is_named_and_ends_it(log):
    path = log.segments[0].files.log
    second = list(log.segments[0].batches())[1][0]
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    dump = SegmentDump(path)
    shown = list(dump.lines())
    assert shown[1].strip() == f"{second}  DAMAGED: the CRC does not match; {len(content) - second} bytes not read"
    assert shown[2].startswith("1 batches, 2 records")
    assert dump.damage.position == second


def test_times_no_calendar_has_are_plain_numbers():
    assert describe_time(0) == "1970-01-01T00:00:00.000+00:00"
    assert describe_time(2**62) == str(2**62)
