"""Logs that are cut on worker threads: by the thousand, on a disk that hangs or fails, before a new role."""

import asyncio
import os
import threading
from uuid import UUID

import pytest

from broker.common.clock import SystemClock
from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.log import offset_checkpoint, truncation
from broker.log.config import LogConfig
from broker.log.manager import LogManager
from broker.log.truncation import Truncation
from broker.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from broker.records.batch import patch_batch
from broker.records.builder import build_batch
from broker.records.record import Record
from broker.runtime.delayed_fetches import DelayedFetches
from broker.runtime.disk import executor
from broker.runtime.replication.follower_cuts import start_over_at, truncate
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.runtime.replication.role_changes import StoppedPartition, stop_replicas, take_roles
from tests.broker.runtime.applied_roles import apply_leader_and_isr
from tests.eventually import eventually

TOPIC_ID = UUID(int=1)
PARTITIONS = 100
ALL = [TopicPartition("t", index) for index in range(PARTITIONS)]


@pytest.fixture
def logs(tmp_path):
    logs = LogManager([tmp_path / "logs"], LogConfig(), 1, "cluster")
    logs.load_all()
    yield logs
    logs.shutdown()


@pytest.fixture
async def replicas(logs):
    """Followers of broker 2 that hold three records each, all noted as replicated and fsynced."""
    replicas = ReplicaManager(1, logs, DelayedFetches(SystemClock()), SystemClock())
    replicas.controller_epoch = 1
    apply_leader_and_isr(replicas, led_by(1, leader_epoch=1))
    for partition in ALL:
        for _ in range(3):
            replicas.append(partition, build_batch([Record(0, 1, b"k", b"v")]))
    for partition in ALL:
        logs.get(partition).flush()
    logs.checkpoint_recovery_points()
    logs.store_high_watermarks(replicas.high_watermarks())
    apply_leader_and_isr(replicas, led_by(2, leader_epoch=2))
    yield replicas
    await replicas.logs.idle()


def led_by(leader: int, leader_epoch: int, partitions: int = PARTITIONS) -> LeaderAndIsrRequest:
    states = [
        LeaderAndIsrPartitionState(
            partition_index=index,
            leader=leader,
            leader_epoch=leader_epoch,
            isr=[leader],
            replicas=[1, 2],
            partition_epoch=leader_epoch,
            is_new=True,
        )
        for index in range(partitions)
    ]
    topic = LeaderAndIsrTopicState(topic_name="t", topic_id=TOPIC_ID, partition_states=states)
    return LeaderAndIsrRequest(controller_epoch=1, broker_epoch=-1, topic_states=[topic])


def fetched(base_offset: int) -> memoryview:
    batch = build_batch([Record(0, 1, b"k", b"v")])
    patch_batch(batch, 0, base_offset, 2)
    return memoryview(batch)


class SlowDisk:
    """Cuts stand still in their fsync until they may go on."""

    def __init__(self, flush):
        self.has_begun, self.may_go_on = threading.Event(), threading.Event()
        self.error: OSError | None = None
        self._flush = flush

    def flush(self, segment) -> None:
        self.has_begun.set()
        assert self.may_go_on.wait(30)
        if self.error is not None:
            raise self.error
        self._flush(segment)


@pytest.fixture
def disk(monkeypatch):
    disk = SlowDisk(truncation.Segment.flush)
    monkeypatch.setattr(truncation.Segment, "flush", lambda segment: disk.flush(segment))
    yield disk
    disk.may_go_on.set()


async def test_a_hundred_cuts_write_each_checkpoint_once_and_nothing_on_the_loop(replicas, logs, monkeypatch):
    """Of what is not committed: what is may be lost at the leader, and is kept first, each log by itself."""
    written, loop_thread, fsync = [], threading.current_thread(), os.fsync
    for hosted in replicas:
        hosted.partition.high_watermark = 2
    write = offset_checkpoint.write_offset_checkpoint

    def fsync_elsewhere(fd: int) -> None:
        assert threading.current_thread() is not loop_thread, "the loop waits for the disk"
        fsync(fd)

    def count(path, offsets) -> None:
        written.append(path.name)
        write(path, offsets)

    with monkeypatch.context() as patched:
        patched.setattr(offset_checkpoint, "write_offset_checkpoint", count)
        patched.setattr(os, "fsync", fsync_elsewhere)
        await asyncio.gather(*(truncate(replicas, hosted, 2) for hosted in list(replicas)))
    assert sorted(written) == ["recovery-point-offset-checkpoint", "replication-offset-checkpoint"]
    assert {hosted.log.log_end_offset for hosted in replicas} == {2}
    assert {hosted.partition.high_watermark for hosted in replicas} == {2}
    for hosted in replicas:
        hosted.log.append_as_follower(fetched(2))


async def test_what_is_noted_of_a_log_that_is_being_cut_stays_lowered(replicas, logs, disk):
    hosted = replicas.get("t", 0)
    high_watermarks = replicas.high_watermarks()
    done = truncate(replicas, hosted, 1)
    assert await asyncio.to_thread(disk.has_begun.wait, 10)
    await asyncio.to_thread(logs.store_high_watermarks, high_watermarks)
    await asyncio.to_thread(logs.checkpoint_recovery_points)
    (directory,) = logs._directories
    noted = [item.noted(ALL[0]) for item in (directory.high_watermarks, directory.recovery_points)]
    assert noted == [1, 1]
    assert directory.high_watermarks.noted(ALL[1]) == 3
    disk.may_go_on.set()
    await done


