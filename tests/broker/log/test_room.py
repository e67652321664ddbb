"""When a log directory counts as full, and for how long; the time of each step is told, not measured."""

import errno
import os

import pytest

from broker.log import room as log_room
from broker.log.room import RELAPSE_MS, STEADY_MS, STEADY_MS_MAX, DirectoryRoom, DirectorySpace, look

ROOM, WRITABLE, FULL = DirectorySpace(True, 100, 10), DirectorySpace(True, 5, 10), DirectorySpace(False, 0, 10)


def ends_at(room: DirectoryRoom, now_ms: int) -> int:
    """Until when `room` counts as full with room from `now_ms` on, looked at each second."""
    while not room.looked(ROOM, now_ms):
        now_ms += 1_000
    return now_ms


def test_a_directory_is_full_from_the_first_refusal_until_it_had_room_for_a_while():
    room = DirectoryRoom()
    assert not room.is_full
    assert [room.refused(now_ms) for now_ms in (0, 1, 2)] == [True, False, False]
    assert (room.is_full, room.refuses_writes) == (True, True)
    assert not room.looked(FULL, 1_000)
    assert not room.looked(WRITABLE, 2_000)
    assert (room.is_full, room.refuses_writes) == (True, False)
    assert ends_at(room, 3_000) == 3_000 + STEADY_MS
    assert (room.is_full, room.refuses_writes) == (False, False)


@pytest.mark.parametrize("broken_by", [FULL, WRITABLE, None])
def test_room_that_does_not_last_counts_from_the_beginning(broken_by):
    room = DirectoryRoom()
    room.refused(0)
    assert not room.looked(ROOM, 0)
    if broken_by is None:
        assert not room.refused(STEADY_MS - 1)
    else:
        assert not room.looked(broken_by, STEADY_MS - 1)
    assert ends_at(room, STEADY_MS) == 2 * STEADY_MS


def test_each_relapse_doubles_the_time_of_room_up_to_a_bound_and_a_long_rest_forgets_them():
    room, now_ms, lasted = DirectoryRoom(), 0, []
    for _ in range(9):
        assert room.refused(now_ms)
        lasted.append(ends_at(room, now_ms) - now_ms)
        now_ms += lasted[-1] + 1_000
    assert lasted[:4] == [STEADY_MS, 2 * STEADY_MS, 4 * STEADY_MS, 8 * STEADY_MS]
    assert lasted[-1] == STEADY_MS_MAX
    now_ms += RELAPSE_MS
    assert room.refused(now_ms)
    assert ends_at(room, now_ms) - now_ms == STEADY_MS


def test_a_look_writes_a_file_and_leaves_none(tmp_path):
    result = look(tmp_path)
    assert result.takes_writes
    assert result.free_bytes > 0
    assert 0 < result.wanted_bytes <= log_room.ROOM_BYTES_MAX
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_disk_with_free_bytes_that_takes_no_file_has_no_room(tmp_path, monkeypatch, number):
    """A quota, or inodes that are used up, are not in what the file system says of itself."""

    def refuse(*_arguments):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(log_room, "write_at", refuse)
    result = look(tmp_path)
    assert result.free_bytes > 0
    assert (result.takes_writes, result.has_room) == (False, False)
    assert not list(tmp_path.iterdir())


def test_a_look_at_a_disk_that_fails_says_so(tmp_path, monkeypatch):
    def fail(*_arguments):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(log_room, "write_at", fail)
    with pytest.raises(OSError, match="Input/output error"):
        look(tmp_path)
