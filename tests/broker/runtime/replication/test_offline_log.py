"""A log directory that fails under a leader: nothing of its partitions is committed or decided here any more."""

import asyncio
from types import SimpleNamespace
from uuid import UUID

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.log.config import LogConfig
from broker.log.manager import LogManager
from broker.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from broker.records.builder import build_batch
from broker.records.record import Record
from broker.runtime.delayed_fetches import DelayedFetches
from broker.runtime.log_dir_failures import LogDirFailures
from broker.runtime.replication.delayed_produces import DelayedProduces
from broker.runtime.replication.isr_updater import IsrUpdater
from broker.runtime.replication.replica_manager import ReplicaManager
from tests.broker.runtime.applied_roles import apply_leader_and_isr
from tests.eventually import eventually
from tests.manual_clock import ManualClock

ME, NEAR, FAR = 1, 2, 3
LAG_MS_MAX = 20
EIO = OSError(5, "Input/output error")


class Store:
    """ZooKeeper's part: takes every ISR."""

    def __init__(self):
        self.written = []

    async def registered_epoch(self, _replica_id: int) -> int:
        return 1

    async def write_isr(self, _partition, wanted):
        self.written.append(wanted.isr)
        return wanted.at_version(wanted.zk_version + 1)

    async def announce_isr_changes(self, _changed) -> None:
        pass

    async def announce_log_dir_failure(self, _broker_id: int) -> None:
        pass


@pytest.fixture
async def world(tmp_path):
    """ME leads t-0 in one directory and t-1 in another, both in sync with NEAR; min.insync.replicas is 1."""
    logs = LogManager([tmp_path / "a", tmp_path / "b"], LogConfig(), ME, "cluster")
    clock, store = ManualClock(), Store()
    failures = LogDirFailures(store, ME, asyncio.Event())
    logs.on_directory_failed = failures.report
    logs.load_all()
    replicas = ReplicaManager(ME, logs, DelayedFetches(clock), clock)
    failures.on_failed = replicas.resign_offline
    acks = DelayedProduces(replicas, clock)
    updater = IsrUpdater(replicas, store, lambda _: True, LAG_MS_MAX, clock)
    apply_leader_and_isr(replicas, roles())
    both = [replicas.get("t", index) for index in range(2)]
    assert len({hosted.log.directory.parent for hosted in both}) == 2
    for hosted in both:
        for follower in (NEAR, FAR):
            replicas.follower_holds(hosted, follower, 0, broker_epoch=1)
    yield SimpleNamespace(replicas=replicas, acks=acks, updater=updater, store=store, clock=clock, both=both)
    await updater.stop()
    failures.stop()
    acks.close()
    logs.shutdown()


def roles(leader_epoch: int = 5) -> LeaderAndIsrRequest:
    states = [
        LeaderAndIsrPartitionState(
            partition_index=index, leader=ME, leader_epoch=leader_epoch, isr=[ME, NEAR], replicas=[ME, NEAR, FAR]
        )
        for index in range(2)
    ]
    topic = LeaderAndIsrTopicState(topic_name="t", topic_id=UUID(int=1), partition_states=states)
    return LeaderAndIsrRequest(topic_states=[topic])


def append(world, index: int):
    batch = memoryview(build_batch([Record(0, 0, None, b"x")]))
    return world.replicas.append(TopicPartition("t", index), batch, is_for_all=True)


def code_of(ask) -> ErrorCode:
    with pytest.raises(ApiError) as refused:
        ask()
    return refused.value.code


async def test_broken_leader_counts_nobody_out_and_commits_nothing_while_others_do(world):
    broken, sound = world.both
    answer = world.acks.wait([append(world, 0)], 30_000, lambda codes: codes)
    append(world, 1)
    broken.log.on_disk_error(EIO)
    world.clock.advance(10 * LAG_MS_MAX)
    world.updater.start()
    await eventually(lambda: sound.partition.state.isr == (ME,), "the sound leader has counted out who lags")
    assert world.store.written == [(ME,)], "the broken one has not"
    assert (await asyncio.wait_for(answer, 10)) == [ErrorCode.KAFKA_STORAGE_ERROR]
    assert (broken.partition.high_watermark, sound.partition.high_watermark) == (0, 1)


async def test_leader_that_has_not_heard_yet_of_its_broken_disk_counts_nobody_in_or_out(world):
    """What finds the disk broken may be on another thread, and the loop busy with the ISR."""
    broken, sound = world.both
    broken.log.fail("the log directory is offline")
    world.updater.consider(broken, FAR)
    assert broken.partition.pending_isr is None
    append(world, 1)
    broken.partition.record_append(1, world.clock.monotonic_ms())
    world.clock.advance(10 * LAG_MS_MAX)
    world.updater.start()
    await eventually(lambda: sound.partition.state.isr == (ME,), "the sound leader has counted out who lags")
    assert (world.store.written, broken.partition.pending_isr) == ([(ME,)], None)


async def test_producers_of_a_request_in_whose_middle_the_directory_fails_hear_so(world, monkeypatch):
    broken, sound = world.both
    appended = [append(world, 0), append(world, 1)]
    answer = world.acks.wait(appended, 30_000, lambda codes: codes)

    def refuse(*_arguments):
        raise EIO

    with monkeypatch.context() as disk:
        disk.setattr("broker.log.segment.write_at", refuse)
        assert code_of(lambda: append(world, 0)) is ErrorCode.KAFKA_STORAGE_ERROR
    await eventually(lambda: not broken.partition.is_leader, "the partition is given up")
    for follower in (NEAR, FAR):
        world.replicas.follower_holds(broken, follower, 1, broker_epoch=1)
        world.replicas.follower_holds(sound, follower, 1, broker_epoch=1)
    assert await asyncio.wait_for(answer, 10) == [ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NONE]
    assert broken.partition.high_watermark == 0


async def test_all_that_is_asked_of_a_partition_on_a_broken_disk_is_answered_storage_error(world):
    broken, sound = world.both
    broken.log.on_disk_error(EIO)
    await eventually(lambda: not broken.partition.is_leader, "the partition is given up")
    requests = (
        lambda: append(world, 0),
        lambda: world.replicas.read(TopicPartition("t", 0), 0, 100, at_least_one=True),
        lambda: world.replicas.read(TopicPartition("t", 0), 0, 100, at_least_one=True, may_follow=True),
        lambda: world.replicas.leader_log("t", 0, 5),
    )
    assert {code_of(ask) for ask in requests} == {ErrorCode.KAFKA_STORAGE_ERROR}
    outcomes = apply_leader_and_isr(world.replicas, roles(leader_epoch=6))[UUID(int=1)]
    assert outcomes == {0: ErrorCode.KAFKA_STORAGE_ERROR, 1: ErrorCode.NONE}
    assert sound.partition.is_leader
    assert not broken.partition.is_leader
