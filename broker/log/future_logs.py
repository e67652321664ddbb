"""Copies of logs that are to lie in another directory of the broker (KIP-113): how they begin, take the log's place,
and are found again after a stop.

A copy, the *future* log, lies in `topic-partition.<uuid>-future` until it holds all that the log holds. Then

1. the copy is fsynced, and what is to be noted beside it is noted, durably
2. `moved-to`, with the path of the other directory, is put beside the log, durably: from now on, if the partition has a
   directory there, that one is the log. On a disk without room, which is why logs are moved, it is empty, and the other
   directory may be any
3. the copy's directory gets the partition's name. This one step is the exchange; nothing is appended to either between
   the last look at both and it
4. that name is made durable, then the old directory gets `-delete` behind its name

A stop before 3 leaves the log, and a copy that goes on; a stop after it leaves two directories, of which the one with
`moved-to` goes at the next start. Kafka refuses to start then. Should the other directory be offline at that start,
nobody knows which of the two is the log, and the partition is out of reach until it is back.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from broker.common.errors import ApiError, ErrorCode, StartupError
from broker.common.limits import PREFERRED_LOG_DIRS_MAX
from broker.common.logs import logger
from broker.common.types import TopicPartition, may_be_same_topic
from broker.log.checkpoints import PARTITION_METADATA, read_partition_metadata, write_partition_metadata
from broker.log.clean_marker import segments_checksum
from broker.log.config import LogConfig
from broker.log.directory import DELETE_SUFFIX, MOVED_TO, LogDirectory
from broker.log.files import fsync_directory, lacks_room, remove_file_durably, remove_tree, replace_file_or_touch
from broker.log.hosted_logs import FutureLog, UnopenedLog
from broker.log.last_stop import LastStop
from broker.log.loader import NoRoomError, UnusableLogError
from broker.log.log import Log
from broker.log.log_removal import LogRemoval
from broker.log.open_segments import OpenSegments

_log = logger(__name__)


class FutureLogs(LogRemoval):
    """The half of the log manager that has logs change their directories. One copy of a log at a time."""

    def __init__(self, config: LogConfig) -> None:
        super().__init__()
        self._config = config
        self._opened = OpenSegments()
        #: Where a partition that has no log yet is to have one; what was said longest ago is forgotten first.
        self._preferred: dict[TopicPartition, LogDirectory] = {}

    # --- for the owner

    def directory_at(self, path: str) -> LogDirectory:
        """Return the directory of that absolute path. Raises ApiError: LOG_DIR_NOT_FOUND, KAFKA_STORAGE_ERROR if
        offline.
        """
        for directory in self._directories:
            if str(directory.path.absolute()) == path and directory.offline_reason is None:
                return directory
        if any(str(offline.absolute()) == path for offline in self.offline_directories):
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, f"the log directory {path} is offline")
        raise ApiError(ErrorCode.LOG_DIR_NOT_FOUND, f"{path:.300} is no log directory of this broker")

    def home_of(self, partition: TopicPartition) -> LogDirectory | None:
        return self._homes.get(partition)

    def future_of(self, partition: TopicPartition) -> FutureLog | None:
        return self._futures.get(partition)

    @property
    def futures(self) -> dict[TopicPartition, FutureLog]:
        return dict(self._futures)

    def is_start_noted_of_future(self, partition: TopicPartition) -> bool:
        """Return whether a kill would let the copy start where the log would: records may have been deleted since step
        1.
        """
        future = self._futures[partition]
        noted = max(future.log.first_base_offset, future.home.log_start_offsets.get(partition))
        return noted >= self.noted_log_start(partition)

    def prefer(self, partition: TopicPartition, directory: LogDirectory) -> None:
        """Prefer a directory for the partition's log when it is created."""
        self._preferred.pop(partition, None)
        self._preferred[partition] = directory
        if len(self._preferred) > PREFERRED_LOG_DIRS_MAX:
            del self._preferred[next(iter(self._preferred))]

    def replace_by_future(self, partition: TopicPartition) -> Log:
        """Step 3: put the copy in the place of the log, and return it; `finish_replacement` is next.

        Quick. Nobody else may be at work on the copy. Raises ApiError, then nothing has changed.
        """
        future, old = self._futures[partition], self._logs[partition]
        with self._writing_to(future.home, partition, "moved"):
            future.log.lie_in(future.home.path_of(partition), self._opened)
        del self._futures[partition]
        with self._counting:
            self._homes[partition].logs_count -= 1
        self._logs[partition], self._homes[partition] = future.log, future.home
        old.close()
        return future.log

    # --- for a worker thread, while the owner leaves the copy alone

    def make_future(self, partition: TopicPartition, directory: LogDirectory, config: LogConfig) -> FutureLog:
        """Make an empty future log of the partition in `directory`. Raises ApiError."""
        path = directory.path_of_future(partition)
        with self._writing_to(directory, partition, "copied"):
            try:
                directory.forget(partition)
                self.on_cut(directory.path, {partition: 0})
                path.mkdir()
                topic_id = self._topic_ids.get(partition)
                if topic_id is not None:
                    write_partition_metadata(path / PARTITION_METADATA, topic_id)
                log = Log.open(path, config, opened=_of_a_copy())
                fsync_directory(directory.path)
            except OSError:
                with suppress(OSError):
                    remove_tree(path)
                raise
        return self._enter_future(partition, log, directory)

    def prepare_replacement(self, partition: TopicPartition, high_watermark: int) -> None:
        """Do steps 1 and 2 of the replacement; may be repeated. Raises ApiError."""
        future, home = self._futures[partition], self._homes[partition]
        future.log.flush()
        with self._writing_to(future.home, partition, "copied"):
            for checkpoint, offset in (
                (future.home.recovery_points, future.log.recovery_point),
                (future.home.log_start_offsets, max(future.log.log_start_offset, self.noted_log_start(partition))),
                (future.home.high_watermarks, min(high_watermark, future.log.log_end_offset)),
            ):
                checkpoint.note(partial(dict, {partition: offset}))
        with self._writing_to(home, partition, "moved"):
            replace_file_or_touch(home.path_of(partition) / MOVED_TO, os.fsencode(future.home.path.absolute()))

    def finish_replacement(self, partition: TopicPartition, old: Log, home: LogDirectory) -> None:
        """Step 4: delete `old` from `home`. A failing disk goes offline; the next start reports it."""
        new = self._homes[partition]
        try:
            fsync_directory(new.path)
        except OSError as error:
            self._fail(new, error)
            return
        with suppress(ApiError), self._writing_to(home, partition, "moved aside"):
            self._set_aside.append(home.rename_aside(partition, DELETE_SUFFIX, old.directory))
            fsync_directory(home.path)
            self._lower_for_gone(home, [partition])

    def drop_future(self, partition: TopicPartition) -> None:
        """Delete the copy of the log, if there is one; the log stays where it is."""
        future = self._release_future(partition)
        if future is not None and future.home.offline_reason is None:
            with suppress(ApiError), self._writing_to(future.home, partition, "moved aside"):
                self._set_aside.append(future.home.rename_aside(partition, DELETE_SUFFIX, future.log.directory))
                fsync_directory(future.home.path)

    def _set_future_aside(self, partition: TopicPartition, reason: str) -> None:
        """As `drop_future`, but the copy is kept as a stray: it may have records that the log lacks."""
        future = self._release_future(partition)
        if future is not None and future.home.offline_reason is None:
            with suppress(ApiError), self._writing_to(future.home, partition, "set aside"):
                future.home.set_aside_as_stray(partition, reason, future.log.directory)

    def _release_future(self, partition: TopicPartition) -> FutureLog | None:
        future = self._futures.pop(partition, None)
        if future is None:
            return None
        future.log.close()
        log = self._logs.get(partition)
        if log is not None:
            log.is_being_copied = False
            self._forget_move(partition, self._homes[partition])
        with self._counting:
            future.home.logs_count -= 1
        return future

    def move_aside(self, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, Path | ApiError]:
        """Move logs aside, a future log before the log it belongs to: one without a log is kept for an operator to look
        at.
        """
        for partition in partitions:
            self.drop_future(partition)
        return super().move_aside(partitions)

    def set_aside_as_stray(self, partition: TopicPartition, reason: str) -> Path:
        self.drop_future(partition)
        return super().set_aside_as_stray(partition, reason)

    def _forget_move(self, partition: TopicPartition, home: LogDirectory) -> None:
        if home.offline_reason is None:
            with suppress(ApiError), self._writing_to(home, partition, "kept where it is"):
                remove_file_durably(home.path_of(partition) / MOVED_TO)

    @contextmanager
    def _writing_to(self, directory: LogDirectory, partition: TopicPartition, what: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if directory.is_to_blame(error):
                self._fail(directory, error)
            raise ApiError(
                ErrorCode.KAFKA_STORAGE_ERROR, f"the log of {partition} cannot be {what}: {error.strerror}"
            ) from error

    def _enter_future(self, partition: TopicPartition, log: Log, home: LogDirectory) -> FutureLog:
        log.on_disk_error = partial(self._fail, home)
        log.on_disk_full = partial(self._refused_for_room, home)
        log.before_cut = partial(self._before_cut, partition, home)
        with self._counting:
            home.logs_count += 1
        future = self._futures[partition] = FutureLog(log, home)
        self._logs[partition].is_being_copied = True
        return future

    # --- at a start

    def _is_undecided(self, partition: TopicPartition, directory: LogDirectory) -> bool:
        """Return whether the only log at hand may have been exchanged for one in an offline directory.

        If not, and it was about to be, the copy goes on as before. A mark that names no directory that is here, as an
        empty or damaged one, and that of a disk that was mounted elsewhere, may mean one that is not. Raises OSError.
        """
        marker = directory.path_of(partition) / MOVED_TO
        if not marker.exists():
            return False
        other, offline = os.fsdecode(marker.read_bytes()), [str(path.absolute()) for path in self.offline_directories]
        if offline and other not in [str(path.absolute()) for path in self.online_directories]:
            other = other if other in offline else " or ".join(offline)
            reason = f"the log of {partition} may have been moved to {other}, which is offline"
            self._leave_unopened(partition, directory, reason)
            return True
        remove_file_durably(marker)
        return False

    def _open(
        self, directory: LogDirectory, partition: TopicPartition, path: Path, stop: LastStop, opened: OpenSegments
    ) -> Log:
        """Open the log in `path`, or the copy of one, with what is noted of it. Raises OSError, UnusableLogError."""
        try:
            return Log.open(
                path,
                self._config,
                is_clean=stop.is_clean,
                recovery_point=directory.recovery_points.get(partition),
                log_start_offset=directory.log_start_offsets.get(partition),
                opened=opened,
            )
        except OSError as error:
            if not lacks_room(error):
                raise
            raise NoRoomError(
                f"there is no room in {directory.path} for what is written when the log {path.name} is opened, and "
                "nothing was cut. Free some of the disk: the log is opened then."
            ) from error

    def _keep(self, stop: LastStop, directory: LogDirectory, path: Path) -> None:
        """Note how a log that stays unopened was left, by a clean stop or not. Raises OSError."""
        try:
            stop.keep(path)
        except OSError as error:
            if not lacks_room(error):
                raise
            directory.unrecovered.add(path)

    def _load_futures(self, directory: LogDirectory, *, is_clean: bool) -> None:
        """Load future logs. One whose log is here continues; one that is also copied elsewhere is removed.

        One without a log, or of another topic, is kept: there may be no other place for its records. Raises OSError.
        """
        for partition, path in directory.futures():
            log, home = self._logs.get(partition), self._homes.get(partition)
            stop = LastStop.of(path, is_clean=is_clean, lost_page_cache=directory.lost_page_cache)
            if log is None and (self.offline_directories or partition in self._unopened):
                self._keep(stop, directory, path)
                _log.warning("copy of a log that is out of reach", path=str(path))
            elif log is None or self._is_of_another_topic(partition, path):
                reason = "there is no log here that it copies" if log is None else "it copies the log of another topic"
                directory.set_aside_as_stray(partition, reason, path)
            elif home is directory or partition in self._futures:
                remove_tree(directory.rename_aside(partition, DELETE_SUFFIX, path))
            else:
                self._load_future(partition, path, directory, stop)

    def _leave_unopened(
        self,
        partition: TopicPartition,
        directory: LogDirectory,
        reason: str,
        stop: LastStop | None = None,
        others: Sequence[LogDirectory] = (),
    ) -> None:
        self._unopened[partition] = UnopenedLog(directory, reason, stop, tuple(others))
        _log.error("log out of reach", partition=str(partition), reason=reason)

    def _is_of_another_topic(self, partition: TopicPartition, path: Path) -> bool:
        """Return whether the future log is of another topic, or unreadable: the log it is a copy of is here."""
        try:
            noted = read_partition_metadata(path / PARTITION_METADATA)
        except StartupError as error:
            _log.warning("copy of a log cannot be identified", path=str(path), reason=str(error))
            return True
        return not may_be_same_topic(noted, self._topic_ids.get(partition))

    def _load_future(self, partition: TopicPartition, path: Path, directory: LogDirectory, stop: LastStop) -> None:
        try:
            log = self._open(directory, partition, path, stop, _of_a_copy())
        except UnusableLogError as error:
            directory.set_aside_as_stray(partition, f"the copy of a log is begun again: {error}", path)
            return
        stop.forget(path)
        self._enter_future(partition, log, directory)

    # --- at a stop

    def _leave_clean(self, directory: LogDirectory, logs: Iterable[tuple[TopicPartition, Log]]) -> None:
        logs = list(logs)
        points = {partition: log.recovery_point for partition, log in logs}
        starts = {partition: max(log.log_start_offset, log.first_base_offset) for partition, log in logs}
        checksums = {
            partition: segments_checksum(log.segments) for partition, log in logs if partition not in self._unsound
        }
        for partition in self._unopened_in(directory):
            points[partition] = directory.recovery_points.get(partition)
        try:
            directory.leave_clean(points, starts, checksums)
        except OSError as error:
            _log.error("log directory not marked clean", path=str(directory.path), reason=str(error))

    def _close_futures(self) -> set[TopicPartition]:
        """Flush and close them; those of which all is on disk."""
        closed = set()
        for partition, future in self._futures.items():
            try:
                future.log.flush()
                future.log.store_clean_state()
                closed.add(partition)
            except ApiError as error:
                _log.error("copy not flushed", partition=str(partition), reason=error.message)
            future.log.close()
        return closed


def _of_a_copy() -> OpenSegments:
    """Return the options of a future log: it has no readers and another writer, and keeps none of the broker's segments
    open.
    """
    return OpenSegments(count_max=1)
