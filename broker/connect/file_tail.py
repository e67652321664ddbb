"""Follows one growing text file by inode and position, through rotation, truncation and restarts.

A resume point is `{inode, position, head}`, and `unfinished` if the position is within a line. The inode says which
file was read, wherever it has been renamed to; `head` is a checksum of its first bytes, because file systems give the
inode of a deleted file to the next one, and because a file may be cut and refilled between two looks.

A last line without an end is a line too, but whether a writer is about to end it only time tells. Kafka's
FileStreamSource waits for ever; here it is taken once the file has rested, and what is added to it afterwards says that
it continues it. An end alone adds nothing.
"""

import os
import stat
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, NotRequired, TypedDict

#: Path and flags to a descriptor, as `os.open`. Raises OSError.
OpenFile = Callable[[Path, int], int]
#: Bytes at the start of a file that tell it from another with the same inode.
HEAD_BYTES = 256
#: How long a renamed file is still read before the new one under the old name is opened: its writer may hold it open.
ROTATION_GRACE_MS = 2_000


class FileOffset(TypedDict):
    """A resume point, as the module's docstring describes it."""

    inode: int
    position: int
    head: int
    unfinished: NotRequired[bool]


class TailedLine(NamedTuple):
    """One line without its line end. `continues`: it was longer than the limit, the rest comes in the next one.

    `is_unfinished`: it had no end when it was taken. `is_continuation`: it was added to such a line.
    """

    value: bytes
    continues: bool
    offset: FileOffset
    is_unfinished: bool = False
    is_continuation: bool = False


