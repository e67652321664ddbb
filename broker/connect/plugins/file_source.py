"""org.apache.kafka.connect.file.FileStreamSourceConnector: the lines of one file, or of standard input."""

import json
import os
import threading
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from broker.common.clock import SystemClock
from broker.common.readable import readable
from broker.connect.api import (
    ConfigDef,
    ConfigKey,
    ConfigType,
    ConnectError,
    Importance,
    SourceRecord,
    SourceTask,
    SourceTaskContext,
)
from broker.connect.api.config import between, not_empty
from broker.connect.api.plugin import Props
from broker.connect.api.schema import STRING
from broker.connect.file_tail import HEAD_BYTES, FileOffset, FileTail, open_regular
from broker.connect.plugins.own_props import OneTaskSource
from broker.connect.plugins.paths import checked_path, is_allowed_path, open_checked

#: What one poll takes of a file at most; the longest line is within it.
POLL_BYTES_MAX = 4 * 1024 * 1024
#: How long a poll that found nothing waits for more.
WAIT_S = 0.25
#: FileTail counts a line's rest and a rotation's grace by it.
_CLOCK = SystemClock()

FILENAME, POSITION = "filename", "position"


class FileStreamSourceTask(SourceTask):
    """Values are texts; bytes that are not UTF-8 are replaced, as Java's readers do."""

    def __init__(self) -> None:
        self._stopped = threading.Event()
        self._reading = threading.Lock()
        self._tail: FileTail | _Pipe | None = None

    def start(self, props: Props, context: SourceTaskContext) -> None:
        values = FileStreamSourceConnector.CONFIG.parse(props)
        self._topic, self._batch = values["topic"], values["batch.size"]
        if not values["file"]:
            self._partition: dict[str, Any] = {}
            self._tail = _Pipe(0)
            return
        path = checked_path("file", values["file"])
        self._partition = {FILENAME: values["file"]}
        resume_at = _resume_point(path, context.offset_reader.offset(self._partition))
        self._tail = FileTail(path, values["max.line.bytes"], resume_at, values["last.line.rest.ms"], open_checked)

    def poll(self) -> list[SourceRecord]:
        now_ms = _CLOCK.now_ms()
        with self._reading:
            if self._tail is None or self._stopped.is_set():
                return []
            lines = self._tail.read_lines(now_ms, self._batch, POLL_BYTES_MAX)
        if not lines:
            self._stopped.wait(WAIT_S)
            return []
        partition, topic = self._partition, self._topic
        return [
            SourceRecord(
                partition, line.offset, topic, None, None, None, STRING, line.value.decode("utf-8", "replace"), now_ms
            )
            for line in lines
        ]

    def stop(self) -> None:
        self._stopped.set()
        with self._reading:
            if isinstance(self._tail, FileTail):
                self._tail.close()


class FileStreamSourceConnector(OneTaskSource):
    """Each line of a file becomes a record. Rotated and truncated files are followed; a missing one is waited for."""

    task_class = FileStreamSourceTask
    CONFIG = ConfigDef(
        ConfigKey(
            "file",
            default=None,
            importance=Importance.HIGH,
            documentation="Source filename. If not specified, the standard input will be used",
            validator=is_allowed_path,
        ),
        ConfigKey(
            "topic",
            importance=Importance.HIGH,
            documentation="The topic to publish data to",
            validator=not_empty,
        ),
        ConfigKey(
            "batch.size",
            ConfigType.INT,
            2000,
            Importance.LOW,
            "The maximum number of records the source task can read from the file each time it is polled",
            between(1, 100_000),
        ),
        ConfigKey(
            "max.line.bytes",
            ConfigType.INT,
            1_000_000,
            Importance.LOW,
            "The longest record, in bytes: a longer line is split into several.",
            between(1, POLL_BYTES_MAX // 2),
        ),
        ConfigKey(
            "last.line.rest.ms",
            ConfigType.INT,
            0,
            Importance.LOW,
            "A last line without a line end is read when the file has not grown for this time; 0: never, as in Kafka.",
            between(0),
        ),
    )

    def exactly_once_support(self, props: Props) -> bool | None:
        return bool(props.get("file"))

    def alter_offsets(self, props: Props, offsets: Mapping[str, Any]) -> bool:
        if not props.get("file"):
            raise ConnectError("Offsets cannot be modified if the 'file' configuration is unspecified.")
        for partition, offset in offsets.items():
            if json.loads(partition).keys() != {FILENAME}:
                raise ConnectError(f"A source partition is {{'{FILENAME}': …}}, not {partition}")
            position = 0 if offset is None else offset.get(POSITION)
            if isinstance(position, bool) or not isinstance(position, int) or position < 0:
                raise ConnectError(f"A source offset is {{'{POSITION}': a number from 0}}, not {offset}")
        return True


def _resume_point(path: Path, stored: Mapping[str, Any] | None) -> FileOffset | None:
    """Return a stored offset with what FileTail knows the file by; Kafka's own, and those that people set, are a
    position alone.
    """
    if stored is None:
        return None
    position, inode, head = int(stored.get(POSITION, 0)), stored.get("inode"), stored.get("head")
    if isinstance(inode, int) and isinstance(head, int):
        return {
            "inode": inode,
            "position": position,
            "head": head,
            "unfinished": stored.get("unfinished") is True,
        }
    descriptor = open_regular(path, open_checked)
    if descriptor is None:
        return None
    try:
        head = os.pread(descriptor, min(position, HEAD_BYTES), 0)
        return {"position": position, "inode": os.fstat(descriptor).st_ino, "head": zlib.crc32(head)}
    finally:
        os.close(descriptor)


class _PipedLine:
    __slots__ = ("offset", "value")

    def __init__(self, value: bytes):
        self.value = value
        self.offset: dict[str, Any] = {}


class _Pipe:
    """Lines of standard input: nothing to go back to."""

    def __init__(self, descriptor: int):
        self._descriptor = descriptor
        self._rest = b""

    def read_lines(self, _now_ms: int, max_lines: int, max_bytes: int) -> list[_PipedLine]:
        if self._rest.count(b"\n") < max_lines and readable(self._descriptor, 0):
            self._rest += os.read(self._descriptor, 65_536)
        *lines, self._rest = self._rest.split(b"\n", max_lines)
        if len(self._rest) > max_bytes:
            lines.append(self._rest)
            self._rest = b""
        return [_PipedLine(line.removesuffix(b"\r")) for line in lines]
