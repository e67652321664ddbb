"""The connector over a directory, and its task: one file after the other, each marked when its records have arrived."""

import json
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from broker.common.clock import SystemClock
from broker.connect.api import (
    ConnectError,
    SourceRecord,
    SourceTask,
    SourceTaskContext,
)
from broker.connect.api.plugin import Props
from broker.connect.api.schema import STRING
from broker.connect.plugins.directory.files import SourceDirectory
from broker.connect.plugins.directory.reading import PLACE_TYPES, CurrentFile, Format, ParsedLine
from broker.connect.plugins.directory.settings import CONFIG, DIRECTORY, SEPARATORS
from broker.connect.plugins.own_props import OneTaskSource
from broker.connect.plugins.paths import checked_path

#: How long a poll waits for a file; and for what was read to arrive, before the next file is begun.
WAIT_S, ARRIVAL_S = 0.25, 0.005
#: Files of one poll that have nothing in them.
_EMPTY_MAX = 100
_CLOCK = SystemClock()


class DirectorySourceTask(SourceTask):
    """Keys are names of files, so that the lines of one stay in order. Done is marked after all was acknowledged."""

    def __init__(self) -> None:
        self._stopped = threading.Event()
        self._reading = threading.Lock()
        self._counting = threading.Lock()
        self._on_the_way = 0
        self._directory: SourceDirectory | None = None
        self._current: CurrentFile | None = None
        self._names: list[str] = []

    def start(self, props: Props, context: SourceTaskContext) -> None:
        values = DirectorySourceConnector.CONFIG.parse(props)
        self._topic, self._batch, self._rest_ms = values["topic"], values["batch.size"], values["file.rest.ms"]
        separator = SEPARATORS.get(values["csv.separator"], values["csv.separator"])
        tolerates = props.get("errors.tolerance", "none").lower() == "all"
        self._format = Format(values["format"].lower(), separator, values["max.record.bytes"], self._rest_ms, tolerates)
        done = values["done"].lower()
        done_to = (
            checked_path("done.directory", values["done.directory"] or "", writes=True) if done == "move" else None
        )
        self._directory = SourceDirectory(
            checked_path(DIRECTORY, values[DIRECTORY], writes=True), values["pattern"], done_to, done == "delete"
        )
        self._partition = {DIRECTORY: values[DIRECTORY]}
        self._resume_at = context.offset_reader.offset(self._partition)

    def poll(self) -> list[SourceRecord]:
        now_ms = _CLOCK.now_ms()
        with self._reading:
            lines = self._lines(now_ms)
            name, is_reading = (self._current.name, True) if self._current else ("", False)
        if not lines:
            self._stopped.wait(ARRIVAL_S if is_reading else WAIT_S)
            return []
        with self._counting:
            self._on_the_way += len(lines)
        partition, topic = self._partition, self._topic
        return [
            SourceRecord(partition, place, topic, None, STRING, name, schema, value, now_ms)
            for (schema, value), place in lines
        ]

    def _lines(self, now_ms: int) -> list[ParsedLine]:
        for _ in range(_EMPTY_MAX):
            if self._stopped.is_set() or not self._turn_to_file(now_ms) or self._current is None:
                return []
            if lines := self._current.read(now_ms, self._batch):
                return lines
            if self._on_the_way or not self._current.has_ended(now_ms):
                return []
            self._finish(self._current)
        return []

    def _turn_to_file(self, now_ms: int) -> bool:
        """Return whether there is one; the one that was being read when the task ended comes first."""
        if self._current is not None or self._directory is None:
            return self._current is not None
        resume_at, self._resume_at = self._resume_at, None
        if resume_at and (descriptor := self._directory.open(resume_at["file"])) is not None:
            self._current = CurrentFile(resume_at["file"], descriptor, self._format)
            self._current.resume(resume_at, self._stopped.is_set)
            return not self._stopped.is_set()
        if not self._names:
            self._names = self._directory.look(now_ms, self._rest_ms)[::-1]
        while self._names:
            name = self._names.pop()
            if (descriptor := self._directory.open(name)) is not None:
                self._current = CurrentFile(name, descriptor, self._format)
                return True
        return False

    def _finish(self, file: CurrentFile) -> None:
        if self._directory is not None:
            self._directory.mark(file.name, file.inode, file.is_faulty)
        file.close()
        self._current = None

    def commit_record(self, record: SourceRecord, metadata: tuple[str, int, int] | None) -> None:
        with self._counting:
            self._on_the_way -= 1

    def stop(self) -> None:
        self._stopped.set()
        with self._reading:
            if self._current is not None:
                self._current.close()
            if self._directory is not None:
                self._directory.close()
            self._current = self._directory = None


class DirectorySourceConnector(OneTaskSource):
    """Files that are put into a directory become records, one file after the other, the oldest first.

    A file is begun when nobody has written to it for a while; what is added before it is marked is read, too. Links and
    what is no file are left where they are, and so are files that cannot be opened; the log names them. A record that
    cannot be read fails the task, which names file and byte; with errors.tolerance=all it is left out, and its file is
    kept as `.failed` when it is done.
    """

    task_class = DirectorySourceTask
    CONFIG = CONFIG

    def contradictions(self, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        if str(values["done"]).lower() == "move" and not values["done.directory"]:
            yield "done.directory", "done=move needs a directory to move to"
        if values["done.directory"] and values["done.directory"] == values[DIRECTORY]:
            yield "done.directory", "done.directory has to be another one than directory"

    def exactly_once_support(self, props: Props) -> bool | None:
        return True

    def alter_offsets(self, props: Props, offsets: Mapping[str, Any]) -> bool:
        for partition, offset in offsets.items():
            if json.loads(partition).keys() != {DIRECTORY}:
                raise ConnectError(f"A source partition is {{'{DIRECTORY}': …}}, not {partition}")
            if offset is not None and not _is_place(offset):
                raise ConnectError(f"A source offset is one that this connector has stored, not {offset}")
        return True


def _is_place(offset: Mapping[str, Any]) -> bool:
    typed = all(type(offset.get(name)) is kind for name, kind in PLACE_TYPES.items())
    return typed and offset["position"] >= 0 and "/" not in offset["file"]
