"""What processes ask of their disks: failed, delayed and counted.

A callback of a loop that syncs, opens, reads or writes much keeps everybody else of its broker waiting. In simulated
time it takes none, so what it asked for is counted and bounded instead. Work on threads is not counted: nobody waits.
"""

import contextlib
import errno
import io
import os
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING
from unittest import mock

from tests.simulation.disk import Disk

if TYPE_CHECKING:
    from tests.simulation.loop import HostLoop

#: What one callback may ask for. Generous: see `--worst` for what is asked for.
BOUNDS = {"fsyncs": 40, "opens": 400, "renames": 100, "bytes read": 8_000_000, "bytes written": 8_000_000}

_DISK_CALLS = frozenset({"open", "read", "write", "sync", "rename"})
_ERRORS = {
    "no descriptors": {"open": errno.EMFILE},
    "disk is full": {"write": errno.ENOSPC, "create": errno.ENOSPC},
    "disk fails": dict.fromkeys(_DISK_CALLS, errno.EIO),
}
#: At the limit some files can be opened, as others were closed just before.
_NO_DESCRIPTOR_SHARE = 0.1
#: The disk answers nothing for a while: whoever asked waits, and with it its whole process.
HANGS = "disk hangs"
TROUBLES = (*_ERRORS, HANGS)


#: Of every disk: what the machine says of its own would be another history each time.
_HALF_EMPTY = SimpleNamespace(f_frsize=4_096, f_blocks=1 << 20, f_bfree=1 << 19, f_bavail=1 << 19)


#: Whose turn it is, is it a callback of its loop, what it has asked for.
Turn = tuple["HostLoop | None", bool, dict[str, int]]


@dataclass
class _Worst:
    count: int = 0
    stack: list[str] = field(default_factory=list)


class Syscalls:
    """Between all simulated processes and the real files. Whose turn it is, it is told."""

    def __init__(self, disk: Disk):
        self._disk = disk
        #: Set by who runs something of a process, and set back afterwards.
        self.turn: Turn = (None, False, {})
        self.worst: dict[str, _Worst] = {what: _Worst() for what in BOUNDS}
        #: Told of what exceeds its bound, with the stack.
        self.on_excess: Callable[[str], None] = lambda what: None

    @property
    def _process(self) -> "HostLoop | None":
        return self.turn[0]

    @contextlib.contextmanager
    def simulated(self) -> Iterator[None]:
        with (
            mock.patch.object(os, "open", self._open(os.open)),
            mock.patch.object(io, "open", self._open(io.open)),
            mock.patch.object(os, "pread", self._read(os.pread)),
            mock.patch.object(os, "pwrite", self._write(os.pwrite)),
            mock.patch.object(os, "fsync", self._sync),
            mock.patch.object(os, "statvfs", return_value=_HALF_EMPTY),
            mock.patch.object(os, "replace", self._rename(os.replace)),
            mock.patch.object(os, "rename", self._rename(os.rename)),
        ):
            yield

    # -- the calls

    def _open(self, real: Callable) -> Callable:
        def opened(path, flags=os.O_RDONLY, *arguments, **more):
            if self._process is not None and not isinstance(path, int) and "/life-" in (path := os.fspath(path)):
                self._ask("create" if flags == "wb" or (isinstance(flags, int) and flags & os.O_CREAT) else "open")
                self._count("opens", 1)
            return real(path, flags, *arguments, **more)

        return opened

    def _read(self, real: Callable) -> Callable:
        def read(fd: int, length: int, offset: int) -> bytes:
            if self._process is None:
                return real(fd, length, offset)
            self._ask("read")
            data = real(fd, length, offset)
            self._count("bytes read", len(data))
            return data

        return read

    def _write(self, real: Callable) -> Callable:
        def write(fd: int, data, offset: int) -> int:
            if self._process is None:
                return real(fd, data, offset)
            machine = self._process.machine
            if machine.disk_trouble == "disk is full" and len(data) > 1 and machine.random.random() < 0.5:
                return real(fd, memoryview(data)[: len(data) // 2], offset)  # the rest is refused
            self._ask("write")
            self._count("bytes written", len(data))
            return real(fd, data, offset)

        return write

    def _sync(self, fd: int) -> None:
        if self._process is not None:
            self._ask("sync")
            self._count("fsyncs", 1)
        self._disk.synced(fd)

    def _rename(self, real: Callable) -> Callable:
        def rename(source, target, **more) -> None:
            if self._process is not None:
                self._ask("rename")
                self._count("renames", 1)
            real(source, target, **more)

        return rename

    # -- what becomes of them

    def _ask(self, call: str) -> None:
        """Raises OSError if the disk is in such trouble."""
        trouble = self._process.machine.disk_trouble
        if trouble is None:
            return
        if trouble == HANGS:
            self._process.wait_for_disk()
            return
        errors = _ERRORS[trouble]
        number = errors.get(call) or (errors.get("open") if call == "create" else None)
        if number == errno.EMFILE and self._process.machine.random.random() >= _NO_DESCRIPTOR_SHARE:
            return
        if number is not None:
            raise OSError(number, os.strerror(number))

    def _count(self, what: str, count: int) -> None:
        _, is_on_loop, counts = self.turn
        if not is_on_loop:
            return
        before = counts.get(what, 0)
        now = counts[what] = before + count
        worst = self.worst[what]
        if now > worst.count:
            worst.count = now
            worst.stack = _stack()
        if before <= BOUNDS[what] < now:
            stack = "".join(_stack())
            self.on_excess(f"{self._process.name}: one callback asks for more than {BOUNDS[what]} {what}:\n{stack}")


def _stack() -> list[str]:
    """The broker's part."""
    frames = traceback.extract_stack(limit=40)
    return [f"    {frame.filename}:{frame.lineno} {frame.name}\n" for frame in frames if "/broker/" in frame.filename]
