"""A follower whose leader tells it of many logs that part from its own, in one answer."""

import asyncio
import dataclasses
import errno
import shutil
import threading
from pathlib import Path
from types import SimpleNamespace
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from broker.common.clock import SystemClock
from broker.common.errors import ErrorCode
from broker.common.limits import PARTITIONS_PER_CALLBACK
from broker.common.types import TopicPartition
from broker.log import offset_checkpoint, truncation
from broker.log.config import LogConfig
from broker.log.manager import LogManager
from broker.log.room import DirectorySpace
from broker.protocol.codec import decode, encode
from broker.protocol.headers import decode_request_header
from broker.protocol.messages.fetch import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from broker.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from broker.records.batch import patch_batch
from broker.records.builder import build_batch
from broker.records.record import Record
from broker.replication.throttle import ReplicationThrottle
from broker.runtime.delayed_fetches import DelayedFetches
from broker.runtime.replication import replica_fetchers
from broker.runtime.replication.fetch_requests import FETCH_VERSION, FetchSettings
from broker.runtime.replication.replica_fetchers import ReplicaFetchers
from broker.runtime.replication.replica_manager import ReplicaManager
from tests.broker.runtime.applied_roles import apply_leader_and_isr
from tests.eventually import eventually

TOPIC_ID = UUID(int=1)
PARTITIONS = 3 * PARTITIONS_PER_CALLBACK


class Wire:
    """The connection to leader 2: what was asked for, by request."""

    def __init__(self):
        self.is_open = True
        self.requests: list[dict[int, int]] = []
        #: Where the log of each partition starts, as the leader was last told.
        self.log_starts: dict[int, int] = {}

    def reserve(self) -> None:
        return None

    def fill(self, _slot, parts) -> None:
        frame = memoryview(b"".join(parts))[4:]
        _, at = decode_request_header(frame)
        request = decode(FetchRequest, frame[at:], FETCH_VERSION)
        self.requests.append(
            {partition.partition: partition.fetch_offset for topic in request.topics for partition in topic.partitions}
        )
        self.log_starts |= {
            partition.partition: partition.log_start_offset
            for topic in request.topics
            for partition in topic.partitions
        }

    def close(self, _reason="") -> None:
        self.is_open = False

    @property
    def asked_for(self) -> dict[int, int]:
        """The offset each partition was last asked for from."""
        return {partition: offset for request in self.requests for partition, offset in request.items()}


class World:
    def __init__(self, directory):
        clock = SystemClock()
        self.logs = LogManager([directory], LogConfig(), 1, "cluster")
        self.logs.load_all()
        self.replicas = ReplicaManager(1, self.logs, DelayedFetches(clock), clock)
        settings = FetchSettings(1, 500, 1 << 20, 1 << 20, 1_000, 30_000, 1 << 24)
        throttle = ReplicationThrottle(1)
        self.fetchers = ReplicaFetchers(self.replicas, throttle, lambda _leader: None, None, settings, clock)
        self.lead(leader=1, epoch=1)
        for index in range(PARTITIONS):
            for _ in range(3):
                self.replicas.append(TopicPartition("t", index), build_batch([Record(0, 1, None, b"v")]))
        self.wire = Wire()
        self.lead(leader=2, epoch=2)
        self.fetcher = self.fetchers._fetchers[2]
        self.fetcher._task.cancel()
        self.fetcher._connection = self.wire
        self.fetcher._send()
        self.answer([])
        self.fetcher._send()
        self.wire.requests.clear()

    def lead(self, leader: int, epoch: int, isr: list[int] | None = None) -> None:
        states = [
            LeaderAndIsrPartitionState(
                partition_index=index,
                leader=leader,
                leader_epoch=epoch,
                isr=isr or [leader],
                replicas=[1, 2],
                is_new=True,
            )
            for index in range(PARTITIONS)
        ]
        topic = LeaderAndIsrTopicState(topic_name="t", topic_id=TOPIC_ID, partition_states=states)
        apply_leader_and_isr(self.replicas, LeaderAndIsrRequest(topic_states=[topic]))

    def answer(self, partitions: list[PartitionData]) -> None:
        response = FetchResponse(
            session_id=5, responses=[FetchableTopicResponse(topic_id=TOPIC_ID, partitions=partitions)]
        )
        frame = (1).to_bytes(4) + b"\0" + encode(response, FETCH_VERSION)
        self.fetcher._on_frame(self.wire, memoryview(frame))

    async def requests_sent(self) -> None:
        """Returns when what is to be asked for now has been, and no answer has come."""
        for _ in range(3):  # who waited for room hears of it in the next turn, and asks in the one after
            await asyncio.sleep(0)
        while self.fetcher._is_sending_due:
            await asyncio.sleep(0)

    def ends(self) -> set[int]:
        return {hosted.log.log_end_offset for hosted in self.replicas}


