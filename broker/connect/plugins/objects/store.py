"""Where files go: a directory or a bucket. A file is whole under its name, or not there."""

import os
from pathlib import Path
from typing import Any, Protocol

from broker.connect.api import RetriableError
from broker.connect.plugins.paths import checked_path


class Store(Protocol):
    def write(self, name: str, data: Any) -> None:
        """The bytes under a name with slashes, in place of what was there. Raises RetriableError."""
        ...


class Directory:
    def __init__(self, text: str):
        self._root = checked_path("path", text)

    def write(self, name: str, data: Any) -> None:
        path = self._root / name
        aside = path.with_name(f".{path.name}.writing")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with aside.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            aside.replace(path)
            _sync_directories(path.parent, self._root)
        except OSError as error:
            raise RetriableError(f"{path} cannot be written: {error.strerror}") from error


def _sync_directories(directory: Path, root: Path) -> None:
    """From a file's directory up to the root: each may be new."""
    for each in (directory, *directory.parents):
        descriptor = os.open(each, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if each == root:
            return


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
