"""Chores go by the configuration that counts now."""

import asyncio
import errno
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from broker.common.clock import SystemClock
from broker.common.errors import ApiError, ErrorCode
from broker.common.steady_clock import HELD_MS, SteadyClock
from broker.common.types import TopicPartition
from broker.config.broker import read_broker_config
from broker.log.checkpoints import LOG_START_OFFSET_CHECKPOINT, read_offset_checkpoint
from broker.log.config import LogConfig
from broker.log.log import Log
from broker.log.manager import LogManager
from broker.log.retention import RetentionPlan
from broker.records.builder import build_batch
from broker.records.record import Record
from broker.replication.partition import ReplicaPartition
from broker.runtime.delayed_fetches import DelayedFetches
from broker.runtime.housekeeping import Housekeeping
from broker.runtime.replication.replica_manager import HostedPartition, ReplicaManager
from tests.manual_clock import ManualClock

T_0 = TopicPartition("t", 0)


@pytest.fixture
def config():
    return read_broker_config("broker.id=1\nzookeeper.connect=z:1\nlog.initial.task.delay.ms=3600000\n")


@pytest.fixture
async def housekeeping(tmp_path, config):
    clock = SystemClock()
    logs = LogManager([tmp_path / "logs"], LogConfig(), 1, "cluster")
    logs.load_all()
    replicas = ReplicaManager(1, logs, DelayedFetches(clock), clock)
    housekeeping = Housekeeping(replicas, logs, config, clock, replicas.high_watermarks)
    yield housekeeping
    await housekeeping.stop()
    logs.shutdown()


async def test_a_changed_configuration_ends_a_long_pause(housekeeping, config, monkeypatch):
    beats = asyncio.Queue()

    async def beat():
        beats.put_nowait(None)

    monkeypatch.setattr(housekeeping, "_compact", beat)
    housekeeping.start()
    await asyncio.sleep(0)
    config.set_dynamic({"log.cleaner.backoff.ms": 1}, {})
    housekeeping.reconfigure()
    async with asyncio.timeout(10):
        for _ in range(3):
            await beats.get()


async def test_the_next_pass_has_the_memory_and_rate_set_last(housekeeping, config):
    config.set_dynamic(
        {"log.cleaner.dedupe.buffer.size": 2_000_000, "log.cleaner.io.max.bytes.per.second": 10_000.0}, {}
    )
    housekeeping.reconfigure()
    settings = housekeeping._cleaner.settings
    assert (settings.offset_map_bytes, settings.bytes_per_second) == (2_000_000, 10_000.0)


async def test_silent_producers_are_forgotten_in_time(tmp_path, housekeeping, config, monkeypatch):
    log = Log.open(tmp_path / "t-0", LogConfig())
    log.append(build_batch([Record(0, 1_000, None, b"v")], producer_id=7, producer_epoch=0, base_sequence=0), 0)
    hosted = HostedPartition(ReplicaPartition(TopicPartition("t", 0), 1), log, UUID(int=1))
    monkeypatch.setattr(housekeeping, "_replicas", [hosted])
    config.set_dynamic({"producer.id.expiration.ms": 1}, {})
    await housekeeping._expire_producers()
    assert log.producers()
    await eventually_forgets(housekeeping, log)


async def eventually_forgets(housekeeping, log) -> None:
    async with asyncio.timeout(10):
        while log.producers():
            await housekeeping._expire_producers()


async def test_retention_that_fails_is_warned_of_once_until_it_went_well(tmp_path, housekeeping, monkeypatch):
    log = Log.open(tmp_path / "t-0", LogConfig())
    hosted = HostedPartition(ReplicaPartition(TopicPartition("t", 0), 1), log, UUID(int=1))
    monkeypatch.setattr(housekeeping, "_replicas", [hosted])
    outcomes = iter(["a bad disk", "a bad disk", None, "a bad disk", "a worse disk"])

    async def plan(_hosted) -> RetentionPlan:
        if reason := next(outcomes):
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, reason)
        return RetentionPlan((), 0)

    monkeypatch.setattr(housekeeping, "_plan_retention", plan)
    with capture_logs() as lines:
        for _ in range(5):
            await housekeeping._retain()
    assert [line["reason"] for line in lines] == ["a bad disk", "a bad disk", "a worse disk"]


