"""A log directory that is full: the controller is told, and told again when there is room."""

import errno
import os
from types import SimpleNamespace
from uuid import UUID

import pytest

from broker.common.errors import ApiError
from broker.common.types import TopicPartition
from broker.log.config import LogConfig
from broker.log.manager import LogManager
from broker.log.room import STEADY_MS, DirectorySpace
from broker.records.builder import build_batch
from broker.records.record import Record
from broker.runtime import log_dir_room
from broker.runtime.log_dir_room import LogDirRoom
from tests.eventually import eventually
from tests.manual_clock import ManualClock

T0 = TopicPartition("t", 0)
ROOM, FULL = DirectorySpace(True, 100, 10), DirectorySpace(False, 0, 10)


@pytest.fixture
async def world(tmp_path, monkeypatch):
    """One log in one of two directories. `rooms`: what a look finds, by the directory's name."""
    monkeypatch.setattr(log_dir_room, "_LOOK_S", 0.01)
    rooms, looks, announced, writable = {"a": ROOM, "b": ROOM}, [], [], []

    def look(path):
        looks.append(path.name)
        if isinstance(rooms[path.name], OSError):
            raise rooms[path.name]
        return rooms[path.name]

    monkeypatch.setattr(log_dir_room, "look", look)
    logs, clock = LogManager([tmp_path / "a", tmp_path / "b"], LogConfig(), 1, "cluster"), ManualClock()
    logs.load_all()
    log = logs.get_or_create(T0, UUID(int=1))
    room = LogDirRoom(logs, clock, lambda: announced.append(is_full()))
    room.on_writable = lambda: writable.append(is_full())

    def is_full():
        return logs.room_of(T0).is_full

    yield SimpleNamespace(
        room=room,
        logs=logs,
        log=log,
        rooms=rooms,
        looks=looks,
        clock=clock,
        announced=announced,
        writable=writable,
        is_full=is_full,
    )
    await room.stop()
    logs.shutdown()


def fill(world, monkeypatch, number=errno.ENOSPC):
    def refuse(*_arguments):
        raise OSError(number, os.strerror(number))

    world.rooms[world.log.directory.parent.name] = FULL
    with monkeypatch.context() as disk:
        disk.setattr("broker.log.segment.write_at", refuse)
        with pytest.raises(ApiError):
            world.log.append(build_batch([Record(0, 1, None, b"v")]), 0)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
async def test_a_refused_append_tells_the_controller_once_and_the_room_that_lasts_once_more(world, monkeypatch, number):
    world.room.start()
    await eventually(lambda: set(world.looks) == {"a", "b"}, "each directory is looked at once")
    for _ in range(3):
        fill(world, monkeypatch, number)
    await eventually(lambda: world.announced == [True], "the controller is told")
    assert [room.is_full for room in world.logs.rooms.values()].count(True) == 1, "the other directory is well"
    home = world.log.directory.parent.name
    world.rooms[home] = ROOM
    await eventually(lambda: world.writable == [True], "writes are taken, and the directory counts as full")
    world.clock.advance(STEADY_MS)
    await eventually(lambda: world.announced == [True, False], "the controller is told of the room")
    at_rest = len(world.looks)
    fill(world, monkeypatch, number)
    await eventually(lambda: len(world.looks) > at_rest, "it is watched once more")


async def test_a_log_that_moved_is_told_of_while_a_directory_is_full(world, monkeypatch):
    world.room.moved()
    assert world.announced == [], "none is full"
    world.room.start()
    fill(world, monkeypatch)
    await eventually(lambda: world.announced == [True], "full")
    world.room.moved()
    assert world.announced == [True, True]


async def test_a_log_that_moved_ends_the_wait_for_room_in_its_old_directory(world, monkeypatch):
    """A follower that waits for a directory to take writes again has its log in another one now."""
    world.room.start()
    fill(world, monkeypatch)
    await eventually(lambda: world.announced, "the controller is told")
    assert world.writable == []
    world.room.moved()
    assert world.writable == [True]


async def test_a_broker_that_starts_on_a_full_disk_says_so_before_anything_is_written(world):
    world.rooms[world.log.directory.parent.name] = FULL
    world.room.start()
    await eventually(lambda: world.announced == [True], "the controller is told")


async def test_a_disk_that_cannot_be_measured_is_measured_again(world, monkeypatch):
    home = world.log.directory.parent.name
    world.room.start()
    fill(world, monkeypatch)
    await eventually(world.is_full, "full")
    world.rooms[home] = OSError(errno.EIO, "Input/output error")
    looks = len(world.looks)
    await eventually(lambda: len(world.looks) > looks + 1, "looked at again and again")
    world.rooms[home] = ROOM
    await eventually(lambda: world.writable, "found writable")


async def test_a_want_of_descriptors_is_no_full_disk(world, monkeypatch):
    refused = []
    world.logs.on_directory_full = refused.append
    for number in (errno.EMFILE, errno.ENFILE, errno.EFBIG):
        fill(world, monkeypatch, number)
    assert refused == []
    fill(world, monkeypatch, errno.ENOSPC)
    assert refused == [world.log.directory.parent]


async def test_a_read_only_file_system_fails_the_directory_as_any_fault_of_the_disk_does(world, monkeypatch):
    failed = []
    world.logs.on_directory_failed = lambda path, was_last: failed.append((path, was_last))
    world.room.start()
    fill(world, monkeypatch, errno.EROFS)
    assert failed == [(world.log.directory.parent, False)]
    assert world.logs.room_of(T0) is None