@pytest.fixture
async def world(tmp_path):
    world = World(tmp_path / "data")
    yield world
    world.fetchers.close()
    await world.replicas.logs.idle()
    world.logs.shutdown()


def parted(index: int) -> PartitionData:
    return PartitionData(
        partition_index=index, high_watermark=2, diverging_epoch=EpochEndOffset(epoch=1, end_offset=2), records=b""
    )


def records(index: int, base_offset: int) -> PartitionData:
    batch = build_batch([Record(0, 1, None, b"new")])
    patch_batch(batch, 0, base_offset, 2)
    return PartitionData(partition_index=index, high_watermark=0, log_start_offset=0, records=bytes(batch))


@pytest.fixture
def disk(monkeypatch):
    disk = SimpleNamespace(has_begun=threading.Event(), may_go_on=threading.Event())
    flush = truncation.Segment.flush

    def flush_slowly(segment) -> None:
        disk.has_begun.set()
        assert disk.may_go_on.wait(30)
        flush(segment)

    monkeypatch.setattr(truncation.Segment, "flush", flush_slowly)
    yield disk
    disk.may_go_on.set()


async def test_every_log_that_parts_is_cut_and_asked_for_from_its_new_end(world):
    world.answer([parted(index) for index in range(PARTITIONS)])
    assert world.ends() == {3}, "nothing is cut in the callback that hears of it"
    await eventually(lambda: world.ends() == {2}, "all logs are cut")
    await eventually(lambda: len(world.wire.asked_for) == PARTITIONS, "all are asked for")
    assert set(world.wire.asked_for.values()) == {2}


async def test_a_log_of_which_the_leader_keeps_nothing_starts_over_inside_the_batch_in_which_the_leaders_begins(world):
    """DeleteRecords may end inside a batch: the leader's log begins there, and the batch is sent whole."""
    partition_data = parted(0)
    partition_data.log_start_offset = partition_data.diverging_epoch.end_offset
    world.answer([partition_data])
    await eventually(lambda: world.replicas.get("t", 0).log.log_start_offset == 2, "it starts over")
    await eventually(lambda: 0 in world.wire.asked_for, "it is asked for")
    batch = build_batch([Record(0, 1, None, b"deleted"), Record(1, 1, None, b"kept")])
    patch_batch(batch, 0, 1, 2)
    log = world.replicas.get("t", 0).log

    def is_taken() -> bool:
        world.answer([PartitionData(partition_index=0, high_watermark=0, log_start_offset=2, records=bytes(batch))])
        return log.log_end_offset == 3

    await eventually(is_taken, "the answer to what it asked for last is taken")
    assert log.log_start_offset == 2


async def test_while_logs_are_cut_others_are_written_and_theirs_take_nothing(world, disk):
    world.answer([parted(0)])
    assert await asyncio.to_thread(disk.has_begun.wait, 10)
    world.answer([records(0, 3), records(1, 3)])
    assert world.replicas.get("t", 1).log.log_end_offset == 4
    await asyncio.sleep(0)
    assert 0 not in world.wire.asked_for
    disk.may_go_on.set()
    await eventually(lambda: 0 in world.wire.asked_for, "it is asked for again")
    assert world.wire.asked_for[0] == 2


async def test_what_was_to_be_cut_is_not_when_the_partition_is_led_here_meanwhile(world):
    """A role that comes between the answer and the cut: the log is the leader's now, whole."""
    world.answer([parted(index) for index in range(PARTITIONS)])
    world.lead(leader=1, epoch=3)
    await asyncio.sleep(0)
    await world.replicas.logs.idle()
    assert world.ends() == {3}


async def test_a_log_cut_behind_a_lost_connection_is_asked_for_when_it_is_ready(world, disk):
    world.answer([parted(0)])
    assert await asyncio.to_thread(disk.has_begun.wait, 10)
    world.fetcher.link.disconnected()
    world.wire.requests.clear()
    world.fetcher._send()
    assert 0 not in world.wire.asked_for
    assert 1 in world.wire.asked_for
    world.answer([])
    disk.may_go_on.set()
    await eventually(lambda: world.wire.asked_for.get(0) == 2, "it is asked for")