async def test_a_log_that_is_gone_is_no_failure_of_retention(tmp_path, housekeeping, monkeypatch):
    """Its directory failed, which was told of as such, or its topic was deleted."""
    logs = [Log.open(tmp_path / f"t-{index}", LogConfig()) for index in range(2)]
    both = [
        HostedPartition(ReplicaPartition(TopicPartition("t", at), 1), log, UUID(int=1)) for at, log in enumerate(logs)
    ]
    monkeypatch.setattr(housekeeping, "_replicas", both)
    logs[0].close()
    facts = Log.retention_facts

    def close_meanwhile(log):
        log.close()
        return facts(log)

    monkeypatch.setattr(Log, "retention_facts", close_meanwhile)
    with capture_logs() as lines:
        await housekeeping._retain()
    assert lines == []


@pytest.fixture
def expired(tmp_path, housekeeping, monkeypatch) -> Log:
    """A hosted log of three segments, all but the last one expired."""
    log = housekeeping._logs.get_or_create(T_0, UUID(int=1))
    log.config = LogConfig(segment_bytes=200, retention_bytes=1)
    while len(log.segments) < 3:
        log.append(build_batch([Record(0, 1_000, None, b"." * 80)]), 0)
    partition = ReplicaPartition(T_0, 1)
    monkeypatch.setattr(ReplicaPartition, "high_watermark", log.segments[-1].base_offset)
    monkeypatch.setattr(housekeeping, "_replicas", [HostedPartition(partition, log, UUID(int=1))])
    return log


async def test_retention_notes_where_logs_will_start_before_their_segments_go(
    tmp_path, housekeeping, expired, monkeypatch
):
    """Killed at any moment, a log that starts later than noted has lost segments, and no other."""
    noted_at, last, apply = [], expired.segments[-1].base_offset, Log.apply

    def apply_later(log, plan):
        noted_at.append(read_offset_checkpoint(tmp_path / "logs" / LOG_START_OFFSET_CHECKPOINT))
        return apply(log, plan)

    monkeypatch.setattr(Log, "apply", apply_later)
    await housekeeping._retain()
    assert noted_at == [{T_0: last}]
    assert expired.first_base_offset == expired.log_start_offset == last > 0


async def test_retention_makes_room_on_a_disk_too_full_for_a_note(housekeeping, expired, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("broker.log.offset_checkpoint.write_offset_checkpoint", full)
    last = expired.segments[-1].base_offset
    with capture_logs() as lines:
        await housekeeping._retain()
    assert expired.first_base_offset == last > 0
    assert [line["event"] for line in lines if line["log_level"] == "warning"] == [
        "log starts not noted before retention"
    ]


async def test_retention_notes_nothing_of_a_topic_that_was_made_anew_meanwhile(tmp_path, housekeeping, expired):
    housekeeping._logs.delete(T_0)
    housekeeping._logs.get_or_create(T_0, UUID(int=2))
    await housekeeping._retain()
    assert T_0 not in read_offset_checkpoint(tmp_path / "logs" / LOG_START_OFFSET_CHECKPOINT)


async def test_a_wall_clock_that_is_a_day_ahead_by_mistake_deletes_no_record(tmp_path, config, monkeypatch):
    clock = ManualClock()
    logs = LogManager([tmp_path / "logs"], LogConfig(), 1, "cluster")
    logs.load_all()
    replicas = ReplicaManager(1, logs, DelayedFetches(clock), clock)
    housekeeping = Housekeeping(replicas, logs, config, SteadyClock(clock), replicas.high_watermarks)
    log = Log.open(tmp_path / "t-0", LogConfig(segment_bytes=200, retention_ms=2 * HELD_MS))
    for number in range(3):
        log.append(build_batch([Record(number, clock.now_ms(), None, b"v" * 90)]), 0)
    hosted = HostedPartition(ReplicaPartition(T_0, 1), log, UUID(int=1))
    hosted.partition.high_watermark = log.log_end_offset
    monkeypatch.setattr(housekeeping, "_replicas", [hosted])
    clock.set_wall(86_400_000)
    await housekeeping._retain()
    assert log.log_start_offset == 0
    clock.advance(HELD_MS)
    await housekeeping._retain()
    assert log.log_start_offset > 0
    logs.shutdown()
