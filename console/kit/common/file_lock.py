"""One at a time, across processes. The kernel lets go of the lock when its holder dies, however it dies."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def exclusive(path: Path, wait: bool = True) -> Iterator[bool]:
    """Hold the lock at `path` in the block. Without `wait`, yields False if another process holds it."""
    descriptor = take(path, wait)
    if descriptor is None:
        yield False
        return
    try:
        yield True
    finally:
        os.close(descriptor)


def take(path: Path, wait: bool = True) -> int | None:
    """Lock until the descriptor is closed; None without `wait` if another process holds the lock.

    It is not inherited, so a child that outlives us does not keep the lock.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor
