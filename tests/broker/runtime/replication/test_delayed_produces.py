"""Producers that wait for the high watermark: what they hear when replicas or the leadership go meanwhile."""

import asyncio
from dataclasses import replace
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
from broker.runtime.replication.delayed_produces import DelayedProduces
from broker.runtime.replication.replica_manager import ReplicaManager
from tests.broker.runtime.applied_roles import apply_leader_and_isr
from tests.eventually import eventually
from tests.manual_clock import ManualClock

ME, NEAR, FAR = 1, 2, 3
PARTITION = TopicPartition("t", 0)


@pytest.fixture
def world(tmp_path):
    """A partition that ME leads, in sync with NEAR, of which two replicas must be in sync."""
    logs, clock = LogManager([tmp_path / "logs"], LogConfig(), ME, "cluster"), ManualClock()
    logs.load_all()
    replicas = ReplicaManager(ME, logs, DelayedFetches(clock), clock)
    acks = DelayedProduces(replicas, clock)
    apply_leader_and_isr(replicas, role(leader=ME, leader_epoch=5))
    hosted = replicas.get(*PARTITION)
    replicas.configure(hosted, replace(hosted.log.config, min_insync_replicas=2))
    yield SimpleNamespace(replicas=replicas, acks=acks, hosted=hosted, clock=clock)
    acks.close()
    logs.shutdown()


def role(leader: int, leader_epoch: int) -> LeaderAndIsrRequest:
    state = LeaderAndIsrPartitionState(
        partition_index=0, leader=leader, leader_epoch=leader_epoch, isr=[ME, NEAR], replicas=[ME, NEAR, FAR]
    )
    topic = LeaderAndIsrTopicState(topic_name="t", topic_id=UUID(int=1), partition_states=[state])
    return LeaderAndIsrRequest(topic_states=[topic])


def produce(world, timeout_ms: int = 1_000):
    return wait(world, append(world), timeout_ms=timeout_ms)


def append(world):
    batch = memoryview(build_batch([Record(0, 0, None, b"x")]))
    return world.replicas.append(PARTITION, batch, is_for_all=True)


def wait(world, result, respond=lambda codes: codes[0], timeout_ms: int = 1_000):
    return world.acks.wait([result], timeout_ms, respond)


def shrink(world) -> None:
    """NEAR is counted out."""
    world.hosted.partition.pending_isr = (ME,)
    world.replicas.isr_written(world.hosted, (ME,), zk_version=1)


async def test_producer_is_answered_when_the_isr_holds_its_record(world):
    answer = produce(world)
    assert not answer.done()
    world.replicas.follower_holds(world.hosted, NEAR, 1, broker_epoch=20)
    assert await answer is ErrorCode.NONE


async def test_whose_records_are_committed_leaves_no_timer_and_who_comes_then_is_answered_when_its_time_is_up(
    world, monkeypatch
):
    timers, call_later = [], asyncio.get_running_loop().call_later
    monkeypatch.setattr(
        asyncio.get_running_loop(), "call_later", lambda *timer: timers.append(call_later(*timer)) or timers[-1]
    )
    first = produce(world)
    world.replicas.follower_holds(world.hosted, NEAR, 1, broker_epoch=20)
    assert await first is ErrorCode.NONE
    assert [timer.cancelled() for timer in timers] == [True]
    late = produce(world)
    world.clock.advance(2_000)
    assert await late is ErrorCode.REQUEST_TIMED_OUT


async def test_trap_06_too_small_an_isr_is_noticed_before_and_after_the_append(world):
    answer = produce(world)
    shrink(world)
    with pytest.raises(ApiError) as refused:
        produce(world)
    assert refused.value.code is ErrorCode.NOT_ENOUGH_REPLICAS
    assert world.hosted.log.log_end_offset == 1, "the first record is there, the second never was"
    assert world.replicas.read(PARTITION, 0, 1_000, at_least_one=True).slice.length == 0
    world.clock.advance(2_000)
    assert await answer is ErrorCode.REQUEST_TIMED_OUT


async def test_trap_06_what_was_committed_in_time_is_refused_if_the_isr_is_too_small_when_that_is_looked_at(world):
    result = append(world)
    world.replicas.follower_holds(world.hosted, NEAR, 1, broker_epoch=20)
    shrink(world)
    assert await wait(world, result) is ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND


async def test_producer_is_answered_when_the_isr_has_grown_again(world):
    answer = produce(world)
    shrink(world)
    world.replicas.follower_holds(world.hosted, NEAR, 1, broker_epoch=20)
    assert not answer.done()
    world.replicas.isr_written(world.hosted, (ME, NEAR), zk_version=2)
    assert await answer is ErrorCode.NONE


async def test_producer_is_answered_when_fewer_replicas_are_asked_for(world):
    answer = produce(world)
    shrink(world)
    world.replicas.configure(world.hosted, replace(world.hosted.log.config, min_insync_replicas=1))
    assert await answer is ErrorCode.NONE
    assert world.replicas.read(PARTITION, 0, 1_000, at_least_one=True).slice.length > 0


async def test_an_answer_that_cannot_be_made_is_the_fault_of_its_request_alone(world):
    def fail(_codes) -> None:
        raise RuntimeError("no answer")

    broken, good = wait(world, append(world), fail), produce(world)
    world.replicas.follower_holds(world.hosted, NEAR, 2, broker_epoch=20)
    assert await good is ErrorCode.NONE
    with pytest.raises(RuntimeError):
        await broken


async def test_an_answer_that_cannot_be_made_does_not_end_the_watch_over_the_others(world):
    def fail(_codes) -> None:
        raise RuntimeError("no answer")

    broken = wait(world, append(world), fail, timeout_ms=10)
    late = produce(world, timeout_ms=5_000)
    world.clock.advance(20)
    with pytest.raises(RuntimeError):
        await broken
    world.clock.advance(5_000)
    assert await late is ErrorCode.REQUEST_TIMED_OUT


async def test_trap_09_what_a_leader_had_not_committed_is_not_acknowledged_when_it_was_replaced(world):
    answer = produce(world)
    apply_leader_and_isr(world.replicas, role(leader=NEAR, leader_epoch=6))
    assert await answer is ErrorCode.NOT_LEADER_OR_FOLLOWER
    with pytest.raises(ApiError) as refused:
        world.replicas.read(PARTITION, 0, 1_000, at_least_one=True)
    assert refused.value.code is ErrorCode.NOT_LEADER_OR_FOLLOWER


async def test_trap_09_leader_that_nobody_follows_shows_nothing_beyond_its_high_watermark(world):
    answer = produce(world)
    read = world.replicas.read(PARTITION, 0, 1_000, at_least_one=True)
    assert (read.high_watermark, read.slice.length) == (0, 0)
    assert not answer.done()


async def test_trap_46_producers_whose_time_is_up_leave_nothing_behind(world):
    answers = [produce(world, timeout_ms) for timeout_ms in (10, 500)]
    world.clock.advance(600)
    assert [await answer for answer in answers] == [ErrorCode.REQUEST_TIMED_OUT] * 2
    await eventually(lambda: not len(world.acks), "nobody waits any more")
