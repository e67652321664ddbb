"""When a segment has grown or aged enough for a new one to start."""

import pytest

from broker.log.config import LogConfig
from broker.log.log import Log
from broker.records.builder import build_batch
from broker.records.record import Record

HOUR_MS = 3_600_000
CONFIG = LogConfig(segment_ms=HOUR_MS)


@pytest.fixture
def log(tmp_path):
    return Log.open(tmp_path / "t-0", CONFIG)


def bases(log: Log) -> list[int]:
    return [segment.base_offset for segment in log.segments]


def test_batch_much_younger_than_the_first_starts_a_new_segment(log, batch_of):
    for timestamp_ms in (1_000, 500, 1_000 + HOUR_MS):
        log.append(batch_of(b"v", timestamp_ms=timestamp_ms), 0)
    assert bases(log) == [0]
    log.append(batch_of(b"v", timestamp_ms=1_001 + HOUR_MS), 0)
    assert bases(log) == [0, 3]
    log.append(batch_of(b"v", timestamp_ms=1_001 + 2 * HOUR_MS), 0)
    assert bases(log) == [0, 3]
    log.append(batch_of(b"v", timestamp_ms=1_002 + 2 * HOUR_MS), 0)
    assert bases(log) == [0, 3, 5]


def test_compacted_log_rolls_as_early_as_records_must_be_compacted(tmp_path, batch_of):
    """The active segment is never compacted, so it must not stay active for longer."""
    both = LogConfig(segment_ms=HOUR_MS, max_compaction_lag_ms=1_000, cleanup_policy=("compact",))
    for config, count in ((both, 2), (LogConfig(segment_ms=HOUR_MS, max_compaction_lag_ms=1_000), 1)):
        log = Log.open(tmp_path / f"t-{count}", config)
        for timestamp_ms in (1_000, 2_001):
            batch = build_batch([Record(0, timestamp_ms, b"k", b"v")])
            log.append(batch, 0)
        assert len(log.segments) == count


@pytest.mark.parametrize("is_clean", [True, False])
def test_age_survives_reopening(log, batch_of, is_clean):
    log.append(batch_of(b"v", timestamp_ms=1_000), 0)
    again = Log.open(log.directory, CONFIG, is_clean=is_clean)
    again.append(batch_of(b"v", timestamp_ms=1_000 + HOUR_MS), 0)
    assert bases(again) == [0]
    again.append(batch_of(b"v", timestamp_ms=1_001 + HOUR_MS), 0)
    assert bases(again) == [0, 2]


def test_records_without_a_time_age_by_the_clock(log, batch_of):
    for now_ms in (0, HOUR_MS):
        log.append(batch_of(b"v", timestamp_ms=-1), 0, now_ms=now_ms)
    assert bases(log) == [0]
    log.append(batch_of(b"v", timestamp_ms=-1), 0, now_ms=HOUR_MS + 1)
    assert bases(log) == [0, 2]


def test_new_segment_ms_holds_for_the_segment_that_is_there(log, batch_of):
    log.append(batch_of(b"v", timestamp_ms=1_000), 0)
    log.config = LogConfig(segment_ms=10)
    log.append(batch_of(b"v", timestamp_ms=1_011), 0)
    assert bases(log) == [0, 1]


def test_full_index_starts_a_new_segment(tmp_path, batch_of):
    log = Log.open(tmp_path / "t-0", LogConfig(index_interval_bytes=1, segment_index_bytes=36))
    for number in range(10):
        log.append(batch_of(b"v", timestamp_ms=number), 0)
    assert bases(log) == [0, 4, 8]
    assert all(path.stat().st_size <= 36 for path in log.directory.glob("*index"))


def test_single_batch_larger_than_the_interval_still_goes_into_an_empty_segment(tmp_path, batch_of):
    log = Log.open(tmp_path / "t-0", LogConfig(segment_ms=1, segment_index_bytes=1, index_interval_bytes=0))
    for number in range(4):
        log.append(batch_of(b"v" * 100, timestamp_ms=1_000 * number), 0)
    assert bases(log) == [0, 1, 2, 3]
