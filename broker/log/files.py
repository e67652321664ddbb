"""The few things done to files, each written so that it happens whole or not at all."""

import errno
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

#: Suffix of a file that is being written and not yet what its name will say.
TEMPORARY_SUFFIX = ".tmp"


class SharedFile:
    """A descriptor that closes when its last user lets go of it.

    A reader may still be sending bytes of a segment that was deleted meanwhile. Were the descriptor closed under it,
    the number could already stand for another partition's file; so nobody closes, everybody drops. For the same reason
    functions here take the `SharedFile` and not its number: an argument keeps it open.
    """

    __slots__ = ("__weakref__", "fd")

    def __init__(self, path: Path, flags: int = os.O_RDONLY):
        self.fd = -1
        self.fd = os.open(path, flags | os.O_CLOEXEC, 0o644)

    def fileno(self) -> int:
        return self.fd

    @property
    def size_bytes(self) -> int:
        return os.fstat(self.fd).st_size

    def __del__(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def write_at(file: SharedFile, data: bytes | bytearray | memoryview, position: int) -> None:
    """Write all of `data` at `position`; raises OSError if it does not fit, perhaps after a part was written."""
    written = os.pwrite(file.fd, data, position)
    if written == len(data):
        return
    rest = memoryview(data)
    while written < len(rest):
        written += os.pwrite(file.fd, rest[written:], position + written)


def read_at(file: SharedFile, position: int, length: int) -> bytes:
    """Read `length` bytes from `position` on, fewer only where the file ends."""
    data = os.pread(file.fd, length, position)
    while len(data) < length:
        more = os.pread(file.fd, length - len(data), position + len(data))
        if not more:
            break
        data += more
    return data


#: What the system says of a path that cannot be, or is something else already, on a disk that is well.
_OF_ONE_PATH = (errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ELOOP)


def is_of_one_path(error: OSError) -> bool:
    """Return whether only what was asked for is wrong, and nothing with the disk."""
    return error.errno in _OF_ONE_PATH


def lacks_descriptors(error: OSError) -> bool:
    """Return whether nothing was opened, and so nothing asked of the disk: it can be tried again."""
    return error.errno in (errno.EMFILE, errno.ENFILE)


def lacks_room(error: OSError) -> bool:
    """Return whether the file system is full, or the quota that the broker's user has on it."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def is_full(error: OSError) -> bool:
    """Return whether it is only for want of space, or of descriptors: the disk is well, and takes more when there is
    room.
    """
    return lacks_room(error) or lacks_descriptors(error) or error.errno == errno.EFBIG


def fsync_file(file: SharedFile) -> None:
    """Make the content of an open file survive a power failure. After an OSError retrying proves nothing."""
    os.fsync(file.fd)


def fsync_directory(directory: Path) -> None:
    """Make created, renamed and removed names in `directory` survive a power failure."""
    fsync_file(open_directory(directory))


def open_directory(directory: Path) -> SharedFile:
    """Open the directory for `fsync_file`, which then needs no new descriptor."""
    return SharedFile(directory, os.O_RDONLY | os.O_DIRECTORY)


def replace_file(path: Path, content: bytes) -> None:
    """Replace the content of `path` atomically and durably."""
    temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
    file = SharedFile(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    write_at(file, content, 0)
    fsync_file(file)
    temporary.replace(path)
    fsync_directory(path.parent)


def replace_file_or_touch(path: Path, content: bytes) -> None:
    """Replace the content of `path` durably; on a full disk leave an empty file."""
    try:
        replace_file(path, content)
    except OSError as error:
        if not lacks_room(error):
            raise
        touch_durably(path)


def touch_durably(path: Path) -> None:
    SharedFile(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    fsync_directory(path.parent)


def remove_file_durably(path: Path) -> bool:
    """Return whether there was one."""
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    fsync_directory(path.parent)
    return True


def remove_tree(directory: Path) -> None:
    """Remove a directory and all in it; already gone is fine."""
    shutil.rmtree(directory, onerror=_ignore_missing)


def tree_bytes(directory: Path) -> int:
    """Return the bytes of the files in a directory and all below it; of those that can be looked at."""
    sizes = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            with suppress(OSError):
                sizes += os.lstat(os.path.join(folder, name)).st_size
    return sizes


def _ignore_missing(_function: object, _path: str, failure: tuple[Any, BaseException, Any]) -> None:
    if not isinstance(failure[1], FileNotFoundError):
        raise failure[1]
