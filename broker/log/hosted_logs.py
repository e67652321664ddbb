"""The logs a broker has, over its log directories: upkeep from time to time, and directories that fail.

A directory whose disk fails goes offline alone: its logs answer KAFKA_STORAGE_ERROR, the others go on, and
`on_directory_failed` hears of it. It comes back with the next start of the broker. A disk that is merely full refuses
and stays; `on_directory_full` hears of each refusal.

For a worker thread, one at a time, while the owner goes on: `flush_due`, `checkpoint_…`, `purge_segments`.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import NamedTuple

from broker.common.errors import ApiError, ErrorCode
from broker.common.logs import logger
from broker.common.troubles import Troubles
from broker.common.types import TopicPartition
from broker.log.directory import LogDirectory
from broker.log.files import is_full
from broker.log.last_stop import LastStop
from broker.log.log import Log
from broker.log.offset_checkpoint import OffsetCheckpoint
from broker.log.room import DirectoryRoom
from broker.log.truncation import LogExtent, Truncation

_log = logger(__name__)

#: What to note of a log, None for nothing, from what is noted of it in its directory.
_OffsetOf = Callable[[TopicPartition, Log, int | None], int | None]


class FutureLog(NamedTuple):
    """A copy of a log, on its way to be the log, and in which directory."""

    log: Log
    home: LogDirectory


class UnopenedLog(NamedTuple):
    """A log that lies in `home` and is out of reach, and why."""

    home: LogDirectory
    reason: str
    #: How the log was left, if only room was lacking: it is opened when there is some. Else None: not before a start.
    stop: LastStop | None = None
    #: Where a log of this partition lies as well.
    other_homes: tuple[LogDirectory, ...] = ()

    @property
    def homes(self) -> tuple[LogDirectory, ...]:
        return (self.home, *self.other_homes)


class HostedLogs:
    """Which logs there are, and in which directory each is."""

    def __init__(self) -> None:
        self._directories: list[LogDirectory] = []
        self._logs: dict[TopicPartition, Log] = {}
        self._homes: dict[TopicPartition, LogDirectory] = {}
        self._futures: dict[TopicPartition, FutureLog] = {}
        #: Logs that were found and not opened; what is noted beside them stays as it is.
        self._unopened: dict[TopicPartition, UnopenedLog] = {}
        #: Why, of directories that could not even be locked.
        self._unusable: dict[Path, str] = {}
        self._failing = Lock()
        #: Of checkpoints that cannot be written.
        self._troubles = Troubles()
        #: Told of a directory that fails, and whether it was the last: then the broker must stop. Once for each,
        #: perhaps on a worker thread.
        self.on_directory_failed: Callable[[Path, bool], None] = lambda path, was_last: None
        #: Called with the log directory of each write that was refused for want of room; perhaps on a worker thread.
        self.on_directory_full: Callable[[Path], object] = lambda path: None
        #: Told of a log directory and where logs in it will end, 0 of those about to be made; before that is done,
        #: perhaps on a worker thread, and perhaps twice. May raise OSError, then it is not. Of deleted ones it is told
        #: when they are gone, 0 as well.
        self.on_cut: Callable[[Path, Mapping[TopicPartition, int]], None] = lambda path, end_offsets: None
        #: Partitions that the cleaner leaves as they are since a pass failed, and why.
        self.uncleanable: Mapping[TopicPartition, str] = {}

    @property
    def logs(self) -> Mapping[TopicPartition, Log]:
        """A live, read-only view."""
        return MappingProxyType(self._logs)

    def get(self, partition: TopicPartition) -> Log | None:
        return self._logs.get(partition)

    # --- directories that fail

    @property
    def offline_directories(self) -> dict[Path, str]:
        """Return why each offline directory is offline, by its path."""
        failed = {
            directory.path: directory.offline_reason
            for directory in self._directories
            if directory.offline_reason is not None
        }
        return self._unusable | failed

    @property
    def online_directories(self) -> list[Path]:
        """Locked, and their disks work as far as is known; in the order they were given."""
        return [directory.path for directory in self._online()]

    @property
    def rooms(self) -> dict[Path, DirectoryRoom]:
        """The rooms of online directories, in the order of log.dirs."""
        return {directory.path: directory.room for directory in self._online()}

    def room_of(self, partition: TopicPartition) -> DirectoryRoom | None:
        """Return the room of the log's directory; None without a log, or if the directory is offline."""
        home = self._homes.get(partition)
        return home.room if home is not None and home.offline_reason is None else None

    def _online(self) -> list[LogDirectory]:
        return [directory for directory in self._directories if directory.offline_reason is None]

    def _fail(self, directory: LogDirectory, error: OSError) -> None:
        """Take `directory` offline until the next start: after an error nothing on the disk is certain."""
        with self._failing:
            if directory.offline_reason is not None:
                return
            directory.offline_reason = f"the log directory {directory.path} is offline: {error.strerror}"
            was_last = not self._online()
        for partition, home in list(self._homes.items()):
            if home is directory:
                self._logs[partition].fail(directory.offline_reason)
        for future in list(self._futures.values()):
            if future.home is directory:
                future.log.fail(directory.offline_reason)
        _log.error("log directory offline", path=str(directory.path), reason=str(error), was_last=was_last)
        self.on_directory_failed(directory.path, was_last)

    def _refused_for_room(self, directory: LogDirectory) -> None:
        self.on_directory_full(directory.path)

    # --- from time to time

    def flush_due(self, now_ms: int) -> int:
        """fsync the logs for which it is time, see `Log.flush_if_due`; how many that were. `now_ms` is monotonic."""
        futures = [future.log for future in list(self._futures.values())]
        return sum(self._flush_if_due(log, now_ms) for log in [*list(self._logs.values()), *futures])

    def _flush_if_due(self, log: Log, now_ms: int) -> bool:
        try:
            return log.flush_if_due(now_ms)
        except ApiError as error:
            _log.error("log not flushed", directory=str(log.directory), reason=error.message)
            return False

    def checkpoint_recovery_points(self) -> None:
        """Note up to where each log is fsynced, so that recovery need not read what is before."""
        self._checkpoint(
            lambda directory: directory.recovery_points, lambda _partition, log, _noted: log.recovery_point
        )

    def checkpoint_log_start_offsets(self) -> None:
        """Note where each log starts, for the next start to know whether a first segment is missing. A later start that
        is noted stays: it was noted before the log moves there.
        """

        def log_start_of(_partition: TopicPartition, log: Log, noted: int | None) -> int | None:
            return max(log.log_start_offset, log.first_base_offset, noted or 0)

        self._checkpoint(lambda directory: directory.log_start_offsets, log_start_of)

    def noted_log_start(self, partition: TopicPartition) -> int:
        """Return where a start after a kill would let the log begin, -1 without a log."""
        log, home = self._logs.get(partition), self._homes.get(partition)
        if log is None or home is None:
            return -1
        return max(log.first_base_offset, home.log_start_offsets.get(partition))

    def note_log_starts(self, directory: Path, starts: Mapping[TopicPartition, int]) -> dict[TopicPartition, ApiError]:
        """Note, durably and with one write, that these logs of one log directory start at `starts` or later.

        Return which could not be noted, and why. For a worker thread. A log that was let go, cut, made anew, or moved
        to another directory meanwhile is left out: `noted_log_start` tells.
        """
        home = next(log_directory for log_directory in self._directories if log_directory.path == directory)

        def still_there() -> dict[TopicPartition, int]:
            logs = {partition: self._logs.get(partition) for partition in starts if self._is_in(partition, home)}
            return {
                partition: max(starts[partition], log.log_start_offset, self.noted_log_start(partition))
                for partition, log in logs.items()
                if log is not None and not log.is_lent and starts[partition] <= log.log_end_offset
            }

        try:
            home.log_start_offsets.note(still_there)
        except OSError as error:
            if not is_full(error):
                self._fail(home, error)
            reason = f"the log start offset could not be noted: {error.strerror}; nothing was deleted"
            return dict.fromkeys(starts, ApiError(ErrorCode.KAFKA_STORAGE_ERROR, reason))
        return {}

    def note_retained_starts(self, starts: Mapping[TopicPartition, int]) -> None:
        """Note, as `note_log_starts`, where retention is about to let logs start. A disk that refuses is reported only:
        retention is what makes room on it.
        """
        for directory in self._online():
            starts_here = {partition: start for partition, start in starts.items() if self._is_in(partition, directory)}
            refused = self.note_log_starts(directory.path, starts_here) if starts_here else {}
            for error in list(refused.values())[:1]:
                _log.warning("log starts not noted before retention", path=str(directory.path), reason=error.message)

    def store_high_watermarks(self, high_watermarks: Mapping[TopicPartition, int]) -> None:
        """Note up to where each partition is known to be replicated.

        One that has a log and is not in `high_watermarks`, because nobody has given it a role yet, keeps its note.
        """

        def high_watermark_of(partition: TopicPartition, log: Log, noted: int | None) -> int | None:
            known = high_watermarks.get(partition)
            return noted if known is None else min(known, log.log_end_offset)

        self._checkpoint(lambda directory: directory.high_watermarks, high_watermark_of)

    def high_watermark_of(self, partition: TopicPartition) -> int:
        """Return the last noted high watermark, within the log's bounds; the log's start if none was; 0
        without a log.
        """
        log = self._logs.get(partition)
        if log is None:
            return 0
        return min(max(self._noted_high_watermark(partition) or 0, log.log_start_offset), log.log_end_offset)

    def _noted_high_watermark(self, partition: TopicPartition) -> int | None:
        home = self._homes.get(partition)
        return None if home is None else home.high_watermarks.noted(partition)

    def _before_cut(
        self, partition: TopicPartition, directory: LogDirectory, end_offset: int, log_start_offset: int | None
    ) -> None:
        """Lower what is noted of a log before it is truncated. Raises OSError."""
        self._lower(directory, {partition: LogExtent(log_start_offset, end_offset)})

    def note_truncations(self, cuts: Mapping[TopicPartition, Truncation]) -> None:
        """Lower the notes of logs of one directory, lent by their owner, before they are truncated, all at once, where
        each truncation would write the same files anew.

        On a worker thread. A disk that refuses is met again, and reported, by each cut.
        """
        logs = {partition: self._logs[partition] for partition in cuts}
        try:
            extents = {partition: log.extent_after(cuts[partition]) for partition, log in logs.items()}
            self._lower(self._homes[next(iter(cuts))], extents)
        except (ApiError, OSError) as error:
            _log.warning("truncations are noted one by one", reason=str(error))

    def _lower(self, directory: LogDirectory, extents: Mapping[TopicPartition, LogExtent]) -> None:
        end_offsets = {partition: extent.end_offset for partition, extent in extents.items()}
        directory.recovery_points.lower(end_offsets)
        directory.high_watermarks.lower(end_offsets)
        starts = {partition: extent.start_offset for partition, extent in extents.items()}
        directory.log_start_offsets.forget_all(partition for partition, start in starts.items() if start is None)
        directory.log_start_offsets.lower(
            {partition: start for partition, start in starts.items() if start is not None}
        )
        self.on_cut(directory.path, end_offsets)

    def _checkpoint(
        self,
        checkpoint_of: Callable[[LogDirectory], OffsetCheckpoint],
        offset_of: _OffsetOf,
    ) -> None:
        for directory in self._online():
            if not directory.is_loaded:
                continue
            checkpoint = checkpoint_of(directory)
            try:
                checkpoint.store(partial(self._offsets_in, directory, checkpoint, offset_of))
                self._troubles.is_over(checkpoint)
            except OSError as error:
                if self._troubles.is_news(checkpoint, str(error), now_ms=0):
                    _log.error("checkpoint not written", path=str(directory.path), reason=str(error))
                if not is_full(error):
                    self._fail(directory, error)

    def _offsets_in(
        self,
        directory: LogDirectory,
        checkpoint: OffsetCheckpoint,
        offset_of: _OffsetOf,
    ) -> dict[TopicPartition, int]:
        """Return the offsets noted in a directory's checkpoint. Those of logs that are being truncated (lowered for
        that) or were not opened are kept. A future log is noted under the name it will have.
        """
        # These first: one that is opened meanwhile is among the logs before it is no longer among these.
        offsets = {partition: checkpoint.noted(partition) for partition in self._unopened_in(directory)}
        for partition, log in list(self._logs.items()):
            if self._is_in(partition, directory):
                noted = checkpoint.noted(partition)
                offsets[partition] = noted if log.is_lent else offset_of(partition, log, noted)
        for partition, future in list(self._futures.items()):
            if future.home is directory:
                offsets[partition] = offset_of(partition, future.log, None)
        return {partition: offset for partition, offset in offsets.items() if offset is not None}

    def _unopened_in(self, directory: LogDirectory) -> list[TopicPartition]:
        return [partition for partition, unopened in list(self._unopened.items()) if directory in unopened.homes]

    def waits_for_room(self, partition: TopicPartition) -> bool:
        """Return whether the log is out of reach for want of room only, and is opened when there is some."""
        unopened = self._unopened.get(partition)
        return unopened is not None and unopened.stop is not None and unopened.home.offline_reason is None

    @property
    def unopened(self) -> dict[TopicPartition, str]:
        """The partitions whose logs were found at the start and not opened, and why."""
        return {partition: unopened.reason for partition, unopened in list(self._unopened.items())}

    def _is_in(self, partition: TopicPartition, directory: LogDirectory) -> bool:
        return self._homes.get(partition) is directory

    def purge_segments(self, now_ms: int) -> int:
        """See `Log.purge_segments`; the bytes freed in all logs. `now_ms` is monotonic."""
        freed = 0
        for partition, log in list(self._logs.items()):
            home = self._homes.get(partition)
            if home is None or home.offline_reason is not None:
                continue
            try:
                freed += log.purge_segments(now_ms)
            except OSError as error:
                self._fail(home, error)
        return freed
