"""What retention lets go of: the decision from facts, and a log that acts on it."""

from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.log.config import LogConfig
from broker.log.log import Log
from broker.log.manager import LogManager
from broker.log.retention import RetainedSegment, RetentionPlan, RetentionReason, plan_retention
from broker.records.builder import build_batch
from broker.records.record import Record

NOW_MS = 1_000_000
PARTITION = TopicPartition("t", 0)
EVERYTHING = 2**40
FOREVER = LogConfig(retention_ms=-1)
CONFIG = LogConfig(segment_bytes=400, index_interval_bytes=100, retention_ms=-1, file_delete_delay_ms=50)


def facts(*segments: tuple[int, int], modified_ms: int = 0) -> list[RetainedSegment]:
    """Ten offsets each, of (bytes, largest timestamp)."""
    return [
        RetainedSegment(10 * place, 10 * place + 10, size, max_timestamp, max_timestamp, modified_ms)
        for place, (size, max_timestamp) in enumerate(segments)
    ]


def expired(
    segments: list[RetainedSegment], config: LogConfig, log_start_offset: int = 0, high_watermark: int = EVERYTHING
) -> list[tuple[int, RetentionReason]]:
    plan = plan_retention(segments, config, log_start_offset, high_watermark, NOW_MS)
    return [(segment.base_offset, segment.reason) for segment in plan.segments]


def test_segment_that_compaction_has_emptied_neither_keeps_older_records_nor_goes_alone():
    """Its file was written anew; and as long as nothing behind it goes, readers may begin at its offsets."""
    config = LogConfig(retention_ms=100)
    emptied, old, young = facts((0, -1), (1, NOW_MS - 101), (1, NOW_MS), modified_ms=NOW_MS)
    assert expired([emptied, old, young], config) == [(0, RetentionReason.TIME), (10, RetentionReason.TIME)]
    assert expired([emptied, young], LogConfig(retention_ms=100)) == []
    assert expired([emptied, young], config, log_start_offset=10) == [(0, RetentionReason.LOG_START_OFFSET)]
    assert expired([emptied, old, young], config, high_watermark=15) == []


def test_segment_goes_when_its_newest_record_is_older_than_retention_ms():
    segments = facts((1, NOW_MS - 101), (1, NOW_MS - 100), (1, NOW_MS))
    assert expired(segments, LogConfig(retention_ms=100)) == [(0, RetentionReason.TIME)]
    assert expired(segments, LogConfig(retention_ms=99)) == [(0, RetentionReason.TIME), (10, RetentionReason.TIME)]
    assert expired(segments, FOREVER) == []


def test_active_segment_goes_last_and_only_if_it_holds_something():
    segments = facts((1, NOW_MS - 101), (1, NOW_MS - 101))
    config = LogConfig(retention_ms=100)
    assert len(expired(segments, config)) == 2
    assert len(expired([*segments[:1], segments[1]._replace(size_bytes=0)], config)) == 1
    assert expired(segments, config, high_watermark=19) == [(0, RetentionReason.TIME)]
    assert expired(segments[:1], LogConfig(retention_ms=-1, retention_bytes=0)) == [(0, RetentionReason.BYTES)]


def test_active_segment_stays_when_only_its_records_were_deleted():
    """It is written to again: it is let go of when it is too old or too large, as in Kafka."""
    assert expired(facts((1, NOW_MS)), FOREVER, log_start_offset=10) == []


def test_time_in_the_future_keeps_a_segment_and_all_behind_it():
    segments = facts((1, 0), (1, NOW_MS + 10**9), (1, 0), (1, 0))
    assert expired(segments, LogConfig(retention_ms=100)) == [(0, RetentionReason.TIME)]


def test_segment_without_times_is_as_old_as_its_file():
    segments = facts((1, -1), (1, -1), modified_ms=NOW_MS - 50)
    assert expired(segments, LogConfig(retention_ms=50)) == []
    assert len(expired(segments, LogConfig(retention_ms=49))) == 2