class FileTail:
    """Reads complete lines, and an unfinished last one when the file has not grown for `rest_ms` or is rotated away.

    With `rest_ms` 0 an unfinished line waits for its end however long the file rests.

    Nothing is buffered between reads. A file that was rotated while nobody was reading is found again under another
    name in the same directory (`name*`); when it was rotated twice in that time, the file in between is not read.
    """

    def __init__(
        self,
        path: Path,
        max_line_bytes: int,
        resume_at: FileOffset | None,
        rest_ms: int,
        open_file: OpenFile = os.open,
    ):
        self.path = path
        self._open_file = open_file
        self._max_line_bytes = max_line_bytes
        self._rest_ms = rest_ms
        self._resume_at = resume_at
        self._descriptor: int | None = None
        self._inode = 0
        self._position = 0
        self._head, self._head_sum = b"", 0
        self._is_within_line = False
        self._unchanged: tuple[int, int] | None = None
        self._rotated_at_ms: int | None = None

    def read_lines(self, now_ms: int, max_lines: int, max_bytes: int) -> list[TailedLine]:
        """Return complete lines, at most as many; empty when there are none or no file exists yet."""
        descriptor = self._open() if self._descriptor is None else self._descriptor
        if descriptor is None:
            return []
        size = os.fstat(descriptor).st_size
        if size < self._position or not self._is_same_file(descriptor):
            self._begin_at(descriptor, 0)
        lines = self._complete_lines(os.pread(descriptor, max_bytes, self._position), max_lines)
        return lines or self._after_rotation(descriptor, now_ms) or self._after_rest(now_ms, size)

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _complete_lines(self, data: bytes, max_lines: int) -> list[TailedLine]:
        lines: list[TailedLine] = []
        at = 0
        while len(lines) < max_lines:
            limit = at + self._max_line_bytes
            end = data.find(b"\n", at, limit + 1)
            if end >= 0:
                value, consumed, continues = data[at:end].removesuffix(b"\r"), end + 1, False
            elif len(data) > limit:
                value, consumed, continues = data[at:limit], limit, True
            else:
                break
            is_end_alone = self._is_within_line and not value
            line = self._line(value, data[at:consumed], continues)
            if not is_end_alone:
                lines.append(line)
            at = consumed
        return lines

    def _line(self, value: bytes, consumed: bytes, continues: bool = False, is_unfinished: bool = False) -> TailedLine:
        if self._position < HEAD_BYTES:
            self._begin_with((self._head + consumed)[:HEAD_BYTES])
        self._position += len(consumed)
        is_continuation, self._is_within_line = self._is_within_line, is_unfinished
        offset: FileOffset = {"inode": self._inode, "position": self._position, "head": self._head_sum}
        if is_unfinished:
            offset["unfinished"] = True
        return TailedLine(value, continues, offset, is_unfinished, is_continuation)

    def _after_rest(self, now_ms: int, size: int) -> list[TailedLine]:
        r"""Return the unfinished last line of a file that had the same size for long enough; a \r may be half of its
        end.
        """
        if self._descriptor is None or self._rest_ms == 0 or self._position >= size:
            self._unchanged = None
            return []
        if self._unchanged is None or self._unchanged[0] != size:
            self._unchanged = (size, now_ms)
        if now_ms - self._unchanged[1] < self._rest_ms:
            return []
        value = os.pread(self._descriptor, size - self._position, self._position).removesuffix(b"\r")
        return [self._line(value, value, is_unfinished=True)] if value else []

    def _after_rotation(self, descriptor: int, now_ms: int) -> list[TailedLine]:
        """Move on at the end of a rotated file: once its name belongs to another file, return the unfinished line and
        open that.
        """
        if not self._is_rotated():
            self._rotated_at_ms = None
            return []
        if self._rotated_at_ms is None:
            self._rotated_at_ms = now_ms
        if now_ms - self._rotated_at_ms < ROTATION_GRACE_MS:
            return []
        rest = os.pread(descriptor, self._max_line_bytes, self._position)
        lines = [self._line(rest, rest)] if rest else []
        self.close()
        self._resume_at = None
        return lines

    def _is_rotated(self) -> bool:
        try:
            return os.stat(self.path).st_ino != self._inode
        except FileNotFoundError:
            return False

    def _open(self) -> int | None:
        resume_at, self._rotated_at_ms = self._resume_at, None
        for candidate in self._candidates(resume_at):
            descriptor = open_regular(candidate, self._open_file)
            if descriptor is None:
                continue
            self._descriptor, self._inode = descriptor, os.fstat(descriptor).st_ino
            if resume_at is not None and self._is_file_of(descriptor, resume_at):
                self._begin_at(descriptor, resume_at["position"], resume_at.get("unfinished", False))
                return descriptor
            if candidate == self.path:
                self._begin_at(descriptor, 0)
                return descriptor
            self.close()
        return None

    def _candidates(self, resume_at: FileOffset | None) -> list[Path]:
        """Return the file of the resume point under another name, if it was rotated, before the one under its own
        name.
        """
        if resume_at is None or _inode_of(self.path) == resume_at["inode"]:
            return [self.path]
        siblings = sorted(self.path.parent.glob(f"{self.path.name}*"))
        return [*(other for other in siblings if _inode_of(other) == resume_at["inode"]), self.path]

    def _is_file_of(self, descriptor: int, resume_at: FileOffset) -> bool:
        position = resume_at["position"]
        status = os.fstat(descriptor)
        if status.st_ino != resume_at["inode"] or status.st_size < position:
            return False
        return zlib.crc32(os.pread(descriptor, min(position, HEAD_BYTES), 0)) == resume_at["head"]

    def _is_same_file(self, descriptor: int) -> bool:
        return os.pread(descriptor, len(self._head), 0) == self._head

    def _begin_at(self, descriptor: int, position: int, is_within_line: bool = False) -> None:
        self._position, self._is_within_line, self._unchanged = position, is_within_line, None
        self._begin_with(os.pread(descriptor, min(position, HEAD_BYTES), 0))

    def _begin_with(self, head: bytes) -> None:
        self._head, self._head_sum = head, zlib.crc32(head)


def open_regular(path: Path, open_file: OpenFile) -> int | None:
    """Return a descriptor of a regular file; None when there is none or it cannot be read (yet)."""
    try:
        descriptor = open_file(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return None


def _inode_of(path: Path) -> int | None:
    try:
        return os.stat(path).st_ino
    except OSError:
        return None
