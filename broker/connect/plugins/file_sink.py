"""org.apache.kafka.connect.file.FileStreamSinkConnector: each value a line of a file, or of standard output."""

import os
import stat
import sys
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO

from broker.connect.api import (
    ConfigDef,
    ConfigError,
    ConfigKey,
    ConnectError,
    ConnectPartition,
    Importance,
    RetriableError,
    SinkRecord,
    SinkTask,
    SinkTaskContext,
)
from broker.connect.api.plugin import ConnectorContext, Props
from broker.connect.converters.plain import text_of
from broker.connect.plugins.delivered import Delivered
from broker.connect.plugins.own_props import GroupSink
from broker.connect.plugins.paths import checked_path, is_held, is_writable_path, open_checked


class FileStreamSinkTask(SinkTask):
    """A line is at least once in the file: it is on the disk before its offset is committed."""

    def __init__(self) -> None:
        self._file: BinaryIO | None = None
        self._is_ours = False
        self._torn = b""
        self._delivered = Delivered()

    def start(self, props: Props, context: SinkTaskContext) -> None:
        name = FileStreamSinkConnector.CONFIG.parse(props)["file"]
        if not name:
            self._file = sys.stdout.buffer
            return
        try:
            self._file, self._is_ours = _opened(checked_path("file", name, writes=True)), True
            self._torn = b"" if _ends_with_a_line(self._file) else b"\n"
        except OSError as error:
            raise ConnectError(f"Couldn't find or create file '{name}' for FileStreamSinkTask: {error}") from error

    def put(self, records: Sequence[SinkRecord]) -> None:
        """Write the lines. After a full disk, the rest of a torn line is written first when there is room."""
        if not self._file or not (records or self._torn):
            return
        if not self._is_ours:
            self._file.write(b"".join(map(_line, records)))
            return
        try:
            self._write(self._delivered.left(records))
        except OSError as error:
            raise RetriableError(f"{self._file.name} cannot be written: {error.strerror}") from error
        self._delivered.clear()

    def _write(self, records: Sequence[SinkRecord]) -> None:
        lines = [self._torn, *map(_line, records)]
        ends = list(accumulate(map(len, lines)))
        data, written = memoryview(b"".join(lines)), 0
        try:
            while written < len(data):
                written += self._file.write(data[written:])  # type: ignore[union-attr]  # `put` comes after `start`
        finally:
            begun = bisect_left(ends, written)
            self._delivered.add(records[:begun])
            self._torn = bytes(data[written : ends[begun]])

    def flush(self, offsets: Mapping[ConnectPartition, int]) -> None:
        if self._file:
            self._file.flush()
            if self._is_ours:
                os.fsync(self._file.fileno())

    def stop(self) -> None:
        if self._file and self._is_ours:
            self._file.close()
        self._file = None


def _opened(path: Path) -> BinaryIO:
    """Return the file, to append to. Raises OSError."""
    return open(path, "ab", buffering=0, opener=lambda _name, flags: open_checked(path, flags))


def _ends_with_a_line(file: BinaryIO) -> bool:
    """Return False where a killed task left a line torn: it comes once more, as a line of its own.

    A file that cannot be read counts as one that ends with a line.
    """
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode) or status.st_size == 0:
        return True
    try:
        with open(f"/proc/self/fd/{file.fileno()}", "rb") as same:
            same.seek(-1, os.SEEK_END)
            return same.read() == b"\n"
    except PermissionError:
        return True


def _line(record: SinkRecord) -> bytes:
    text = "null" if record.value is None else text_of(record.value)
    return f"{text}\n".encode("utf-8", "replace")


class FileStreamSinkConnector(GroupSink):
    """Values of the topics, one a line, behind what the file holds."""

    task_class = FileStreamSinkTask
    CONFIG = ConfigDef(
        ConfigKey(
            "file",
            default=None,
            importance=Importance.HIGH,
            documentation="Destination filename. If not specified, the standard output will be used",
            validator=is_writable_path,
        )
    )

    def start(self, props: Props, context: ConnectorContext) -> None:
        if not self.CONFIG.parse(props)["file"] and is_held():
            raise ConfigError("file", "A file must be named: standard output is the log of this worker")
        self._props = dict(props)