def test_whole_segments_beyond_retention_bytes_go():
    segments = facts((100, 0), (100, 0), (100, 0), (50, 0))
    for retention_bytes, count in ((350, 0), (251, 0), (250, 1), (150, 2), (51, 2), (50, 3), (1, 3), (0, 4)):
        config = LogConfig(retention_ms=-1, retention_bytes=retention_bytes)
        assert expired(segments, config) == [(10 * place, RetentionReason.BYTES) for place in range(count)]


def test_segment_before_the_log_start_goes_whatever_the_policy():
    segments = facts((1, NOW_MS), (1, NOW_MS), (1, NOW_MS))
    for config in (FOREVER, LogConfig(cleanup_policy=("compact",))):
        assert expired(segments, config, log_start_offset=19) == [(0, RetentionReason.LOG_START_OFFSET)]
        assert len(expired(segments, config, log_start_offset=20)) == 2


def test_compacted_topic_keeps_old_and_many_records_unless_deleting_as_well():
    segments = facts((100, 0), (100, 0))
    config = LogConfig(cleanup_policy=("compact",), retention_ms=1, retention_bytes=1)
    assert expired(segments, config) == []
    both = LogConfig(cleanup_policy=("compact", "delete"), retention_ms=1)
    assert len(expired(segments, both)) == 2


def test_records_not_yet_replicated_stay():
    segments = facts((1, 0), (1, 0), (1, 0))
    assert expired(segments, LogConfig(retention_ms=1), high_watermark=19) == [(0, RetentionReason.TIME)]
    assert len(expired(segments, LogConfig(retention_ms=1), high_watermark=20)) == 2


@given(
    segments=st.lists(st.tuples(st.integers(0, 100), st.integers(-1, NOW_MS)), min_size=1, max_size=8),
    retention_ms=st.integers(-1, NOW_MS),
    retention_bytes=st.integers(-1, 800),
    log_start_offset=st.integers(0, 80),
    high_watermark=st.integers(0, 80),
)
def test_plan_is_always_a_beginning_below_the_high_watermark(
    segments, retention_ms, retention_bytes, log_start_offset, high_watermark
):
    segments = facts(*segments)
    config = LogConfig(retention_ms=retention_ms, retention_bytes=retention_bytes)
    plan = plan_retention(segments, config, log_start_offset, high_watermark, NOW_MS)
    assert [segment.base_offset for segment in plan.segments] == [
        segment.base_offset for segment in segments[: len(plan.segments)]
    ]
    assert plan.log_start_offset >= log_start_offset
    left = segments[len(plan.segments) :]
    if plan.segments:
        assert plan.segments[-1].next_offset <= high_watermark
        assert plan.log_start_offset >= plan.segments[-1].next_offset
    if plan.segments and plan.segments[-1].reason is RetentionReason.BYTES:
        assert sum(item.size_bytes for item in left) >= retention_bytes
    assert plan.size_bytes == sum(segment.size_bytes for segment in segments) - sum(item.size_bytes for item in left)


@pytest.fixture
def log(tmp_path, batch_of):
    """Five segments, a second of time each batch."""
    log = Log.open(tmp_path / "t-0", CONFIG)
    while len(log.segments) < 5:
        log.append(batch_of(b"%d" % log.log_end_offset, timestamp_ms=1_000 * log.log_end_offset), 0)
    return log


def plan(log: Log, config: LogConfig, *, now_ms: int = 0) -> RetentionPlan:
    return plan_retention(log.retention_facts(), config, log.log_start_offset, log.log_end_offset, now_ms)


def names(directory: Path, suffix: str) -> list[str]:
    return sorted(path.name for path in directory.glob("*" + suffix))


def test_plan_of_a_log_names_offsets_times_and_bytes(log):
    first, second = log.segments[:2]
    now_ms = 1_000 * second.base_offset
    result = plan(log, LogConfig(retention_ms=999), now_ms=now_ms)
    last_time = 1_000 * (second.base_offset - 1)
    assert result == (
        ((0, second.base_offset, first.size_bytes, 0, last_time, RetentionReason.TIME, first.serial),),
        second.base_offset,
    )
    assert len(log.segments) == 5, "a plan under another configuration touches nothing"


