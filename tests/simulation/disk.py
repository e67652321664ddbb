"""What a power cut leaves of a broker's files.

The page cache survives the death of a process, so a kill needs no disk of its own: the files are as they are. A power
cut loses what was not fsynced, and may keep a part of it: a name is as it was when its directory was last synced, or as
it is now; of a file there is at least what was synced, and a beginning of what was written since, perhaps ending in
zeros that stand for data the disk had made room for and never got.
"""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from random import Random

from broker.log.directory import LOCK_FILE

_ZEROS_SHARE = 0.2
_NEWEST_NAMES_SHARE = 0.5


class Disk:
    """Of all machines: it knows files by their inodes, which on tmpfs are never given twice."""

    def __init__(self) -> None:
        self._synced_content: dict[int, bytes] = {}
        #: Of each directory: name to inode, as of its last fsync.
        self._synced_names: dict[int, dict[str, int]] = {}
        #: Told of each file that is synced, with its path and what is in it.
        self.on_synced: Callable[[Path, bytes], None] = lambda path, content: None

    def adopt(self, root: Path) -> None:
        """What is there when a machine starts has been written long ago."""
        for path in [root, *root.rglob("*")]:
            fd = os.open(path, os.O_RDONLY)
            self.synced(fd)
            os.close(fd)

    def synced(self, fd: int) -> None:
        """In the place of fsync."""
        status = os.fstat(fd)
        if stat.S_ISDIR(status.st_mode):
            self._synced_names[status.st_ino] = _names_in(fd)
        else:
            content = self._synced_content[status.st_ino] = _content_of(fd)
            self.on_synced(Path(os.readlink(f"/proc/self/fd/{fd}")), content)

    def after_kill(self, root: Path, target: Path) -> None:
        """Copy `root` to `target`, which does not exist yet, as it is. What is there has been written long ago."""
        target.mkdir()
        for entry in os.scandir(root):
            copy = target / entry.name
            if entry.is_dir():
                self.after_kill(Path(entry.path), copy)
            else:
                self._copy(entry, copy)
        self._synced_names[target.stat().st_ino] = _names_in(target)

    def _copy(self, source: os.DirEntry, target: Path) -> None:
        content, status = Path(source.path).read_bytes(), source.stat()
        target.write_bytes(content)
        os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
        self._synced_content[target.stat().st_ino] = content

    def after_power_cut(self, root: Path, target: Path, random: Random) -> None:
        """Write what is left of `root` to `target`, which does not exist yet."""
        current = {path.stat().st_ino: path for path in [root, *root.rglob("*")]}
        self._restore(root.stat().st_ino, current, target, random)
        if (target / LOCK_FILE).exists():
            (target / LOCK_FILE).write_bytes(_EARLIER_BOOT)

    def _restore(self, inode: int, current: dict[int, Path], target: Path, random: Random) -> None:
        path = current.get(inode)
        if inode not in self._synced_names and not (path is not None and path.is_dir()):
            target.write_bytes(self._content_left(inode, path, random))
            return
        target.mkdir()
        names = self._synced_names.get(inode, {})
        if path is not None and random.random() < _NEWEST_NAMES_SHARE:
            names = _names_in(path)
        for name, child in sorted(names.items()):
            self._restore(child, current, target / name, random)

    def _content_left(self, inode: int, path: Path | None, random: Random) -> bytes:
        synced = self._synced_content.get(inode, b"")
        if path is None:
            return synced
        content = path.read_bytes()
        if not content.startswith(synced):
            return synced
        end = random.randint(len(synced), len(content))
        zeros = random.randint(0, len(content) - end) if random.random() < _ZEROS_SHARE else 0
        return content[:end] + bytes(zeros)


#: The simulated machine is the one that simulates, whose id does not change with a simulated start.
_EARLIER_BOOT = b"the start before the power cut"


def _content_of(fd: int) -> bytes:
    """Whatever it is open for."""
    with open(f"/proc/self/fd/{fd}", "rb", buffering=0) as file:
        return file.readall()


def _names_in(directory: Path | int) -> dict[str, int]:
    return {entry.name: entry.inode() for entry in os.scandir(directory)}
