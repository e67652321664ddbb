"""Offsets by time."""

import tracemalloc

import pytest
from crc32c import crc32c

from broker.common.errors import ApiError
from broker.log import timestamps
from broker.log.compaction.record_spans import unpack_records
from broker.log.config import LogConfig
from broker.log.log import Log
from broker.log.offset_index import ENTRY_BYTES
from broker.records.batch import (
    CHECKED_FROM,
    CRC,
    CRC_AT,
    HEADER,
    HEADER_BYTES,
    Compression,
    check_produced_batch,
    parse_batch_header,
)
from broker.records.builder import build_batch
from broker.records.record import Record
from tests.produced_batches import batch_of_headers


@pytest.fixture
def log(tmp_path):
    return Log.open(tmp_path / "t-0", LogConfig(segment_bytes=400, index_interval_bytes=100))


def append(log: Log, *times: int, compression: Compression = Compression.NONE) -> None:
    log.append(build_batch([Record(0, time, b"k", b"v") for time in times], compression=compression), 0)


def test_first_record_at_or_after_the_time_is_found_inside_its_batch(log):
    append(log, 100, 110, 120)
    append(log, 130, 140, compression=Compression.ZSTD)
    assert log.offset_for_timestamp(0) == (0, 100)
    assert log.offset_for_timestamp(110) == (1, 110)
    assert log.offset_for_timestamp(111) == (2, 120)
    assert log.offset_for_timestamp(131) == (4, 140)
    assert log.offset_for_timestamp(141) is None


def test_time_look_up_agrees_with_a_plain_search_over_segments_and_reopening(log, tmp_path):
    times = [100 + (number * 37) % 90 for number in range(60)]
    for first in range(0, 60, 3):
        append(log, *times[first : first + 3])
    assert len(log.segments) > 3
    for opened in (
        log,
        Log.open(tmp_path / "t-0", LogConfig()),
        Log.open(tmp_path / "t-0", LogConfig(), is_clean=True),
    ):
        for timestamp in range(95, 195):
            expected = next(((offset, time) for offset, time in enumerate(times) if time >= timestamp), None)
            assert opened.offset_for_timestamp(timestamp) == expected
        assert opened.max_timestamp_offset() == (times.index(max(times)), max(times))


@pytest.mark.parametrize("position", [-1, -(2**31), 2**31 - 1, 1])
def test_an_index_that_lies_of_a_place_misleads_no_look_up_and_is_no_fault_of_the_disk(log, tmp_path, position):
    times = list(range(100, 160))
    for time in times:
        append(log, time)
    log.flush()
    log.store_clean_state()
    sealed = log.segments[1]
    entries = bytearray(sealed.files.index.read_bytes())
    assert len(entries) >= 2 * ENTRY_BYTES
    for at in range(4, len(entries) - ENTRY_BYTES, ENTRY_BYTES):
        entries[at : at + 4] = position.to_bytes(4, signed=True)
    sealed.files.index.write_bytes(entries)
    opened, failures = Log.open(tmp_path / "t-0", LogConfig(), is_clean=True), []
    opened.on_disk_error = failures.append
    opened.read(sealed.base_offset, 1, sealed.base_offset + 1)
    for place, time in enumerate(times):
        assert opened.offset_for_timestamp(time) == (place, time)
    assert failures == []


def test_records_before_the_log_start_are_not_found(log):
    append(log, 100, 200, 300)
    log.log_start_offset = 1
    assert log.offset_for_timestamp(0) == (1, 200)


def test_largest_timestamp_follows_appends(log):
    assert log.max_timestamp_offset() is None
    append(log, 50, 70, 60)
    assert log.max_timestamp_offset() == (1, 70)
    append(log, 65)
    assert log.max_timestamp_offset() == (1, 70)
    append(log, 71)
    assert log.max_timestamp_offset() == (4, 71)


def test_largest_timestamp_outlives_its_record_as_long_as_its_segment_is_there(log):
    append(log, 50, 70, 60)
    log.log_start_offset = 3
    assert log.max_timestamp_offset() == (1, 70)


def test_records_without_a_time_have_no_largest(log):
    append(log, -1, -1)
    assert log.max_timestamp_offset() is None


def sealed(batch: bytearray) -> bytearray:
    CRC.pack_into(batch, CRC_AT, crc32c(bytes(batch[CHECKED_FROM:])))
    check_produced_batch(batch)
    return batch