def test_applied_plan_moves_the_log_start_and_frees_the_disk_later(log, records_of):
    records, third = records_of(log), log.segments[2]
    unsent = log.read(0, 1 << 20, log.log_end_offset)
    before = unsent.read()
    result = plan(log, LogConfig(retention_ms=-1, retention_bytes=log.size_bytes - 700))
    assert len(result.segments) == 2
    assert log.apply(result) == result.size_bytes
    assert (log.log_start_offset, log.segments[0]) == (third.base_offset, third)
    assert records_of(log) == records[third.base_offset :]
    with pytest.raises(ApiError) as caught:
        log.read(third.base_offset - 1, 100, log.log_end_offset)
    assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE
    assert len(names(log.directory, ".log.deleted")) == 2
    assert [log.purge_segments(now_ms) for now_ms in (100, 149)] == [0, 0]
    assert log.purge_segments(150) == result.size_bytes
    assert names(log.directory, ".deleted") == []
    assert unsent.read() == before
    for is_clean in (False, True):
        again = Log.open(log.directory, CONFIG, is_clean=is_clean)
        assert (again.log_start_offset, records_of(again)) == (third.base_offset, records[third.base_offset :])


def test_plan_that_time_has_overtaken_deletes_nothing_else(log):
    everything = plan(log, LogConfig(retention_ms=0), now_ms=10**9)
    assert len(everything.segments) == 5
    second = log.segments[1]
    log.replace_segments([second], [])
    assert log.apply(everything) == 0, "the first segment now reaches further than the plan knew"
    assert log.apply(plan(log, LogConfig(retention_ms=0), now_ms=10**9)) > 0
    assert len(log.segments) == 1
    assert log.apply(everything) == 0


def test_idle_log_becomes_empty_and_goes_on_where_it_ended(log, batch_of, records_of):
    end = log.log_end_offset
    everything = plan(log, LogConfig(retention_ms=0), now_ms=10**9)
    assert everything.log_start_offset == end
    assert log.roll_expired(everything)
    log.flush()
    assert log.apply(everything) == everything.size_bytes
    assert (log.log_start_offset, log.log_end_offset, log.size_bytes) == (end, end, 0)
    assert plan(log, LogConfig(retention_ms=0), now_ms=10**9).segments == ()
    assert log.append(batch_of(b"later"), 0).base_offset == end
    for is_clean in (False, True):
        again = Log.open(log.directory, CONFIG, is_clean=is_clean, recovery_point=end)
        assert records_of(again) == [(end, b"later")]


def test_idle_log_that_became_empty_keeps_its_offsets_when_opened(log):
    end = log.log_end_offset
    everything = plan(log, LogConfig(retention_ms=0), now_ms=10**9)
    log.roll_expired(everything)
    log.apply(everything)
    again = Log.open(log.directory, CONFIG)
    assert (again.log_start_offset, again.log_end_offset) == (end, end)


def test_idempotent_producer_goes_on_after_its_records_expired(tmp_path):
    log = Log.open(tmp_path / "t-0", CONFIG)
    first = build_batch([Record(0, 1_000, None, b"a")], producer_id=5, producer_epoch=0, base_sequence=0)
    log.append(first, 0)
    everything = plan(log, LogConfig(retention_ms=0), now_ms=10**9)
    log.roll_expired(everything)
    log.apply(everything)
    again = build_batch([Record(0, 1_000, None, b"a")], producer_id=5, producer_epoch=0, base_sequence=0)
    assert log.append(again, 0).base_offset == 0, "a batch sent again is answered, not written"
    second = build_batch([Record(0, 2_000, None, b"b")], producer_id=5, producer_epoch=0, base_sequence=1)
    assert log.append(second, 0).base_offset == 1


