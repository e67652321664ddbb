"""Appending to and reading from one open log."""

import os

import pytest

from broker.common.errors import ApiError, ErrorCode, InvariantViolation
from broker.log.config import LogConfig
from broker.log.log import Log
from broker.log.open_segments import OpenSegments
from broker.records.batch import iterate_headers, parse_batch_header

SMALL_SEGMENTS = LogConfig(segment_bytes=1_000, index_interval_bytes=200)


@pytest.fixture
def log(tmp_path):
    return Log.open(tmp_path / "orders-0", LogConfig())


@pytest.fixture
def rolled(tmp_path, batch_of):
    """Forty batches of two records, a hundred-odd bytes each, over several segments."""
    log = Log.open(tmp_path / "orders-0", SMALL_SEGMENTS)
    for number in range(40):
        log.append(batch_of(b"a%02d" % number, b"b%02d" % number + bytes(number)), 0)
    return log


def test_new_log_is_empty_and_has_kafkas_file_names(log, tmp_path):
    assert (log.log_start_offset, log.log_end_offset, log.size_bytes) == (0, 0, 0)
    names = sorted(path.name for path in (tmp_path / "orders-0").iterdir())
    assert names == [f"{0:020d}.{kind}" for kind in ("index", "log", "timeindex")]


def test_append_gives_consecutive_offsets_and_sets_the_leader_epoch(log, batch_of, records_of):
    assert log.append(batch_of(b"a", b"b", timestamp_ms=50), 3) == (0, 1, 51)
    assert log.append(batch_of(b"c"), 4) == (2, 2, 1_000)
    assert records_of(log) == [(0, b"a"), (1, b"b"), (2, b"c")]
    data = log.read(0, 1 << 20, 3).read()
    assert [header.partition_leader_epoch for _, header in iterate_headers(data)] == [3, 4]


def test_slice_of_a_larger_buffer_is_appended_in_place(log, batch_of, records_of):
    batch = batch_of(b"a")
    frame = bytearray(b"head") + batch + b"tail"
    log.append(memoryview(frame)[4:-4], 0)
    assert records_of(log) == [(0, b"a")]
    assert (frame[:4], frame[-4:]) == (b"head", b"tail")


def test_batch_larger_than_max_message_bytes_is_refused_untouched(tmp_path, batch_of):
    batch = batch_of(b"x" * 500)
    log = Log.open(tmp_path / "t-0", LogConfig(max_message_bytes=len(batch) - 1))
    before = bytes(batch)
    with pytest.raises(ApiError) as caught:
        log.append(batch, 7)
    assert caught.value.code is ErrorCode.MESSAGE_TOO_LARGE
    assert (batch, log.log_end_offset) == (before, 0)
    log.config = LogConfig(max_message_bytes=len(batch))
    assert log.append(batch, 7).base_offset == 0


def test_batch_larger_than_a_segment_is_refused(tmp_path, batch_of):
    log = Log.open(tmp_path / "t-0", LogConfig(segment_bytes=200))
    with pytest.raises(ApiError) as caught:
        log.append(batch_of(b"x" * 200), 0)
    assert caught.value.code is ErrorCode.RECORD_LIST_TOO_LARGE


def test_batch_nobody_checked_is_a_broken_promise(log, batch_of):
    with pytest.raises(InvariantViolation):
        log.append(batch_of(b"a") + b"more", 0)
    assert log.log_end_offset == 0


def test_segments_roll_at_segment_bytes_and_read_as_one(rolled, records_of):
    expected = [
        item
        for number in range(40)
        for item in ((2 * number, b"a%02d" % number), (2 * number + 1, b"b%02d" % number + bytes(number)))
    ]
    assert len(rolled.segments) > 4
    assert all(segment.size_bytes <= 1_000 for segment in rolled.segments)
    assert rolled.size_bytes == sum(segment.size_bytes for segment in rolled.segments)
    for max_bytes in (1, 150, 400, 5_000):
        assert records_of(rolled, max_bytes=max_bytes) == expected


def test_every_offset_is_found_from_the_middle_of_its_batch(rolled):
    for fetch_offset in range(rolled.log_end_offset):
        header = parse_batch_header(rolled.read(fetch_offset, 1, rolled.log_end_offset).read())
        assert header.base_offset == fetch_offset // 2 * 2


def test_nothing_at_or_beyond_the_end_offset_is_returned(rolled, records_of):
    for end_offset in range(rolled.log_end_offset + 1):
        visible = records_of(rolled, end_offset=end_offset)
        assert len(visible) == end_offset // 2 * 2, "a batch that reaches beyond the high watermark stays invisible"


def test_slice_holds_as_many_whole_batches_as_fit(log, batch_of):
    size = len(batch_of(b"same"))
    for _ in range(10):
        log.append(batch_of(b"same"), 0)
    for max_bytes in range(size, 10 * size):
        assert log.read(0, max_bytes, 10).length == max_bytes // size * size


def test_at_least_one_batch_comes_even_if_too_large_unless_not_wanted(log, batch_of):
    batch = batch_of(b"large" * 1_000)
    log.append(batch, 0)
    log.append(batch_of(b"small"), 0)
    assert log.read(0, 0, 2).length == len(batch)
    assert log.read(0, len(batch) - 1, 2, at_least_one=True).length == len(batch)
    assert log.read(0, len(batch) - 1, 2, at_least_one=False).length == 0
    assert log.read(0, -5, 2, at_least_one=False).length == 0


