"""A preview tells exactly what the deed then does, and touches nothing."""

from dataclasses import replace

import pytest

from broker.common.errors import InvariantViolation
from broker.common.types import TopicPartition
from broker.log.compaction.log_to_clean import LogToClean
from broker.log.compaction.settings import CleanerSettings, CleaningStopped
from broker.log.config import LogConfig
from broker.log.log import Log
from broker.log.preview import LogPreview, preview_log
from broker.log.retention import plan_retention
from broker.records.builder import build_batch
from broker.records.record import Record
from tests.broker.log.compaction.conftest import CompactedLog
from tests.manual_clock import ManualClock

PARTITION = TopicPartition("t", 0)
CONFIG = LogConfig(segment_bytes=400, index_interval_bytes=100, retention_ms=-1)


def refuse(_work):
    raise InvariantViolation("a preview has nothing to do at the owner")


def settings(clock: ManualClock, **changes) -> CleanerSettings:
    made = CleanerSettings(clock=clock, on_owner=refuse, sleep=lambda seconds: None, offset_map_bytes=1 << 20)
    return replace(made, **changes)


def previewed(log: Log, config: LogConfig, clock: ManualClock, *, with_compaction=True, **changes) -> LogPreview:
    target = LogToClean.of(PARTITION, log, log.log_end_offset, log.last_offsets_of_producers, config)
    return preview_log(target, log.log_end_offset, settings(clock, **changes), with_compaction=with_compaction)


@pytest.fixture
def clock():
    return ManualClock(now_ms=100_000)


@pytest.fixture
def log(tmp_path):
    """Batches of two records, a second of time each, in five segments."""
    log = Log.open(tmp_path / "t-0", CONFIG)
    while len(log.segments) < 5:
        at = log.log_end_offset
        log.append(build_batch([Record(0, 1_000 * at, b"k%d" % (at % 4), b"v"), Record(0, 1_000 * at, b"l", b"w")]), 0)
    return log


def test_what_is_previewed_is_what_is_deleted(log, clock):
    config = LogConfig(retention_ms=-1, retention_bytes=log.size_bytes - 700)
    end, size = log.log_end_offset, log.size_bytes
    preview = previewed(log, config, clock)
    assert (preview.log_start_offset, preview.log_end_offset) == (0, end)
    assert (preview.segments_count, preview.size_bytes) == (5, size)
    assert len(log.segments) == 5, "nothing was touched"
    log.apply(plan_retention(log.retention_facts(), config, 0, end, clock.now_ms()))
    assert preview.retention.log_start_offset == log.log_start_offset == sum(preview.records)
    assert preview.retention.size_bytes == size - log.size_bytes
    assert preview.compaction is None


def test_records_deleted_before_are_not_counted_again(log, clock):
    log.delete_records(3, log.log_end_offset)
    preview = previewed(log, LogConfig(retention_ms=0), clock)
    assert sum(preview.records) == log.log_end_offset - 3


def test_records_of_a_compacted_log_are_counted_not_reckoned_from_offsets(tmp_path):
    """Between the offsets that stay there are gaps."""
    compacted = CompactedLog(tmp_path / "t-0")
    for number in range(40):
        compacted.append((b"k%d" % (number % 3), b"." * 100))
    compacted.seal()
    compacted.clean()
    kept = compacted.records()
    config = LogConfig(cleanup_policy=("compact", "delete"), retention_ms=0)
    compacted.clock.advance(10)
    preview = previewed(compacted.log, config, compacted.clock, with_compaction=False)
    assert sum(preview.records) == len(kept) < compacted.log.log_end_offset


def test_previewed_compaction_is_what_a_pass_then_does(tmp_path):
    compacted = CompactedLog(tmp_path / "t-0")
    for number in range(40):
        compacted.append((b"k%d" % (number % 3), b"." * 100), (None, b"lost"))
    compacted.seal()
    files_before = sorted(path.name for path in compacted.directory.iterdir())
    preview = previewed(compacted.log, replace(compacted.config, cleanup_policy=("compact",)), compacted.clock)
    assert sorted(path.name for path in compacted.directory.iterdir()) == files_before
    assert preview.compaction.plan.is_due
    done = compacted.clean()
    assert preview.compaction.stats.records == done.records
    assert preview.compaction.stats.bytes_after == done.bytes_after < done.bytes_before


def test_compaction_is_previewed_of_what_retention_leaves(tmp_path):
    compacted = CompactedLog(tmp_path / "t-0")
    for number in range(40):
        compacted.append((b"k%d" % (number % 3), b"." * 100))
        compacted.clock.advance(1_000)
    first, second, *_ = compacted.log.segments
    config = LogConfig(
        cleanup_policy=("compact", "delete"), retention_ms=compacted.clock.now_ms() - second.max_timestamp
    )
    preview = previewed(compacted.log, config, compacted.clock)
    assert [segment.base_offset for segment in preview.retention.segments] == [first.base_offset]
    assert preview.compaction.plan.segments[0].base_offset == second.base_offset
    everything = previewed(compacted.log, replace(config, retention_ms=0), compacted.clock)
    assert everything.retention.log_start_offset == compacted.log.log_end_offset
    assert everything.compaction.plan.segments == ()


def test_preview_that_may_not_go_on_stops_in_the_middle(tmp_path):
    compacted = CompactedLog(tmp_path / "t-0")
    for _ in range(40):
        compacted.append((b"k", b"." * 100))
    requests = []

    def should_stop() -> bool:
        requests.append(None)
        return len(requests) > 10

    with pytest.raises(CleaningStopped):
        previewed(compacted.log, LogConfig(cleanup_policy=("compact",)), compacted.clock, should_stop=should_stop)
    assert len(requests) == 11