async def test_a_log_that_is_being_cut_serves_nobody_and_others_go_on(replicas, disk):
    hosted, other = replicas.get("t", 0), replicas.get("t", 1)
    done = truncate(replicas, hosted, 2)
    assert await asyncio.to_thread(disk.has_begun.wait, 10)
    for use in (
        lambda: hosted.log.read(0, 1_000, 2),
        lambda: hosted.log.append_as_follower(fetched(3)),
        lambda: hosted.log.last_offsets_of_producers,
        lambda: truncate(replicas, hosted, 1),
    ):
        with pytest.raises(ApiError) as refused:
            use()
        assert refused.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    with pytest.raises(ApiError) as refused:
        replicas.read(ALL[0], 0, 1_000, at_least_one=True, may_follow=True)
    assert refused.value.code is ErrorCode.OFFSET_NOT_AVAILABLE, "a consumer tries again"
    other.log.append_as_follower(fetched(3))
    disk.may_go_on.set()
    await done
    assert hosted.log.read(0, 1_000, 2).length


async def test_a_role_waits_for_the_cut(replicas, disk):
    done = truncate(replicas, replicas.get("t", 0), 2)
    assert await asyncio.to_thread(disk.has_begun.wait, 10)
    taking = asyncio.ensure_future(take_roles(replicas, led_by(1, leader_epoch=3), {}))
    await asyncio.sleep(0)
    assert not replicas.get("t", 0).partition.is_leader
    disk.may_go_on.set()
    assert set((await taking)[TOPIC_ID].values()) == {ErrorCode.NONE}
    assert done.done()
    hosted = replicas.get("t", 0)
    assert (hosted.partition.is_leader, hosted.partition.epoch_start_offset) == (True, 2)
    assert replicas.append(ALL[0], build_batch([Record(0, 1, None, b"v")])).base_offset == 2


async def test_a_role_whose_log_hangs_is_refused_and_the_others_are_taken(replicas, disk, monkeypatch):
    monkeypatch.setattr(executor, "CUT_WAIT_S_MAX", 0.01)
    truncate(replicas, replicas.get("t", 0), 2)
    outcomes = (await take_roles(replicas, led_by(1, leader_epoch=3), {}))[TOPIC_ID]
    assert outcomes.pop(0) is ErrorCode.REPLICA_NOT_AVAILABLE, "and told again later"
    assert set(outcomes.values()) == {ErrorCode.NONE}


async def test_roles_end_with_the_controller_that_gave_them(replicas, disk):
    truncate(replicas, replicas.get("t", 0), 2)
    taking = asyncio.ensure_future(take_roles(replicas, led_by(1, leader_epoch=3), {}))
    await asyncio.sleep(0)
    replicas.controller_epoch = 2
    disk.may_go_on.set()
    with pytest.raises(ApiError) as refused:
        await taking
    assert refused.value.code is ErrorCode.STALE_CONTROLLER_EPOCH


async def test_a_deletion_waits_for_the_cut(replicas, logs, disk, tmp_path):
    truncate(replicas, replicas.get("t", 0), 2)
    assert await asyncio.to_thread(disk.has_begun.wait, 10)
    stopping = asyncio.ensure_future(
        stop_replicas(replicas, [StoppedPartition(ALL[0], is_deletion=True, leader_epoch=-1)])
    )
    await asyncio.sleep(0)
    assert replicas.get("t", 0) is None
    assert (tmp_path / "logs" / "t-0").exists()
    disk.may_go_on.set()
    assert await stopping == {ALL[0]: ErrorCode.NONE}
    assert logs.get(ALL[0]) is None
    assert not (tmp_path / "logs" / "t-0").exists()


async def test_a_cut_ends_at_the_log_that_was_lent_if_the_broker_lets_go_of_it_meanwhile(replicas, logs):
    log = logs.get(ALL[0])
    done = replicas.logs.cuts.begin(ALL[0], log, Truncation(1))
    logs._forget(ALL[0])
    async with asyncio.timeout(10):
        await done
    assert (log.log_end_offset, log.is_lent) == (1, False)


async def test_a_disk_that_fails_in_a_cut_fails_its_directory(replicas, logs, disk):
    disk.error = OSError(5, "Input/output error")
    failed = []
    logs.on_directory_failed = lambda path, was_last: failed.append(path)
    done = truncate(replicas, replicas.get("t", 0), 2)
    disk.may_go_on.set()
    with pytest.raises(ApiError) as refused:
        await done
    assert refused.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    await eventually(lambda: failed, "the directory is offline")
    with pytest.raises(ApiError):
        replicas.get("t", 0).log.read(0, 1_000, 2)


async def test_all_that_goes_begins_anew(replicas):
    hosted = replicas.get("t", 0)
    await start_over_at(replicas, hosted, 1_000)
    assert (hosted.log.log_start_offset, hosted.log.log_end_offset) == (1_000, 1_000)
    assert hosted.partition.high_watermark == 1_000


async def test_notes_are_lowered_once_for_logs_that_begin_anew(logs, replicas):
    (directory,) = logs._directories
    logs.note_truncations({ALL[0]: Truncation(1_000, is_of_all=True), ALL[1]: Truncation(1)})
    assert [directory.high_watermarks.noted(item) for item in ALL[:3]] == [0, 1, 3]
