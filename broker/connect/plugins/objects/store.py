"""Where files go: a directory or a bucket. A file is whole under its name, or not there."""

import contextlib
import os
from typing import Any, Protocol

from broker.common.confined_files import directories_below, sync_directory
from broker.connect.api import RetriableError
from broker.connect.plugins.paths import checked_path, root_of


class ObjectStore(Protocol):
    def write(self, name: str, data: Any) -> None:
        """Write bytes under a name with slashes, replacing what is there. Raises RetriableError."""
        ...


class ObjectDirectory:
    """Follows no link below the root: what may be written there may be another user's, too."""

    def __init__(self, text: str):
        self._root = checked_path("path", text, writes=True)

    def write(self, name: str, data: Any) -> None:
        path = self._root / name
        try:
            root = root_of(self._root) or self._root
            with directories_below(root, path.parent, creates=True) as directories:
                _replace(path.name, data, directories[-1])
                own = directories[len(self._root.relative_to(root).parts) :]
                for directory in reversed(own):  # each may be new
                    sync_directory(directory)
        except OSError as error:
            raise RetriableError(f"{path} cannot be written: {error.strerror}") from error


def _replace(name: str, data: Any, directory: int) -> None:
    """Replace a file whole or not at all; leftovers of an earlier attempt are removed first, a link as a link."""
    beside = f".{name}.writing"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(beside, dir_fd=directory)
    created = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666, dir_fd=directory)
    with open(created, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.rename(beside, name, src_dir_fd=directory, dst_dir_fd=directory)


class Bucket:
    """An object is there when its upload is complete, all of it."""

    def __init__(self, bucket: str, prefix: str, settings: dict[str, Any]):
        from pyarrow.fs import S3FileSystem

        self._files = S3FileSystem(**settings)
        self._prefix = f"{bucket}/{prefix.strip('/')}".rstrip("/")

    def write(self, name: str, data: Any) -> None:
        try:
            with self._files.open_output_stream(f"{self._prefix}/{name}") as stream:
                stream.write(data)
        except OSError as error:
            raise RetriableError(f"{self._prefix}/{name} cannot be written: {error}") from error