def test_reading_at_the_end_is_empty_and_outside_is_out_of_range(rolled):
    end = rolled.log_end_offset
    assert rolled.read(end, 1 << 20, end).read() == b""
    assert rolled.read(end, 1 << 20, end).fd == -1
    assert rolled.read(10, 1 << 20, 10).length == 0
    for fetch_offset in (-1, end + 1, 2**63 - 1):
        with pytest.raises(ApiError) as caught:
            rolled.read(fetch_offset, 1 << 20, end)
        assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE


def test_fetch_far_behind_the_remembered_batches_finds_them_by_the_index(log, batch_of):
    for number in range(5_000):
        log.append(batch_of(b"%d" % number), 0)
    for fetch_offset in (0, 1, 37, 2_500, 3_990, 4_999):
        data = log.read(fetch_offset, 300, 5_000).read()
        headers = [header for _, header in iterate_headers(data)]
        assert headers[0].base_offset == fetch_offset
        assert 200 < sum(header.size_bytes for header in headers) == len(data) <= 300 or fetch_offset == 4_999


def test_segment_rolls_before_a_relative_offset_overflows(log, batch_of):
    log.append(batch_of(b"first"), 0)
    log.segments[-1].next_offset = 2**31 - 1  # as if two thousand million records had come
    log.append(batch_of(b"a", b"b"), 0)
    assert [segment.base_offset for segment in log.segments] == [0, 2**31 - 1]
    assert log.log_end_offset == 2**31 + 1


def test_slice_stays_readable_when_its_segment_is_closed_and_removed(rolled):
    early, late = rolled.read(0, 400, 80), rolled.read(79, 400, 80)
    before = (early.read(), late.read())
    rolled.close()
    for path in rolled.directory.iterdir():
        path.unlink()
    reused = [os.open(os.devnull, os.O_RDONLY) for _ in range(10)]
    try:
        assert (early.read(), late.read()) == before
    finally:
        for fd in reused:
            os.close(fd)


def test_closed_log_refuses_appends_and_reads(log, batch_of):
    log.append(batch_of(b"a"), 0)
    log.close()
    for refused in (lambda: log.append(batch_of(b"b"), 0), lambda: log.read(0, 100, 1), log.max_timestamp_offset):
        with pytest.raises(ApiError) as caught:
            refused()
        assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR


def open_files_of(log: Log) -> int:
    links = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
    return sum(os.readlink(link).startswith(str(log.directory)) for link in links if os.path.lexists(link))


@pytest.fixture
def rolled_with_one_open(rolled):
    rolled.close()
    opened = OpenSegments(count_max=1)
    return Log.open(rolled.directory, rolled.config, recovery_point=0, opened=opened)


def test_many_segments_need_no_more_descriptors_than_may_stay_open(rolled_with_one_open):
    rolled = rolled_with_one_open
    for fetch_offset in range(rolled.log_end_offset):
        rolled.read(fetch_offset, 100, 80).read()
    rolled.offset_for_timestamp(0)
    rolled.max_timestamp_offset()
    rolled.flush()
    assert open_files_of(rolled) == 2
    rolled.close()
    assert open_files_of(rolled) == 0


def test_looking_through_all_segments_opens_no_more_than_reading_does(rolled_with_one_open):
    rolled = rolled_with_one_open
    for segment in rolled.segments:
        rolled.offset_for_timestamp(segment.max_timestamp)
        rolled.read(segment.base_offset, 100, rolled.log_end_offset)
    rolled.max_timestamp_offset()
    rolled.retention_facts()
    rolled.flush()
    assert len(rolled.segments) > 2
    assert open_files_of(rolled) == 2


def test_a_log_of_many_segments_is_opened_again_with_one_file(rolled, tmp_path):
    count = len(rolled.segments)
    rolled.close()
    for is_clean in (False, True):
        again = Log.open(rolled.directory, rolled.config, is_clean=is_clean, recovery_point=0)
        assert (len(again.segments), open_files_of(again)) == (count, 1)
        again.close()


def test_flush_moves_the_recovery_point(rolled, batch_of):
    assert rolled.recovery_point == 0
    rolled.flush()
    assert rolled.recovery_point == 80
    rolled.append(batch_of(b"later"), 0)
    assert rolled.recovery_point == 80


def test_flush_syncs_each_segment_written_since_the_last_one(rolled, batch_of, monkeypatch):
    synced = []
    monkeypatch.setattr(
        "broker.log.segment.fsync_file", lambda file: synced.append(os.readlink(f"/proc/self/fd/{file.fd}"))
    )
    names = [f"{segment.base_offset:020d}.log" for segment in rolled.segments]
    rolled.flush()
    assert [name for name in map(os.path.basename, synced) if name.endswith(".log")] == names
    assert len(synced) == 3 * len(names) - 2, "the indexes of sealed segments are synced too"
    del synced[:]
    while len(rolled.segments) < len(names) + 2:
        rolled.append(batch_of(b"more" * 10), 0)
    rolled.flush()
    assert [name for name in map(os.path.basename, synced) if name.endswith(".log")] == [
        f"{segment.base_offset:020d}.log" for segment in rolled.segments[len(names) - 1 :]
    ]


def test_flush_that_fails_ends_writing_for_good(rolled, batch_of, monkeypatch):
    def failing(fd):
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as broken:
        broken.setattr("broker.log.segment.fsync_file", failing)
        with pytest.raises(ApiError, match="could not be flushed"):
            rolled.flush()
    for refused in (rolled.flush, lambda: rolled.append(batch_of(b"x"), 0)):
        with pytest.raises(ApiError) as caught:
            refused()
        assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert rolled.recovery_point == 0