async def test_a_log_that_starts_beyond_ours_is_begun_anew(world):
    world.answer([PartitionData(partition_index=0, error_code=1, log_start_offset=1_000, records=b"")])
    await eventually(lambda: world.wire.asked_for.get(0) == 1_000, "it is asked for from there")
    assert world.replicas.get("t", 0).log.log_start_offset == 1_000


async def test_a_log_that_is_emptied_for_an_empty_leader_is_reported(world):
    """The leader has lost its disk and was elected: what is committed here goes, as in every truncation below it."""
    partition_data = parted(0)
    partition_data.diverging_epoch = EpochEndOffset(epoch=1, end_offset=0)
    partition_data.log_start_offset = 0
    with capture_logs() as logs:
        world.answer([partition_data])
        await eventually(lambda: world.wire.asked_for.get(0) == 0, "it is asked for from the beginning")
    (line,) = [line for line in logs if line["log_level"] == "error"]
    assert (line["partition"], {Path(line["path"])}) == ("t-0", world.logs.strays)


async def test_what_retention_has_removed_at_the_leader_is_no_loss(world):
    with capture_logs() as logs:
        world.answer([PartitionData(partition_index=0, error_code=1, log_start_offset=1_000, records=b"")])
        await eventually(lambda: world.wire.asked_for.get(0) == 1_000, "it is asked for from there")
    assert not [line for line in logs if line["log_level"] == "error"]
    assert not world.logs.strays


async def test_the_leader_hears_of_records_when_they_are_fsynced_if_the_topic_asks_for_that(world, disk):
    log = world.replicas.get("t", 0).log
    log.config = dataclasses.replace(log.config, flush_messages=1)
    world.answer([records(0, 3), records(1, 3)])
    assert await asyncio.to_thread(disk.has_begun.wait, 10)
    await eventually(lambda: world.wire.asked_for.get(1) == 4, "the other's are acknowledged")
    assert 0 not in world.wire.asked_for
    world.fetcher.link.disconnected()
    world.fetcher._send()
    assert 0 not in world.wire.asked_for, "nor is it asked for from there"
    world.answer([])
    disk.may_go_on.set()
    await eventually(lambda: world.wire.asked_for.get(0) == 4, "they are acknowledged")
    assert log.recovery_point == 4


async def test_an_fsync_for_which_no_descriptor_was_left_is_tried_again(world, monkeypatch):
    """The leader sends nothing twice, and perhaps nothing more: whoever does not tell it is never in sync again."""
    monkeypatch.setattr(replica_fetchers, "_NOT_TAKEN_BACK_OFF_MS", 0)
    log, flush, left = world.replicas.get("t", 0).log, truncation.Segment.flush, iter(range(3))

    def flush_in_the_end(segment) -> None:
        if next(left, None) is not None:
            raise OSError(errno.EMFILE, "Too many open files")
        flush(segment)

    monkeypatch.setattr(truncation.Segment, "flush", flush_in_the_end)
    log.config = dataclasses.replace(log.config, flush_messages=1)
    world.answer([records(0, 3)])
    await eventually(lambda: world.wire.asked_for.get(0) == 4, "they are acknowledged")
    assert log.recovery_point == 4


async def test_what_came_during_an_fsync_is_not_told_to_be_held_with_what_it_made_safe(world, monkeypatch):
    log = world.replicas.get("t", 0).log
    log.config = dataclasses.replace(log.config, flush_messages=1)
    begun, may_go_on = [threading.Event(), threading.Event()], [threading.Event(), threading.Event()]
    flush, numbers = truncation.Segment.flush, iter(range(2))

    def flush_in_turn(segment) -> None:
        number = next(numbers, None)
        if number is not None:
            begun[number].set()
            assert may_go_on[number].wait(30)
        flush(segment)

    monkeypatch.setattr(truncation.Segment, "flush", flush_in_turn)
    try:
        world.answer([records(0, 3)])
        assert await asyncio.to_thread(begun[0].wait, 10)
        world.answer([records(0, 4)])
        may_go_on[0].set()
        await eventually(lambda: world.wire.asked_for.get(0, 0) >= 4, "the first is acknowledged")
        assert await asyncio.to_thread(begun[1].wait, 10)
        assert world.wire.asked_for[0] == 4, "a loss of power may still take the second"
        may_go_on[1].set()
        await eventually(lambda: world.wire.asked_for[0] == 5, "the second is acknowledged")
    finally:
        for gate in may_go_on:
            gate.set()