def test_record_written_after_the_plan_keeps_the_active_segment(log, batch_of):
    everything = plan(log, LogConfig(retention_ms=0), now_ms=10**9)
    active = log.segments[-1]
    log.append(batch_of(b"young"), 0)
    assert not log.roll_expired(everything)
    log.apply(everything)
    assert log.segments == (active,)


def test_plan_for_a_log_that_was_deleted_leaves_its_successor_alone(tmp_path, batch_of, records_of):
    """The topic was deleted and made anew while the flush was waited for."""
    manager = LogManager([tmp_path], LogConfig(retention_ms=1), 1, "cluster")
    manager.load_all()
    old = manager.get_or_create(PARTITION, UUID(int=1))
    old.append(batch_of(b"old"), 0)
    plan = plan_retention(old.retention_facts(), old.config, 0, EVERYTHING, NOW_MS)
    assert old.roll_expired(plan)
    old.flush()
    manager.delete(PARTITION)
    new = manager.get_or_create(PARTITION, UUID(int=2))
    new.append(batch_of(b"acknowledged"), 0)
    with pytest.raises(ApiError) as refused:
        old.apply(plan)
    assert refused.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert records_of(Log.open(new.directory, LogConfig())) == [(0, b"acknowledged")]


def test_time_look_up_and_epochs_begin_at_the_new_start(log, batch_of):
    log.append(batch_of(b"x", timestamp_ms=10**7), 4)
    second = log.segments[1]
    log.apply(plan(log, LogConfig(retention_ms=999), now_ms=1_000 * second.base_offset))
    assert log.offset_for_timestamp(0) == (second.base_offset, 1_000 * second.base_offset)
    assert log.leader_epochs.entries[0] == (0, second.base_offset)


def test_deleted_records_are_gone_at_once_and_their_segments_with_the_next_look(log, records_of):
    records, second = records_of(log), log.segments[1]
    target = second.base_offset + 1
    assert log.delete_records(target, log.log_end_offset) == target
    assert (log.log_start_offset, len(log.segments)) == (target, 5)
    assert log.delete_records(3, log.log_end_offset) == target, "the start never moves back"
    assert log.offset_for_timestamp(0) == (target, 1_000 * target)
    cut = plan(log, FOREVER)
    assert [segment.reason for segment in cut.segments] == [RetentionReason.LOG_START_OFFSET]
    log.apply(cut)
    assert log.log_start_offset == target
    again = Log.open(log.directory, CONFIG, log_start_offset=target)
    assert again.log_start_offset == target
    cut = again.read(target, 1 << 20, again.log_end_offset)
    assert cut.length > 0
    assert records[target:]


def test_records_can_be_deleted_up_to_the_high_watermark_and_not_beyond(log):
    assert log.delete_records(-1, 7) == 7
    for offset in (8, -2):
        with pytest.raises(ApiError) as caught:
            log.delete_records(offset, 7)
        assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE
    assert log.delete_records(log.log_end_offset, log.log_end_offset) == log.log_end_offset
    assert log.read(log.log_end_offset, 100, log.log_end_offset).length == 0


def test_log_whose_end_was_lost_starts_where_its_start_is_known_to_be(log):
    end = log.log_end_offset
    again = Log.open(log.directory, CONFIG, log_start_offset=end + 100)
    assert (again.log_start_offset, again.log_end_offset, len(again.segments)) == (end + 100, end + 100, 1)
    assert names(log.directory, ".log") == [f"{end + 100:020d}.log"]


def test_segment_that_cannot_be_dated_is_as_old_as_its_file(log):
    first = log.directory / f"{0:020d}.log"
    content = bytearray(first.read_bytes())
    content[16] = 9
    first.write_bytes(content)
    first.with_suffix(".timeindex").unlink()
    again = Log.open(log.directory, CONFIG, recovery_point=log.log_end_offset)
    segment = again.retention_facts()[0]
    assert (segment.first_timestamp, segment.max_timestamp) == (-1, -1)
    assert segment.modified_ms > 1_600_000_000_000
