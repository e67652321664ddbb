"""One directory through one descriptor: what lies in it, opened without following a link, marked when done."""

import errno
import fnmatch
import heapq
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from broker.common.logs import logger
from broker.connect.api import ConnectError
from broker.connect.plugins.paths import open_checked

_log = logger("broker.connect")
#: Files of one look at a directory, the oldest first; the others wait for the next one.
LOOK_MAX = 1_000
#: Names a marked file may be given when those before are taken.
_NAMES_MAX = 10_000
DONE, FAILED = ".done", ".failed"


class SourceDirectory:
    """Raises ConnectError where the directory itself is at fault. A file that is, is told once and left where it is."""

    def __init__(self, path: Path, pattern: str, done_to: Path | None, deletes: bool):
        """`done_to`: where finished files are moved to; None: they are renamed here, or deleted."""
        self._path, self._pattern, self._deletes = path, pattern, deletes
        self._logged: set[str] = set()
        self._descriptor = _opened_directory(path)
        try:
            self._done = None if done_to is None else _opened_directory(done_to)
        except ConnectError:
            os.close(self._descriptor)
            raise

    def close(self) -> None:
        os.close(self._descriptor)
        if self._done is not None:
            os.close(self._done)

    def look(self, now_ms: int, rest_ms: int) -> list[str]:
        """Return the names of files not modified for `rest_ms`, oldest first, at most LOOK_MAX."""
        try:
            if not os.path.samestat(os.stat(self._path, follow_symlinks=False), os.fstat(self._descriptor)):
                raise ConnectError(f"directory {self._path} is another one now")
            with os.scandir(self._descriptor) as entries:
                oldest = heapq.nsmallest(LOOK_MAX, self._rested(entries, now_ms, rest_ms))
        except OSError as error:
            raise ConnectError(f"directory {self._path} cannot be read: {error.strerror}") from error
        return [name for _, name in oldest]

    def _rested(self, entries: Iterator["os.DirEntry[str]"], now_ms: int, rest_ms: int) -> Iterator[tuple[int, str]]:
        present = set()
        for entry in entries:
            if not self._is_wanted(entry.name):
                continue
            present.add(entry.name)
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            if stat.S_ISDIR(status.st_mode):
                continue
            if fault := _fault(entry.name, status):
                self.tell(entry.name, fault)
            elif has_rested(status, now_ms, rest_ms):
                yield status.st_mtime_ns, entry.name
        self._logged &= present

    def _is_wanted(self, name: str) -> bool:
        return (
            fnmatch.fnmatchcase(name, self._pattern) and not name.startswith(".") and not name.endswith((DONE, FAILED))
        )

    def tell(self, name: str, reason: str) -> None:
        if name not in self._logged and len(self._logged) < LOOK_MAX:
            self._logged.add(name)
            _log.warning("file left where it is", directory=str(self._path), file=shown(name), reason=reason)

    def open(self, name: str) -> int | None:
        """Open a regular file in the directory itself; None if there is none that can be opened.

        A stored offset is what an operator wrote: its name may be a path that leads out.
        """
        if "/" in name:
            self.tell(name, "a path, not the name of a file in this directory")
            return None
        try:
            descriptor = os.open(
                name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self._descriptor
            )
        except FileNotFoundError:
            return None
        except OSError as error:
            self.tell(name, "a link" if error.errno == errno.ELOOP else str(error.strerror))
            return None
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return descriptor
        os.close(descriptor)
        return None

    def mark(self, name: str, inode: int, is_faulty: bool) -> None:
        """Mark a file as done, as configured; one with skipped records is kept beside, as `.failed`."""
        try:
            if os.stat(name, dir_fd=self._descriptor, follow_symlinks=False).st_ino != inode:
                return
            if self._deletes and not is_faulty:
                os.unlink(name, dir_fd=self._descriptor)
                return
            target = self._descriptor if self._done is None or is_faulty else self._done
            ending = FAILED if is_faulty else DONE if self._done is None else ""
            os.rename(name, _free_name(target, name, ending), src_dir_fd=self._descriptor, dst_dir_fd=target)
        except FileNotFoundError:
            return
        except OSError as error:
            raise ConnectError(f"{shown(name)} has been read but cannot be marked as done: {error.strerror}") from error


def has_rested(status: os.stat_result, now_ms: int, rest_ms: int) -> bool:
    """Return whether the file has not been written for `rest_ms`. A date in the future was set by hand and counts as
    old.
    """
    return abs(now_ms - status.st_mtime_ns // 1_000_000) >= rest_ms


def shown(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode()


def _fault(name: str, status: os.stat_result) -> str | None:
    if stat.S_ISLNK(status.st_mode):
        return "a link"
    if not stat.S_ISREG(status.st_mode):
        return "not a regular file"
    return None if shown(name) == name else "its name is not UTF-8"


def _opened_directory(path: Path) -> int:
    try:
        return open_checked(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as error:
        raise ConnectError(f"directory {path} cannot be opened: {error.strerror}") from error


def _free_name(directory: int, name: str, ending: str) -> str:
    """Return a name that no existing file has."""
    for number in range(_NAMES_MAX):
        candidate = f"{name}{f'.{number}' if number else ''}{ending}"
        try:
            os.stat(candidate, dir_fd=directory, follow_symlinks=False)
        except FileNotFoundError:
            return candidate
    raise ConnectError(f"{shown(name)} has been read but cannot be marked as done: {_NAMES_MAX} of that name are")
