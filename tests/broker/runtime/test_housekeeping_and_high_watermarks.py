"""Chores keep to what is committed (traps 23 and 40), for leaders and followers alike, and note how far that is."""

from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest

from broker.common.types import TopicPartition
from broker.config.broker import read_broker_config
from broker.log.checkpoints import read_offset_checkpoint
from broker.log.compaction.checkpoint import CLEANER_OFFSET_CHECKPOINT
from broker.log.config import LogConfig
from broker.log.log import Log
from broker.log.manager import LogManager
from broker.records.builder import build_batch
from broker.records.record import Record
from broker.runtime.housekeeping import Housekeeping
from tests.eventually import eventually
from tests.manual_clock import ManualClock

SMALL, LAST = TopicPartition("small", 0), TopicPartition("zlast", 0)
RETAINED = LogConfig(segment_bytes=500, index_interval_bytes=100, retention_ms=0)
COMPACTED = LogConfig(
    segment_bytes=500, index_interval_bytes=100, cleanup_policy=("compact",), min_cleanable_dirty_ratio=0.0
)
OFTEN = """
broker.id=1
zookeeper.connect=unused:1
log.initial.task.delay.ms=1
log.retention.check.interval.ms=5
log.cleaner.backoff.ms=5
replica.high.watermark.checkpoint.interval.ms=5
"""


@dataclass
class Replica:
    """What chores ask of a partition; whether it leads or follows is not among it."""

    topic_partition: TopicPartition
    high_watermark: int = 0


@dataclass
class Hosted:
    partition: Replica
    log: Log


@pytest.fixture
def logs(tmp_path):
    logs = LogManager([tmp_path], LogConfig(), 1, "cluster")
    logs.load_all()
    yield logs
    logs.shutdown()


@pytest.fixture
def host(logs):
    """A partition of ten segments in which the same key is written over and over."""

    def new(partition: TopicPartition, config: LogConfig) -> Hosted:
        log = logs.get_or_create(partition, UUID(int=1))
        log.config = config
        while len(log.segments) < 10:
            log.append(build_batch([Record(0, 1_000, b"key", b"%d" % log.log_end_offset)]), 0)
        return Hosted(Replica(partition), log)

    return new


@pytest.fixture
async def run(logs):
    running = []

    def start(*hosted: Hosted) -> Housekeeping:
        def high_watermarks() -> dict[TopicPartition, int]:
            return {partition.partition.topic_partition: partition.partition.high_watermark for partition in hosted}

        chores = Housekeeping(hosted, logs, read_broker_config(OFTEN), ManualClock(), high_watermarks)
        chores.start()
        running.append(chores)
        return chores

    yield start
    for chores in running:
        await chores.stop()


def contents(log: Log) -> dict[int, bytes]:
    return {segment.base_offset: segment.files.log.read_bytes() for segment in log.segments}


async def test_trap_23_retention_stops_at_the_high_watermark(host, run):
    judged, last = host(SMALL, RETAINED), host(LAST, RETAINED)
    bounds = [segment.base_offset for segment in judged.log.segments]
    run(judged, last)
    for place, high_watermark in ((0, 0), (0, bounds[1] - 1), (1, bounds[1]), (4, bounds[5] - 1), (5, bounds[5])):
        judged.partition.high_watermark = high_watermark
        await one_more_round(last, host)
        assert judged.log.log_start_offset == bounds[place], high_watermark
    judged.partition.high_watermark = judged.log.log_end_offset
    await eventually(lambda: len(judged.log.segments) == 1, "all but the active segment are gone")


async def one_more_round(last: Hosted, host) -> None:
    """Retention judges partitions in turn: when the last one has been, so have the others, with what is known now."""
    for _ in range(2):
        host(LAST, RETAINED)
        last.partition.high_watermark = end = last.log.segments[-1].base_offset
        await eventually(lambda end=end: last.log.log_start_offset == end, "the last partition was judged")


async def test_trap_23_log_start_of_the_leader_deletes_nothing_beyond_the_high_watermark(host, run):
    judged, last = host(SMALL, LogConfig(segment_bytes=500, retention_ms=-1)), host(LAST, RETAINED)
    bounds = [segment.base_offset for segment in judged.log.segments]
    judged.log.follow_log_start(bounds[6])
    judged.partition.high_watermark = bounds[4]
    run(judged, last)
    await one_more_round(last, host)
    assert (judged.log.log_start_offset, judged.log.segments[0].base_offset) == (bounds[6], bounds[4])
    judged.partition.high_watermark = bounds[6]
    await eventually(lambda: judged.log.segments[0].base_offset == bounds[6], "what is before the log's start is gone")


async def test_trap_40_compaction_stops_at_the_high_watermark(host, run, tmp_path):
    judged = host(SMALL, COMPACTED)
    before, bounds = contents(judged.log), [segment.base_offset for segment in judged.log.segments]
    judged.partition.high_watermark = bounds[4] + 1
    run(judged)
    await eventually(lambda: clean_to(tmp_path) == bounds[4], "what is committed is compacted")
    after = contents(judged.log)
    assert {base: after[base] for base in bounds[4:]} == {base: before[base] for base in bounds[4:]}
    headers = [header for segment in judged.log.segments for _, header in segment.batches() if header.records_count]
    assert [header.base_offset for header in headers] == list(range(bounds[4] - 1, judged.log.log_end_offset))


def clean_to(log_dir: Path) -> int:
    return read_offset_checkpoint(log_dir / CLEANER_OFFSET_CHECKPOINT).get(SMALL, 0)


async def test_high_watermarks_are_noted_while_running_and_when_stopping(host, run, tmp_path):
    def noted() -> dict[TopicPartition, int]:
        return read_offset_checkpoint(tmp_path / "replication-offset-checkpoint")

    hosted = host(SMALL, LogConfig(segment_bytes=500))
    chores = run(hosted)
    for high_watermark in (7, 11):
        hosted.partition.high_watermark = high_watermark
        await eventually(lambda expected=high_watermark: noted() == {SMALL: expected}, "the high watermark is noted")
    hosted.partition.high_watermark = 13
    await chores.stop()
    assert noted() == {SMALL: 13}


async def test_log_that_is_cut_is_dirty_from_there_on(host, run, tmp_path):
    hosted = host(SMALL, COMPACTED)
    hosted.partition.high_watermark = hosted.log.log_end_offset
    chores = run(hosted)

    await eventually(lambda: clean_to(tmp_path) > 20, "a pass is done")
    await chores.stop()
    hosted.log.truncate_to(15)
    assert clean_to(tmp_path) == hosted.log.log_end_offset <= 15


def test_high_watermarks_are_noted_every_five_seconds_by_default():
    config = read_broker_config("broker.id=1\nzookeeper.connect=unused:1\n")
    assert config.replica_high_watermark_checkpoint_interval_ms == 5_000