async def test_a_partition_that_cannot_be_taken_unforeseen_costs_the_others_of_the_answer_nothing(world, monkeypatch):
    take_fetched = world.replicas.take_fetched

    def take_or_raise(hosted, *more):
        if hosted.partition.topic_partition.partition == 0:
            raise RuntimeError("a defect")
        take_fetched(hosted, *more)

    monkeypatch.setattr(world.replicas, "take_fetched", take_or_raise)
    world.answer([records(0, 3), records(1, 3)])
    ends = {hosted.partition.topic_partition.partition: hosted.log.log_end_offset for hosted in world.replicas}
    assert (ends[0], ends[1]) == (3, 4)
    assert world.wire.is_open


async def test_a_fetcher_goes_on_after_what_nobody_foresaw(world, monkeypatch):
    monkeypatch.setattr("broker.runtime.periodic.AFTER_FAILURE_S", 0)
    monkeypatch.setattr(replica_fetchers, "_RECONNECT_FIRST_S", 0)
    wires, defects = [], [RuntimeError("a defect of the dialer"), None]

    async def connect(*_arguments, **_more):
        defect = defects.pop(0) if defects else None
        if defect:
            raise defect
        wires.append(Wire())
        return wires[-1]

    sending = iter([RuntimeError("a defect of who asks")])

    def position(topic_partition):
        for defect in sending:
            raise defect
        return known_position(topic_partition)

    monkeypatch.setattr(replica_fetchers, "connect", connect)
    fetchers = ReplicaFetchers(
        world.replicas, ReplicationThrottle(1), lambda _leader: ("h", 1), None, world.fetcher._settings, SystemClock()
    )
    world.lead(leader=3, epoch=3)
    fetcher = fetchers._fetchers[3]
    known_position = fetcher._position
    monkeypatch.setattr(fetcher, "_position", position)
    await eventually(lambda: len(wires) == 2 and wires[-1].requests, "it asks")
    assert [wire.is_open for wire in wires] == [False, True]
    fetchers.close()


@pytest.mark.parametrize("place", ["answered", "next_plan"])
async def test_what_nobody_foresaw_costs_the_connection_and_no_more(world, monkeypatch, place):
    def raising(*_arguments):
        raise RuntimeError("nobody foresaw this")

    with monkeypatch.context() as patched:
        patched.setattr(world.fetcher.link.__class__, place, raising)
        world.answer([records(1, 3)])
        await eventually(lambda: not world.wire.is_open, "the connection is closed, so that all is said anew")
    world.fetcher.link.disconnected()
    world.fetcher._connection = world.wire = Wire()
    world.fetcher._send()
    assert world.wire.asked_for.keys() == set(range(PARTITIONS))


async def test_what_cannot_be_followed_is_told_once_and_not_what_passes_by_itself(world, monkeypatch):
    hosted = world.replicas.get("t", 0)
    refused = PartitionData(partition_index=0, error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER)

    def errors_told_for(*answers: PartitionData) -> int:
        with capture_logs() as lines:
            for answer in answers:
                world.fetcher._take(hosted, answer)
        return sum(line["event"] == "cannot follow yet" for line in lines)

    assert errors_told_for(refused, refused) == 0
    monkeypatch.setattr(replica_fetchers, "_TOLD_AFTER_MS", 0)
    assert errors_told_for(refused, refused, refused) == 1
    taken = PartitionData(partition_index=0, high_watermark=0, log_start_offset=0, records=b"")
    assert errors_told_for(taken, refused, refused) == 1
    monkeypatch.undo()
    broken = records(0, 3)
    broken.records = broken.records[:-1] + b"?"
    assert errors_told_for(broken, broken) == 1, "what is wrong here is told at once"


