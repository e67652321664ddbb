"""What a start finds under the names of partitions, and which of several directories of one partition is its log.

A partition may lie in two log directories: a move was interrupted, it was only begun to be made in one of them, or an
operator has copied it. Where nothing tells which is the log, both stay as they are, out of reach.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from broker.common.errors import NotNowError, StartupError
from broker.common.logs import logger
from broker.common.types import TopicPartition
from broker.log.config import LogConfig
from broker.log.directory import DELETE_SUFFIX, CopyFacts, LogDirectory
from broker.log.directory_start import (
    DirectoryStart,
    new_directory_id,
    read_directory_start,
    write_directory_start,
)
from broker.log.files import is_full, remove_tree
from broker.log.future_logs import FutureLogs
from broker.log.last_stop import LastStop
from broker.log.leader_epoch_file import is_continued

_log = logger(__name__)


class FoundLog(NamedTuple):
    """A directory with a partition's name, as a start of the broker finds it; `is_clean`: it was closed in order."""

    directory: LogDirectory
    partition: TopicPartition
    is_clean: bool


class FoundLogs(FutureLogs):
    """The part of the log manager that decides, at a start, what is a log."""

    def __init__(self, config: LogConfig) -> None:
        super().__init__(config)
        #: What each directory notes of the start that served it last.
        self._starts: dict[LogDirectory, DirectoryStart] = {}
        #: Directories from a backup.
        self._restored_directories: set[LogDirectory] = set()
        #: Logs that lie in one: they lack what was appended since it was made.
        self.restored: set[TopicPartition] = set()

    @contextmanager
    def _failing_to_start(self, directory: LogDirectory) -> Iterator[None]:
        """Take a failing directory offline; end the start if it was the last one.

        A full one may have room later, so another try is worth while.
        """
        try:
            yield
        except OSError as error:
            self._fail(directory, error)
            if not self._online():
                refusal = NotNowError if is_full(error) else StartupError
                raise refusal(f"{error.filename or directory.path} cannot be opened: {error.strerror}.") from error

    def doubt_restored(self, last_starts: Mapping[str, int]) -> None:
        """Doubt the logs in each directory that was served at a later start than it notes: it is from a backup.

        So is one with logs that notes no start, where a directory that was served is missing: the backup may have been
        made before starts were noted. `last_starts` by directory id. On a worker thread, once all logs are loaded.
        """
        for directory in self._online():
            with self._failing_to_start(directory):
                self._starts[directory] = read_directory_start(directory.path)
        missing = last_starts.keys() - {start.directory_id for start in self._starts.values()}
        for directory in self._online():
            start = self._starts[directory]
            logs = {partition for partition, home in self._homes.items() if home is directory}
            may_be_older = not start.number and missing and (logs or self._unopened_in(directory))
            if start.number < last_starts.get(start.directory_id, 0) or may_be_older:
                self._restored_directories.add(directory)
                self.restored |= logs
                _log.error(
                    "log directory is older than it was: a backup was restored. Its logs follow those of other "
                    "replicas, or wait for an operator"
                    if start.number
                    else "log directory notes no start, and one that this broker served is missing: a backup from "
                    "before an upgrade may have been restored. Its logs follow those of other replicas, or wait for "
                    "an operator",
                    path=str(directory.path),
                    start=start.number,
                    last_start=last_starts.get(start.directory_id),
                )
        self._doubtful |= self.restored
        for partition, future in self.futures.items():
            if {future.home, self._homes.get(partition)} & self._restored_directories:
                reason = "it is a copy of a log, and one of both is from a backup; ask for the move again"
                self._set_future_aside(partition, reason)

    def note_start(self, last_starts: Mapping[str, int]) -> dict[str, int]:
        """Note in each directory that this start serves it, and return the starts by directory id.

        A directory that could not be noted is left out, and one from a backup as long as it has logs that were not
        opened, and so not doubted. On a worker thread, after `doubt_restored`.

        Of directories with one id (a disk was copied) the one that was served last keeps it, the others get ids of
        their own first. As long as one of them cannot be noted none is: the next start would doubt it.
        """
        number = max([*last_starts.values(), *(start.number for start in self._starts.values())], default=0) + 1
        noted: dict[str, int] = {}
        for directory_id, directories in self._directories_by_id().items():
            owner, *copies = sorted(directories, key=lambda directory: -self._starts[directory].number)
            starts = {copy: DirectoryStart(new_directory_id(), number) for copy in copies}
            for copy, start in starts.items():
                _log.warning(
                    "log directory is a copy of another one of this broker, and gets an id of its own",
                    path=str(copy.path),
                    copy_of=str(owner.path),
                    directory_id=start.directory_id,
                )
            starts[owner] = DirectoryStart(directory_id, number)
            for directory, start in starts.items():
                try:
                    write_directory_start(directory.path, start)
                except OSError as error:
                    _log.warning("start of a log directory not noted", path=str(directory.path), reason=str(error))
                    break
                noted[start.directory_id] = number
        return noted

    def _directories_by_id(self) -> dict[str, list[LogDirectory]]:
        """Return the directories that may be noted."""
        by_id: dict[str, list[LogDirectory]] = {}
        for directory in self._online():
            is_doubted = directory not in self._restored_directories or not self._unopened_in(directory)
            if directory in self._starts and is_doubted:
                by_id.setdefault(self._starts[directory].directory_id, []).append(directory)
        return by_id

    def _without_surplus(self, logs: list[FoundLog]) -> list[FoundLog]:
        copies: dict[TopicPartition, list[FoundLog]] = {}
        for log in logs:
            copies.setdefault(log.partition, []).append(log)
        surplus = [place for places in copies.values() if len(places) > 1 for place in self._set_surplus_aside(places)]
        return [item for item in logs if item not in surplus]

    def _set_surplus_aside(self, places: list[FoundLog]) -> list[FoundLog]:
        """Return all of the places where a partition was found but one, which is the log; all if two may be it."""
        known: list[tuple[CopyFacts, FoundLog]] = []
        for place in places:
            with self._failing_to_start(place.directory):
                known.append((place.directory.copy_facts(place.partition), place))
        known.sort(key=lambda copy: copy[0])
        surplus = [item for _, item in known[:-1]]
        moved = [(facts, item) for facts, item in known if facts.is_moved]
        others = [(facts, item) for facts, item in known if not facts.is_moved]
        if len(others) == 1 and (others[0][0].holds_batches or not any(facts.holds_batches for facts, _ in moved)):
            for facts, log in moved:
                self._let_go_of_moved(facts, log, others[0][1])
            return [item for _, item in moved]
        if any(facts.holds_batches for facts, _ in known[:-1]):
            self._leave_copies_unopened([item for _, item in known])
            return places
        for _, (directory, partition, _) in known[:-1]:
            with self._failing_to_start(directory):
                directory.set_aside_as_stray(partition, "it was only begun to be made, and is in another directory too")
        return surplus

    def _leave_copies_unopened(self, copies: list[FoundLog]) -> None:
        """Leave all these copies unopened, because nothing tells which one is the partition's log."""
        homes = [copy.directory for copy in copies]
        for directory, partition, is_clean in copies:
            with self._failing_to_start(directory):
                path = directory.path_of(partition)
                stop = LastStop.of(path, is_clean=is_clean, lost_page_cache=directory.lost_page_cache)
                self._keep(stop, directory, path)
        partition, paths = copies[0].partition, " and ".join(str(home.path) for home in homes)
        reason = f"the log of {partition} is in {paths}: move the one away that is a copy, and start the broker again"
        self._leave_unopened(partition, homes[-1], reason, others=homes[:-1])

    def _let_go_of_moved(self, facts: CopyFacts, moved: FoundLog, other: FoundLog) -> None:
        """Delete a log that `other` is a copy of; keep it aside if that one was made anew without it."""
        directory, partition, _ = moved
        with self._failing_to_start(directory):
            if facts.holds_batches and not is_continued(
                directory.path_of(partition), other.directory.path_of(partition)
            ):
                directory.set_aside_as_stray(partition, "it was to be moved, but another log is in its place")
                return
            _log.info("log that was moved is removed", path=str(directory.path), partition=str(partition))
            remove_tree(directory.set_aside(partition, DELETE_SUFFIX))
