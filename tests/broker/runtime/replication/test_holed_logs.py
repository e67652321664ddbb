"""Logs without some segments in their middle: fetched anew from another leader, and kept until there is one."""

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from broker.common.clock import SystemClock
from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.log.config import LogConfig
from broker.log.gaps import Gap
from broker.log.manager import LogManager
from broker.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from broker.records.builder import build_batch
from broker.records.record import Record
from broker.runtime.delayed_fetches import DelayedFetches
from broker.runtime.replication.replica_manager import ReplicaManager

ME, OTHER, NONE = 1, 2, -1
TOPIC = UUID(int=1)
T_0 = TopicPartition("t", 0)


@pytest.fixture
def logs(tmp_path) -> Iterator[LogManager]:
    """The log of T_0, of four segments, without the second one."""
    before = LogManager([tmp_path], LogConfig(), ME, "cluster")
    before.load_all()
    log = before.get_or_create(T_0, TOPIC)
    log.config = LogConfig(segment_bytes=200)
    while len(log.segments) < 4:
        log.append(build_batch([Record(0, 0, None, b"kept" * 20)]), 0)
    before.shutdown()
    log.segments[1].files.log.unlink()
    logs = LogManager([tmp_path], LogConfig(), ME, "cluster")
    logs.load_all()
    yield logs
    logs.shutdown()


@pytest.fixture
def replicas(logs) -> ReplicaManager:
    return ReplicaManager(ME, logs, DelayedFetches(SystemClock()), SystemClock())


def told(replicas: ReplicaManager, leader: int, leader_epoch: int, **config: tuple[str, ...]) -> ErrorCode:
    state = LeaderAndIsrPartitionState(
        partition_index=0, leader=leader, leader_epoch=leader_epoch, isr=[max(leader, ME)], replicas=[ME, OTHER]
    )
    topic = LeaderAndIsrTopicState(topic_name="t", topic_id=TOPIC, partition_states=[state])
    request = LeaderAndIsrRequest(topic_states=[topic])
    return replicas.apply_leader_and_isr(request, {"t": LogConfig(**config)})[TOPIC][0]


def strays(tmp_path: Path) -> list[Path]:
    return list(tmp_path.glob("*-stray"))


@pytest.mark.parametrize("before", [[], [NONE]], ids=["at once", "when it comes back"])
async def test_a_follower_fetches_a_log_without_a_segment_anew(replicas, logs, before, tmp_path):
    for epoch, leader in enumerate(before):
        assert told(replicas, leader, epoch) is ErrorCode.NONE
    heard = []
    replicas.on_role.append(lambda hosted: heard.append((hosted.log.log_end_offset, hosted.partition.state is None)))
    assert told(replicas, OTHER, 5) is ErrorCode.NONE
    assert replicas.get("t", 0).log.log_end_offset == 0
    assert heard == [(4, True)] * len(before) + [(0, False)], "nothing is fetched into the log that goes"
    (stray,) = strays(tmp_path)
    assert len(list(stray.glob("*.log"))) == 3
    assert (logs.strays, logs.lost_offsets) == ({stray}, {})
    assert told(replicas, OTHER, 6) is ErrorCode.NONE
    assert strays(tmp_path) == [stray], "the new log is whole"


async def test_a_log_without_a_segment_stays_while_it_may_be_the_best_there_is(replicas, logs, tmp_path):
    """Whoever was counted on may come back without its log; then this one is elected, and leads what it has."""
    assert told(replicas, NONE, 4) is ErrorCode.NONE
    with capture_logs() as lines:
        assert told(replicas, ME, 5) is ErrorCode.NONE
    assert replicas.leader_log("t", 0).log.log_end_offset == 4
    assert strays(tmp_path) == []
    assert [line["offsets"] for line in lines if line["log_level"] == "error"] == ["1 to 1"]
    assert logs.lost_offsets == {T_0: (Gap(1, 2),)}, "it is counted as long as the offsets are missing"


async def test_a_log_of_a_compacted_topic_is_never_set_aside_for_missing_offsets(replicas, tmp_path):
    assert told(replicas, OTHER, 5, cleanup_policy=("compact", "delete")) is ErrorCode.NONE
    assert replicas.get("t", 0).log.log_end_offset == 4
    assert strays(tmp_path) == []


async def test_a_stale_role_sets_no_log_aside(replicas, tmp_path):
    assert told(replicas, NONE, 6) is ErrorCode.NONE
    assert told(replicas, OTHER, 5) is ErrorCode.FENCED_LEADER_EPOCH
    assert replicas.get("t", 0).log.log_end_offset == 4
    assert strays(tmp_path) == []


async def test_a_role_that_finds_the_log_at_a_thread_is_asked_for_again(replicas, logs, tmp_path):
    """Its copy for another directory is being written."""
    assert told(replicas, NONE, 4) is ErrorCode.NONE
    copied = replicas.logs.copies.begin(T_0, tmp_path, lambda: None)
    assert told(replicas, OTHER, 5) is ErrorCode.REPLICA_NOT_AVAILABLE
    assert strays(tmp_path) == []
    await copied
    assert told(replicas, OTHER, 5) is ErrorCode.NONE
    assert len(strays(tmp_path)) == 1
