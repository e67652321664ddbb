"""The name and password of a broker at ZooKeeper, kept in a file that only its owner may read."""

import os
import stat
from pathlib import Path

from broker.common.errors import StartupError

_BYTES_MAX = 1_024


class Digest(str):
    """`user:password` for ZooKeeper's scheme `digest`. Its repr shows only the user."""

    __slots__ = ()

    @property
    def user(self) -> str:
        return self.partition(":")[0]

    def __repr__(self) -> str:
        return f"<digest of {self.user}>"


def read_digest(path: Path) -> Digest:
    """Return the one line `user:password` of a regular file that only its owner may read; StartupError otherwise."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise StartupError(f"zookeeper.digest.file={path} is no file.")
            if status.st_mode & 0o077:
                raise StartupError(f"zookeeper.digest.file={path} can be read by others; chmod 600 it.")
            text = file.read(_BYTES_MAX).decode("utf-8", "replace").strip()
    except OSError as error:
        raise StartupError(f"zookeeper.digest.file={path} cannot be read: {error.strerror}.") from error
    user, _, password = text.partition(":")
    if not user or not password or not text.isprintable():
        raise StartupError(f"zookeeper.digest.file={path} must hold one line, user:password.")
    return Digest(text)
