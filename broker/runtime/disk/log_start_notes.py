"""Notes where logs start after DeleteRecords, durably and at once: one write for all that wait for a log directory.

Whatever is not noted, a kill undoes: the records that were deleted would be shown again by whoever leads next.
"""

import asyncio
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from broker.common.errors import ApiError
from broker.common.types import TopicPartition
from broker.log.manager import LogManager
from broker.runtime.disk.executor import DiskExecutor

#: Which logs' starts could not be noted, and why.
Refusals = dict[TopicPartition, ApiError]


class _NextWrite:
    __slots__ = ("done", "starts")

    def __init__(self) -> None:
        self.starts: dict[TopicPartition, int] = {}
        self.done: asyncio.Future[Refusals] = asyncio.get_running_loop().create_future()


class LogStartNotes:
    """Used on the broker's loop only."""

    def __init__(self, logs: LogManager, disk: DiskExecutor):
        self._logs = logs
        self._disk = disk
        #: By log directory.
        self._next: dict[Path, _NextWrite] = {}
        self._being_written: set[Path] = set()

    def begin(self, directory: Path, starts: Mapping[TopicPartition, int]) -> "asyncio.Future[Refusals]":
        """Note that these logs of one log directory start at `starts`, see `HostedLogs.note_log_starts`.

        The future is shared: none may cancel it, and its refusals may be of others' logs.
        """
        if directory not in self._next:
            self._next[directory] = _NextWrite()
            if directory not in self._being_written:
                self._being_written.add(directory)
                asyncio.get_running_loop().call_soon(self._write, directory)
        waiting = self._next[directory]
        for partition, offset in starts.items():
            waiting.starts[partition] = max(offset, waiting.starts.get(partition, 0))
        return waiting.done

    def _write(self, directory: Path) -> None:
        """Write the directory's file; changes that arrive meanwhile are in the next write."""
        write = self._next.pop(directory)
        noted = self._disk.submit(directory, self, partial(self._logs.note_log_starts, directory, write.starts))
        noted.add_done_callback(partial(self._written, directory, write))

    def _written(self, directory: Path, write: _NextWrite, noted: "asyncio.Future[Refusals]") -> None:
        if directory in self._next:
            self._write(directory)
        else:
            self._being_written.discard(directory)
        error = noted.exception()
        if error is not None:
            write.done.set_exception(error)
        else:
            write.done.set_result(noted.result())
