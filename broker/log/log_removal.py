"""How logs go, or their ends: their directories are renamed for good, and what is in them is removed later."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from uuid import UUID

from broker.common.errors import ApiError, ErrorCode, StartupError
from broker.common.logs import logger
from broker.common.types import TopicPartition, may_be_same_topic
from broker.log.checkpoints import PARTITION_METADATA, read_partition_metadata
from broker.log.clean_marker import segments_checksum
from broker.log.compaction.segment_notes import find_lost_segments, passes_end
from broker.log.directory import DELETE_SUFFIX, LogDirectory, find_strays_of
from broker.log.files import fsync_file, open_directory, remove_tree
from broker.log.gaps import OffsetGap, describe_gaps, find_losses, find_lost_start
from broker.log.hosted_logs import HostedLogs
from broker.log.kept_truncations import keep_truncated
from broker.log.log import Log
from broker.log.segment_files import LOG_SUFFIX
from broker.log.truncation import Truncation

_log = logger(__name__)

#: Of the strays of a partition, those that are named in an error.
_NAMED_MAX = 5


class LogRemoval(HostedLogs):
    """The half of the log manager that lets go of logs."""

    def __init__(self) -> None:
        super().__init__()
        self._topic_ids: dict[TopicPartition, UUID] = {}
        #: The topics of new partitions whose logs could not be made: they are new until that is done.
        self._unmade: dict[TopicPartition, UUID] = {}
        #: Their logs are missing since the start, and only this broker was in sync: none is made while they are here.
        self.withheld: set[TopicPartition] = set()
        #: Strays with records of partitions that had no whole log at the start: an operator may put one back.
        self.records_aside: dict[TopicPartition, list[Path]] = {}
        #: Of those that were here at the start, which may have lost their end.
        self._doubtful: set[TopicPartition] = set()
        #: Of those that were here at the start, where segments are missing.
        self._gaps: dict[TopicPartition, tuple[OffsetGap, ...]] = {}
        #: Logs in which gaps are to be looked for at the next start, too: there are some, or none could be looked for.
        self._unsound: set[TopicPartition] = set()
        self._set_aside: list[Path] = []
        #: Logs that are closed and to be deleted, and perhaps could not be moved aside yet.
        self._to_delete: set[TopicPartition] = set()
        #: Logs that are about to be cut, and what goes is kept already.
        self._kept: set[TopicPartition] = set()
        #: How often records were kept that a leader did not have.
        self.truncations_kept = 0
        self._counting = Lock()

    def delete(self, partition: TopicPartition) -> bool:
        """Close the log and move it aside, at once and for good; `purge_deleted` frees the disk. False if unknown.

        Slices that were read before stay valid. Raises ApiError(KAFKA_STORAGE_ERROR).
        """
        if partition not in self._logs:
            return False
        self.close([partition])
        refused = self.forget_deleted(self.move_aside([partition]))
        if refused:
            raise refused[partition]
        return True

    def is_to_be_deleted(self, partition: TopicPartition) -> bool:
        """Return whether the deletion of the log that has this name was asked for, and could not be done yet."""
        return partition in self._to_delete

    def set_aside_as_stray(self, partition: TopicPartition, reason: str) -> Path:
        """Rename the directory of a log that no partition of this broker needs, report it, close the log, and return
        where it lies now.

        See `LogDirectory.set_aside_as_stray`. Raises ApiError(KAFKA_STORAGE_ERROR), then the log is as it was.
        """
        log, home = self._logs[partition], self._homes[partition]
        try:
            with log.closing():
                aside = home.set_aside_as_stray(partition, reason)
        except OSError as error:
            raise self._refused(partition, error, "set aside") from error
        log.close()
        self._lower_for_gone(home, [partition])
        self._forget(partition)
        return aside

    @property
    def strays(self) -> frozenset[Path]:
        """Directories of logs that were set aside as stray, by this start or an earlier one."""
        return frozenset[Path]().union(*(directory.strays for directory in self._online()))

    def find_records_aside(self, topic_ids: Mapping[TopicPartition, UUID]) -> None:
        """Note in `records_aside` the strays with records of these partitions, and of these topics where strays note an
        id. For a worker thread.
        """
        named = {str(partition): partition for partition in topic_ids}
        for name, strays in find_strays_of(self.strays, named).items():
            partition = named[name]
            paths = [stray for stray in strays if _may_hold_records_of(topic_ids[partition], stray)]
            if paths:
                self.records_aside[partition] = paths

    def recovery_advice(self, partition: TopicPartition) -> str:
        """Return what an operator may do about a missing log that must not be made anew."""
        aside = [str(path) for path in self.records_aside.get(partition, ())]
        if not aside:
            return (
                "restore its directory and start this broker again, or elect another replica (kafka-leader-election, "
                "unclean)"
            )
        return (
            f"records of it are set aside in {' and '.join(aside[:_NAMED_MAX])}; rename what is to be the log to "
            f"{partition}, or remove what is not needed, and start this broker again, or elect another replica "
            "(kafka-leader-election, unclean)"
        )

    @property
    def stray_bytes(self) -> dict[Path, int]:
        """The size of stray logs in each log directory, at the last look."""
        return {directory.path: directory.stray_bytes for directory in self._online()}

    def find_strays(self) -> None:
        """Look again which strays there are: an operator may have removed some. For a worker thread."""
        for directory in self._online():
            with suppress(OSError):
                directory.find_strays()

    def _look_for_gaps(self, directory: LogDirectory, partition: TopicPartition, log: Log, *, is_clean: bool) -> None:
        """Look for gaps between segments; a segment that cannot be read is met, and reported, by its readers.

        Where a clean stop left the log without gaps and with these segments, only what was before them may be missing.
        """
        cleaned_offset = directory.cleaned_offsets.get(partition)
        left_at = directory.log_start_offsets.noted(partition)
        is_as_left = is_clean and directory.left_segments.get(partition) == segments_checksum(log.segments)
        try:
            gaps = find_lost_start(log.first_base_offset, left_at, cleaned_offset)
            if not is_as_left:
                gaps += find_lost_segments(log.directory, log.segments, cleaned_offset, log.log_start_offset, left_at)
                explained_to = max(cleaned_offset, passes_end(log.directory))
                gaps += find_losses(log.segments, log.log_start_offset, explained_to)
        except OSError as error:
            self._unsound.add(partition)
            _log.warning("missing offsets of the log not looked for", partition=str(partition), reason=str(error))
            return
        if gaps:
            self._doubtful.add(partition)
            self._gaps[partition] = gaps
            self._unsound.add(partition)
            _log.error(
                "offsets are missing before or between segments: files were lost, or removed by hand, or were not on "
                "disk when the machine stopped",
                partition=str(partition),
                directory=str(log.directory),
                gaps=len(gaps),
                offsets=describe_gaps(gaps),
            )

    @property
    def lost_offsets(self) -> dict[TopicPartition, tuple[OffsetGap, ...]]:
        """The gaps that were found at the start and are still in logs; of compacted topics only the noted ones."""
        gaps = {partition: self.lost_offsets_of(partition) for partition in list(self._gaps)}
        return {partition: remaining for partition, remaining in gaps.items() if remaining}

    def lost_offsets_of(self, partition: TopicPartition) -> tuple[OffsetGap, ...]:
        """Return the lost offsets of one log, as `lost_offsets`."""
        gaps, log = self._gaps.get(partition, ()), self._logs.get(partition)
        if not gaps or log is None:
            return ()
        is_compacted = log.config.is_compacted
        return tuple(gap for gap in gaps if gap.is_in(log.log_start_offset) and (gap.is_noted or not is_compacted))

    def note_truncations(self, cuts: Mapping[TopicPartition, Truncation]) -> None:
        """Note truncations, as `HostedLogs.note_truncations`. What is kept must be there before its high watermark is
        lowered, or a start in between would not know that it was committed; a log of which nothing can be kept is
        left to its cut.
        """
        noted = {}
        for partition, cut in cuts.items():
            with suppress(ApiError):
                if cut.is_kept:
                    self._keep_truncated(partition, self._logs[partition], cut)
                    self._kept.add(partition)
                noted[partition] = cut
        if noted:
            super().note_truncations(noted)

    def cut(self, partition: TopicPartition, log: Log, cut: Truncation) -> None:
        """Cut a log that its owner has lent, having kept what may have been acknowledged. For a worker thread.

        Raises ApiError as `Log.cut`, and KAFKA_STORAGE_ERROR if nothing can be kept; then nothing is cut.
        """
        is_kept = partition in self._kept
        self._kept.discard(partition)
        if cut.is_kept and not is_kept:
            self._keep_truncated(partition, log, cut)
        log.cut(cut)
        if cut.is_of_all:
            self._gaps.pop(partition, None)

    def _keep_truncated(self, partition: TopicPartition, log: Log, cut: Truncation) -> None:
        try:
            kept_in = keep_truncated(log, cut)
        except OSError as error:
            raise self._refused(partition, error, "cut, because what goes cannot be kept") from error
        if kept_in is None:
            return
        self._homes[partition].strays |= {kept_in}
        where = {"partition": str(partition), "path": str(kept_in)}
        if self.lost_offsets_of(partition):
            _log.warning("what a log that lacks offsets still has is kept in a directory of its own", **where)
            return
        self.truncations_kept += 1
        _log.error(
            "records that may have been acknowledged are truncated for the leader, which lacks them; they are kept in "
            "a directory of their own",
            **where,
        )

    # --- many are deleted at once: the owner closes them, a thread moves them, the owner forgets them

    def close(self, partitions: Iterable[TopicPartition]) -> dict[Path, list[TopicPartition]]:
        """Close those of these logs there are, none being lent; by their log directories. `move_aside` is next.

        One that was not opened is set aside as a stray: nothing here knows what is in it.
        """
        by_directory: dict[Path, list[TopicPartition]] = {}
        for partition in partitions:
            self._unmade.pop(partition, None)
            self.withheld.discard(partition)
            self.records_aside.pop(partition, None)
            self._set_unopened_aside(partition)
            log = self._logs.get(partition)
            if log is not None:
                log.close()
                self._to_delete.add(partition)
                by_directory.setdefault(self._homes[partition].path, []).append(partition)
        return by_directory

    def _set_unopened_aside(self, partition: TopicPartition) -> None:
        unopened = self._unopened.get(partition)
        if unopened is None or any(home.offline_reason is not None for home in unopened.homes):
            return
        try:
            for home in unopened.homes:
                if home.path_of(partition).exists():
                    home.set_aside_as_stray(partition, f"its partition was deleted, and {unopened.reason}")
        except OSError as error:
            _log.warning("log out of reach stays where it is", partition=str(partition), reason=str(error))
            return
        del self._unopened[partition]

    def move_aside(self, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, Path | ApiError]:
        """Rename the directories of closed logs of one log directory for good, which is durable when this returns:
        where each is, or KAFKA_STORAGE_ERROR. For a worker thread; `forget_deleted` is next.
        """
        home = self._homes[partitions[0]]
        try:
            names = open_directory(home.path)  # before anything is renamed: later there may be no descriptor
            moved = {partition: self._rename_aside(home, partition) for partition in partitions}
            fsync_file(names)
        except OSError as error:
            return {partition: self._refused(partition, error, "moved aside") for partition in partitions}
        self._lower_for_gone(home, partitions)
        return moved

    def _lower_for_gone(self, home: LogDirectory, partitions: Iterable[TopicPartition]) -> None:
        """Forget the notes beside logs that have left `home`. A full disk keeps them, until a log of the name is made
        there; to free the disk comes first.
        """
        try:
            self.on_cut(home.path, dict.fromkeys(partitions, 0))
        except OSError as error:
            if home.is_to_blame(error):
                self._fail(home, error)

    def forget_deleted(self, moved: Mapping[TopicPartition, Path | ApiError]) -> dict[TopicPartition, ApiError]:
        """Forget deleted logs, whose names may be used again; return those that could not be moved, and why.
        `purge_deleted` frees the disk.
        """
        refused = {}
        for partition, aside in moved.items():
            if isinstance(aside, ApiError):
                refused[partition] = aside
            else:
                self._set_aside.append(aside)
                self._forget(partition)
        return refused

    def _rename_aside(self, home: LogDirectory, partition: TopicPartition) -> Path | ApiError:
        try:
            return home.rename_aside(partition, DELETE_SUFFIX)
        except OSError as error:
            return self._refused(partition, error, "moved aside")

    def _forget(self, partition: TopicPartition) -> None:
        del self._logs[partition]
        with self._counting:
            self._homes.pop(partition).logs_count -= 1
        self._topic_ids.pop(partition, None)
        self._doubtful.discard(partition)
        self._gaps.pop(partition, None)
        self._to_delete.discard(partition)

    def purge_deleted(self) -> int:
        """Remove the files of deleted logs; how many logs that were. Safe on a thread while the owner goes on."""
        purged = 0
        while self._set_aside:
            remove_tree(self._set_aside.pop())
            purged += 1
        return purged

    def _refused(self, partition: TopicPartition, error: OSError, what: str) -> ApiError:
        if self._homes[partition].is_to_blame(error):
            self._fail(self._homes[partition], error)
        return ApiError(ErrorCode.KAFKA_STORAGE_ERROR, f"the log of {partition} cannot be {what}: {error.strerror}")


def _may_hold_records_of(topic_id: UUID, stray: Path) -> bool:
    """Return whether a stray has a segment that is not empty, and notes `topic_id` or none that can be read."""
    try:
        if not any(segment.stat().st_size for segment in stray.glob(f"*{LOG_SUFFIX}")):
            return False
        return may_be_same_topic(read_partition_metadata(stray / PARTITION_METADATA), topic_id)
    except (OSError, StartupError) as error:
        _log.warning("stray log cannot be identified", path=str(stray), reason=str(error))
        return True
