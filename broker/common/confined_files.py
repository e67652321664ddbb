"""Files opened below a directory so that no link leads out, whatever is put in place between a check and an open.

Every component is opened by the descriptor of the one above it and without following a link (openat(2), O_NOFOLLOW).
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC


def open_below(root: Path, path: Path, flags: int, mode: int = 0o666) -> int:
    """Return a descriptor of the file, which is `root` or below it, both without links and `..`.

    Raises OSError, with ELOOP or ENOTDIR where there is a link now.
    """
    if path == root:
        root = root.parent
    with directories_below(root, path.parent) as directories:
        return os.open(path.name or ".", flags | _FLAGS, mode, dir_fd=directories[-1])


@contextmanager
def directories_below(root: Path, path: Path, *, creates: bool = False) -> Iterator[list[int]]:
    """Yield descriptors (O_PATH) of `root`, of every directory below it on the way to `path`, and of that.

    With `creates` those that are missing are created. Raises OSError.
    """
    opened: list[int] = []
    try:
        if creates:
            root.mkdir(parents=True, exist_ok=True)
        opened.append(os.open(root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC))
        for name in path.relative_to(root).parts:
            if creates:
                _make_directory(name, opened[-1])
            opened.append(os.open(name, os.O_PATH | os.O_DIRECTORY | _FLAGS, dir_fd=opened[-1]))
        yield opened
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _make_directory(name: str, above: int) -> None:
    try:
        os.mkdir(name, dir_fd=above)
    except FileExistsError:
        return


def sync_directory(descriptor: int) -> None:
    """fsync an O_PATH directory, so that its entries are durable. Raises OSError."""
    readable = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=descriptor)
    try:
        os.fsync(readable)
    finally:
        os.close(readable)
