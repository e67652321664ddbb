"""Gaps of logs are told once after a start, and counted as long as they are in the log."""

import os
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from broker.common.types import TopicPartition
from broker.log.config import LogConfig
from broker.log.log import Log
from broker.records.builder import build_batch
from broker.records.record import Record
from broker.replication.partition import Partition
from broker.runtime.log_gaps import LogGaps
from broker.runtime.replication.hosted_partition import HostedPartition

PARTITION = TopicPartition("t", 0)
CONFIG = LogConfig(segment_bytes=300)


@pytest.fixture
def hosted(tmp_path):
    """Without its second segment."""
    log = Log.open(tmp_path / "t-0", CONFIG)
    while len(log.segments) < 5:
        log.append(build_batch([Record(0, 1_000, b"k", b"." * 80)]), 0)
    log.close()
    log.segments[1].remove_files()
    return HostedPartition(Partition(PARTITION, 1), Log.open(tmp_path / "t-0", CONFIG, is_clean=True), UUID(int=1))


async def lines_of(gaps: LogGaps, hosted: HostedPartition) -> list[dict]:
    with capture_logs() as lines:
        await gaps.look(hosted)
    return lines


async def test_a_lost_segment_is_told_once_with_its_offsets(hosted):
    gaps = LogGaps(lambda log_dir, partition: False)
    (line,) = await lines_of(gaps, hosted)
    _, first, *_ = hosted.log.segments
    assert (line["partition"], line["gaps"], line["log_level"]) == ("t-0", 1, "warning")
    assert line["offsets"].endswith(f" to {first.base_offset - 1}")
    assert await lines_of(gaps, hosted) == []
    assert len(gaps) == 1
    hosted.log.delete_records(hosted.log.log_end_offset, hosted.log.log_end_offset)
    assert len(gaps) == 0


async def test_nothing_is_said_of_a_log_that_is_or_was_compacted(hosted):
    gaps = LogGaps(lambda log_dir, partition: (log_dir, partition) == (hosted.log.directory.parent, PARTITION))
    assert await lines_of(gaps, hosted) == []
    gaps = LogGaps(lambda log_dir, partition: False)
    hosted.log.config = LogConfig(cleanup_policy=("compact",))
    assert await lines_of(gaps, hosted) == []
    assert len(gaps) == 0


async def test_a_log_that_could_not_be_looked_at_is_looked_at_the_next_time(hosted, monkeypatch):
    gaps = LogGaps(lambda log_dir, partition: False)
    with monkeypatch.context() as busy:
        busy.setattr("broker.runtime.log_gaps.find_gaps", lambda *_: os.stat("/nowhere/at/all"))
        assert [line["log_level"] for line in await lines_of(gaps, hosted)] == ["info"]
    assert len(await lines_of(gaps, hosted)) == 1