@pytest.mark.parametrize("is_in_sync", [False, True])
async def test_a_replica_outside_the_isr_waits_for_room_before_it_follows_and_one_of_the_isr_does_not(
    world, is_in_sync
):
    """A leader counts in whoever has caught up, and waits for all of its ISR: that one could take nothing."""
    room = world.logs.room_of(TopicPartition("t", 0))
    room.refused(0)
    world.lead(leader=2, epoch=3, isr=[1, 2] if is_in_sync else [2])
    await world.requests_sent()
    assert bool(world.wire.asked_for) == is_in_sync
    world.replicas.logs.writable_again()
    await world.requests_sent()
    assert bool(world.wire.asked_for) == is_in_sync, "there is no room yet"
    room.looked(DirectorySpace(takes_writes=True, free_bytes=1, wanted_bytes=2), 1)
    world.replicas.logs.writable_again()
    await eventually(lambda: world.answer([]) or len(world.wire.asked_for) == PARTITIONS, "all is asked for")
    assert world.wire.asked_for == dict.fromkeys(range(PARTITIONS), 3)


def deleted_before(offset: int, *indexes: int) -> list[PartitionData]:
    """What a leader answers whose logs start at `offset`, as they do after DeleteRecords."""
    return [
        PartitionData(partition_index=index, high_watermark=3, log_start_offset=offset, records=b"")
        for index in indexes
    ]


async def test_the_leader_hears_of_a_deletion_when_a_kill_of_the_follower_cannot_undo_it(world, disk_of_log_starts):
    """DeleteRecords is answered then (KIP-107), and whoever leads next must not show the records again."""
    world.answer(deleted_before(2, 0))
    assert await asyncio.to_thread(disk_of_log_starts.has_begun.wait, 10)
    world.fetcher._send()
    assert 0 not in world.wire.asked_for, "nothing is said of it while it is being noted"
    world.fetcher.link.disconnected()
    world.fetcher._send()
    assert world.wire.log_starts[0] == 0, "nor to whoever asks anew"
    world.answer([])
    disk_of_log_starts.may_go_on.set()
    await eventually(lambda: world.wire.log_starts[0] == 2, "the leader hears of it")
    assert start_after_kill(world, 0) == 2


async def test_deletions_in_many_partitions_are_noted_together(world, disk_of_log_starts):
    world.answer(deleted_before(1, *range(PARTITIONS)))
    assert await asyncio.to_thread(disk_of_log_starts.has_begun.wait, 10)
    world.answer(deleted_before(2, *range(PARTITIONS)))
    disk_of_log_starts.may_go_on.set()
    await eventually(lambda: set(world.wire.log_starts.values()) == {2}, "the leader hears of all")
    assert disk_of_log_starts.writes <= 2


async def test_a_deletion_that_a_full_disk_does_not_note_is_told_to_the_leader_when_there_is_room(world, monkeypatch):
    monkeypatch.setattr(replica_fetchers, "_NOT_TAKEN_BACK_OFF_MS", 0)
    write = offset_checkpoint.write_offset_checkpoint
    refusals = iter([OSError(errno.ENOSPC, "No space left on device")] * 2)

    def write_in_the_end(*arguments) -> None:
        for refusal in refusals:
            raise refusal
        write(*arguments)

    monkeypatch.setattr(offset_checkpoint, "write_offset_checkpoint", write_in_the_end)

    def is_told() -> bool:
        if world.fetcher.link._under_way:
            world.answer(deleted_before(2, 0) if 0 in world.wire.requests[-1] else [])
        return world.wire.log_starts.get(0) == 2

    world.answer(deleted_before(2, 0))
    await eventually(is_told, "the leader hears of it")
    assert start_after_kill(world, 0) == 2


@pytest.fixture
def disk_of_log_starts(monkeypatch):
    """Holds up what notes where logs start, and counts it."""
    disk = SimpleNamespace(has_begun=threading.Event(), may_go_on=threading.Event(), writes=0)
    write = offset_checkpoint.write_offset_checkpoint

    def write_slowly(*arguments) -> None:
        disk.writes += 1
        disk.has_begun.set()
        assert disk.may_go_on.wait(30)
        write(*arguments)

    monkeypatch.setattr(offset_checkpoint, "write_offset_checkpoint", write_slowly)
    yield disk
    disk.may_go_on.set()


def start_after_kill(world, index: int) -> int:
    """Return where the partition's log starts for a process that finds what this one has written by now."""
    (directory,) = world.logs.online_directories
    copy = shutil.copytree(directory, directory.with_name("killed"))
    logs = LogManager([copy], LogConfig(), 1, "cluster")
    try:
        logs.load_all()
        return logs.get(TopicPartition("t", index)).log_start_offset
    finally:
        logs.shutdown()