def test_batch_whose_inside_is_garbage_counts_by_its_header(log):
    """The gate reads headers only, so such a batch can be in a log."""
    batch = build_batch([Record(0, 500, b"k", b"v" * 50)], compression=Compression.LZ4)
    batch[HEADER_BYTES:] = bytes(len(batch) - HEADER_BYTES)
    log.append(sealed(batch), 0)
    assert log.offset_for_timestamp(400) == (0, 500)


def test_batches_whose_headers_lie_of_their_times_are_not_unpacked_one_after_the_other(log, monkeypatch):
    """Six kilobytes of them can take a tenth of a second, and whoever may write can leave thousands."""
    for _ in range(20):
        batch = build_batch([Record(0, 100, b"k", b"v" * 50)] * 2)
        HEADER.pack_into(batch, 0, *parse_batch_header(batch)._replace(max_timestamp=10_000))
        log.append(sealed(batch), 0)
    unpacked = []
    monkeypatch.setattr(
        timestamps, "unpack_records", lambda header, batch: unpacked.append(batch) or unpack_records(header, batch)
    )
    assert log.offset_for_timestamp(5_000) == (0, 10_000)
    log.delete_records(1, 40)
    assert log.offset_for_timestamp(5_000) == (1, 10_000)
    assert log.max_timestamp_offset() == (0, 10_000)
    assert len(unpacked) == 3


def test_headers_are_not_made_of_a_batch_whose_time_is_looked_up(log):
    """Six kilobytes of zstd may hold 33 million, and a broker had 2.7 GB of them."""
    append(log, 900)
    batch = batch_of_headers(5_000_000)
    check_produced_batch(batch)
    log.append(batch, 0)
    tracemalloc.start()
    try:
        assert log.offset_for_timestamp(950) == log.max_timestamp_offset() == (1, 1_000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 50 * 1024 * 1024, "10 MB of records, unpacked and copied"


def test_a_record_that_is_damaged_hides_no_time_before_it(log):
    batch = build_batch([Record(0, 100, b"k", b"v"), Record(0, 200, b"k", b"v")])
    batch[-5] = 0x7F  # the length of the last key
    log.append(sealed(batch), 0)
    assert log.offset_for_timestamp(50) == (0, 100)
    assert log.offset_for_timestamp(150) == (0, 200), "by the header: no record can be told"


def test_what_was_looked_up_by_time_is_known_until_the_log_is_another(log):
    assert log.looked_up(0) is None
    append(log, 100)
    append(log, 110)
    results = {None: log.max_timestamp_offset(), 105: log.offset_for_timestamp(105)}
    assert (
        {timestamp: log.looked_up(timestamp).entry for timestamp in results}
        == results
        == {None: (1, 110), 105: (1, 110)}
    )
    assert log.looked_up(104) is None
    for change in (
        lambda: append(log, 120),
        lambda: log.truncate_to(2),
        lambda: append(log, 90),
        lambda: log.delete_records(1, log.log_end_offset),
        lambda: append(log, *range(200, 220)),
    ):
        change()
        assert [log.looked_up(timestamp) for timestamp in results] == [None, None], change
        log.max_timestamp_offset(), log.offset_for_timestamp(105)
        assert [log.looked_up(timestamp).entry for timestamp in results] == [
            log.max_timestamp_offset(),
            log.offset_for_timestamp(105),
        ]


def test_that_nothing_was_found_is_known_as_well(log):
    append(log, 100)
    assert log.offset_for_timestamp(101) is None
    assert log.looked_up(101).entry is None


def test_what_was_looked_up_while_the_log_was_cut_is_not_known_of_what_came_after(log, monkeypatch):
    append(log, 100)
    append(log, 110)

    def cut_meanwhile(*arguments, **named):
        monkeypatch.undo()
        log.truncate_to(1)
        return timestamps.find_timestamp(*arguments, **named)

    monkeypatch.setattr("broker.log.log_reader.find_timestamp", cut_meanwhile)
    assert log.offset_for_timestamp(0) == (0, 100)
    append(log, 90)
    assert log.looked_up(0) is None


def test_of_a_log_that_is_offline_nothing_is_known(log):
    append(log, 100)
    log.max_timestamp_offset()
    log.fail("the disk is gone")
    with pytest.raises(ApiError):
        log.looked_up(None)
