"""Whether a log directory has room, from the first write it refused for want of it until it has had room for a while.

Two answers, for two uses. A directory *refuses* while not even a small file can be written there. It *is full* until
the file system has a share of itself free and has had it for a time that grows with each relapse: the controller gives
no leadership to a directory that is full, and a disk that fills up again and again must not move leaders each time.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from broker.common.backoff import Backoff
from broker.log.files import SharedFile, lacks_room, write_at

#: A directory has room with this share of its file system free, and with this many bytes in any case.
ROOM_SHARE, ROOM_BYTES_MAX = 0.05, 1 << 30
#: How long it must have room, without a break: at first, and at most, doubled with each relapse.
STEADY_MS, STEADY_MS_MAX = 10_000, 600_000
#: Full again within this time is a relapse. Longer than leader.imbalance.check.interval.seconds, after which preferred
#: leaders come back.
RELAPSE_MS = 3_600_000
#: Written to find out whether anything can be: quotas and inodes are not in what statvfs tells.
_TRIAL_FILE, _TRIAL_BYTES = "room.tmp", 1 << 20


class DirectorySpace(NamedTuple):
    """What one look at a log directory finds."""

    #: Whether a file of a megabyte can be written.
    takes_writes: bool
    #: Free for the broker's user, and how much of that is called room.
    free_bytes: int
    wanted_bytes: int

    @property
    def has_room(self) -> bool:
        return self.takes_writes and self.free_bytes >= self.wanted_bytes


class DirectoryRoom:
    """Directory room of one log directory; for the broker's loop. Times are monotonic."""

    __slots__ = ("_ended_ms", "_room_since_ms", "_steady", "is_full", "refuses_writes", "steady_ms")

    def __init__(self) -> None:
        self.is_full = False
        self.refuses_writes = False
        self._room_since_ms: int | None = None
        self._steady = Backoff(STEADY_MS, STEADY_MS_MAX)
        #: How long the directory must have room before it counts as one with room again.
        self.steady_ms = STEADY_MS
        #: When the directory ceased to be full, None before the first time.
        self._ended_ms: int | None = None

    def refused(self, now_ms: int) -> bool:
        """Note that a write was refused for want of room. Return whether the directory was not full before."""
        self.refuses_writes, self._room_since_ms = True, None
        if self.is_full:
            return False
        if self._ended_ms is None or now_ms - self._ended_ms >= RELAPSE_MS:
            self._steady.succeed()
        self.steady_ms = int(self._steady.fail())
        self.is_full = True
        return True

    def looked(self, room: DirectorySpace, now_ms: int) -> bool:
        """Note what a look at a full directory has found. Return whether the directory ceases to be full by it."""
        self.refuses_writes = not room.takes_writes
        if not room.has_room:
            self._room_since_ms = None
            return False
        if self._room_since_ms is None:
            self._room_since_ms = now_ms
        if now_ms - self._room_since_ms < self.steady_ms:
            return False
        self.is_full, self._ended_ms = False, now_ms
        return True


def look(directory: Path) -> DirectorySpace:
    """Measure the directory's file system and write a file there, which is removed. Raises OSError for other faults
    of the disk than a want of room.
    """
    disk = os.statvfs(directory)
    wanted = int(min(ROOM_BYTES_MAX, ROOM_SHARE * disk.f_blocks * disk.f_frsize))
    return DirectorySpace(_takes_writes(directory), disk.f_bavail * disk.f_frsize, wanted)


def _takes_writes(directory: Path) -> bool:
    path = directory / _TRIAL_FILE
    try:
        write_at(SharedFile(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), bytes(_TRIAL_BYTES), 0)
    except OSError as error:
        if not lacks_room(error):
            raise
        return False
    finally:
        with suppress(OSError):
            path.unlink()
    return True
