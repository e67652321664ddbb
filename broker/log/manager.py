"""All logs of a broker, over all its log directories.

Life: construct (locks the directories), `set_cluster_id` once ZooKeeper has told it, `load_all`, then `get`,
`get_or_create`, `delete` as the controller orders, and `shutdown`. `load_all`, `purge_deleted`, `close_logs` and
`shutdown` may take long and are for worker threads; the owner must not use the manager during `load_all`, nor from
`close_logs` on.

A topic that is deleted and made again has the same name and another id. Each partition directory notes its id, and
nothing is ever read or written under a name whose id is not the expected one.

What is to be done for all logs from time to time, and what happens when a disk fails, is in `hosted_logs`; how logs go
is in `log_removal`, how they change their directories in `future_logs`.
"""

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Lock
from typing import NamedTuple
from uuid import UUID

from broker.common.errors import ApiError, ErrorCode, NotNowError, StartupError
from broker.common.logs import logger
from broker.common.types import TopicPartition, may_be_same_topic
from broker.log.checkpoints import PARTITION_METADATA, read_partition_metadata, write_partition_metadata
from broker.log.config import LogConfig
from broker.log.directory import MOVED_TO, LogDirectory, UnusableDirectoryError, is_stray_of
from broker.log.files import fsync_directory, remove_tree
from broker.log.found_logs import FoundLog, FoundLogs
from broker.log.last_stop import LastStop
from broker.log.loader import NoRoomError, UnusableLogError
from broker.log.log import Log

_log = logger(__name__)


class NewLog(NamedTuple):
    """A log that is to be there; not `is_new`, it may be in a directory that is offline."""

    partition: TopicPartition
    topic_id: UUID
    is_new: bool


class LogManager(FoundLogs):
    """One per broker process."""

    def __init__(self, log_dirs: list[Path], config: LogConfig, broker_id: int, cluster_id: str | None = None):
        """Lock and check every directory, made if missing; one whose disk refuses is offline from the start.

        Raises StartupError, also if no directory is left; then none stays locked.
        """
        super().__init__(config)
        self.broker_id = broker_id
        #: Held by whoever makes logs on another thread.
        self._making = Lock()
        self._is_shut = False
        self._to_close: deque[TopicPartition] = deque()
        self._closed_clean: set[TopicPartition] = set()
        try:
            self._lock_all(log_dirs)
            self.set_cluster_id(cluster_id)
        except BaseException:
            self._unlock()
            raise

    def _lock_all(self, log_dirs: list[Path]) -> None:
        for path in log_dirs:
            try:
                self._directories.append(LogDirectory(path))
            except UnusableDirectoryError as error:
                if len(self._unusable) + 1 == len(log_dirs):
                    raise
                self._note_unusable(path, error)

    def _note_unusable(self, path: Path, error: StartupError) -> None:
        _log.error("log directory offline", path=str(path), reason=str(error))
        self._unusable[path] = str(error)

    def set_cluster_id(self, cluster_id: str | None) -> None:
        """Note broker and cluster in each `meta.properties`; None checks only.

        A directory that belongs to another broker or cluster, or whose `meta.properties` is damaged, goes offline as it
        is while another directory is noted as this broker's. If none is, the configuration may be what is wrong: raises
        StartupError. Raises NotNowError if that may pass.
        """
        is_confirmed, refusals = False, dict[LogDirectory, StartupError]()
        for directory in self._directories:
            try:
                is_confirmed |= directory.check_claim(self.broker_id, cluster_id)
            except NotNowError:
                raise
            except StartupError as error:
                refusals[directory] = error
        for directory, refusal in refusals.items():
            if not is_confirmed:
                raise refusal
            self._directories.remove(directory)
            directory.unlock()
            self._note_unusable(directory.path, refusal)
        if cluster_id is not None:
            for directory in self._directories:
                directory.claim(self.broker_id, cluster_id)

    def load_all(self, progress: Callable[[int, int], None] = lambda loaded, total: None) -> None:
        """Open every log there is, recovering after an unclean stop; `progress` hears (loaded, total) after each.

        A partition that could not be made in a directory may have been begun there: what holds no batch and lies in
        another directory too is set aside. A log that is in two directories stays in both, out of reach. Raises
        StartupError if the last directory fails.
        """
        logs: list[FoundLog] = []
        left_clean: dict[LogDirectory, bool] = {}
        for directory in self._directories:
            with self._failing_to_start(directory):
                is_clean = left_clean[directory] = directory.take_clean_marker()
                directory.purge_leftovers()
                partitions = directory.partitions()
                directory.load_checkpoints(has_logs=bool(partitions))
                logs += [FoundLog(directory, partition, is_clean) for partition in partitions]
        logs = self._without_surplus(logs)
        for loaded, (directory, partition, is_clean) in enumerate(logs, start=1):
            if directory.offline_reason is None:
                with self._failing_to_start(directory):
                    stop = LastStop.of(
                        directory.path_of(partition), is_clean=is_clean, lost_page_cache=directory.lost_page_cache
                    )
                    if self._is_undecided(partition, directory):
                        self._keep(stop, directory, directory.path_of(partition))
                    else:
                        self._load(directory, partition, stop)
            progress(loaded, len(logs))
        for directory in self._online():
            with self._failing_to_start(directory):
                self._load_futures(directory, is_clean=left_clean[directory])
        for directory in self._directories:
            directory.is_loaded = directory.offline_reason is None
        self.find_strays()

    def _load(self, directory: LogDirectory, partition: TopicPartition, stop: LastStop) -> None:
        """Open the log; one that cannot be opened as it is stays, alone, out of reach. Raises OSError."""
        path = directory.path_of(partition)
        try:
            topic_id = read_partition_metadata(path / PARTITION_METADATA)
            log = self._open(directory, partition, path, stop, self._opened)
        except (UnusableLogError, StartupError) as error:
            self._keep(stop, directory, path)
            self._leave_unopened(partition, directory, str(error), stop if isinstance(error, NoRoomError) else None)
            return
        stop.forget(path)
        directory.unrecovered.discard(path)
        self._enter(partition, log, directory, topic_id)
        self._unopened.pop(partition, None)
        if log.was_cut and not directory.is_loaded:
            directory.note_damage()
        if log.was_cut or directory.may_have_lost_tail(partition, log.log_end_offset, stop):
            self._doubtful.add(partition)
            _log.warning("log may have lost its end", partition=str(partition), log_end_offset=log.log_end_offset)
        self._look_for_gaps(directory, partition, log, is_clean=stop.is_clean)

    @property
    def may_lack_records(self) -> bool:
        """Whether anything that was here may be missing since the start: the end of a log, or whole logs."""
        return bool(self._doubtful) or any(directory.is_new for directory in self._directories)

    def has_whole(self, partition: TopicPartition, topic_id: UUID) -> bool:
        """Return whether the log is here, of the topic of that id, and did not lose its end before this start."""
        if partition not in self._logs or partition in self._doubtful:
            return False
        return may_be_same_topic(self._topic_ids.get(partition), topic_id)

    def note_machine_start(self) -> None:
        """Note that the losses behind `may_lack_records` are dealt with; only then does the next start not report them
        again.
        """
        for directory in self._online():
            try:
                directory.note_machine_start()
            except OSError as error:
                self._fail(directory, error)

    def _enter(self, partition: TopicPartition, log: Log, directory: LogDirectory, topic_id: UUID | None) -> None:
        log.on_disk_error = partial(self._fail, directory)
        log.on_disk_full = partial(self._refused_for_room, directory)
        log.before_cut = partial(self._before_cut, partition, directory)
        self._logs[partition] = log
        self._homes[partition] = directory
        directory.logs_count += 1
        if topic_id is not None:
            self._topic_ids[partition] = topic_id

    def topic_id_of(self, partition: TopicPartition) -> UUID | None:
        """Return the id the log was made under, None if there is no log, or one from before ids were noted."""
        return self._topic_ids.get(partition)

    def noted_topic_id(self, partition: TopicPartition) -> UUID | None:
        """Return the topic id as `topic_id_of`, also of a log that is not opened; None if it cannot be read."""
        unopened = self._unopened.get(partition)
        if unopened is None:
            return self._topic_ids.get(partition)
        try:
            return read_partition_metadata(unopened.home.path_of(partition) / PARTITION_METADATA)
        except (OSError, StartupError):
            return None

    def get_or_create(self, partition: TopicPartition, topic_id: UUID, *, is_new: bool = True) -> Log:
        """Return the partition's log; a new one goes to the directory with fewest logs, or to the next one if that
        fails.

        Raises ApiError: INCONSISTENT_TOPIC_ID if the log there is belongs to another topic of the same name (set it
        aside first), KAFKA_STORAGE_ERROR if it cannot be made, is in a directory that is offline, or may be: that is if
        there is one and the partition not `is_new`.
        """
        log = self._logs.get(partition)
        if log is None:
            return self._create(partition, topic_id, is_new=is_new)
        reason = self._homes[partition].offline_reason
        if reason is not None:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, reason)
        known = self._topic_ids.get(partition)
        if known == topic_id:
            return log
        if known is not None:
            raise ApiError(
                ErrorCode.INCONSISTENT_TOPIC_ID,
                f"the log of {partition} was written under topic id {known}, not {topic_id}",
            )
        return self._adopt(partition, log, topic_id)

    def create_missing(self, wanted: Sequence[NewLog]) -> None:
        """Make those logs there are not, and open those that wait for room, for `get_or_create` to find; on a worker
        thread, one such call at a time.

        One that cannot be made is left out: `get_or_create` tries it again, and tells why. The owner may use the
        manager meanwhile, but not make logs.
        """
        with self._making:
            for partition, topic_id, is_new in wanted:
                if self.waits_for_room(partition) and not self._is_shut:
                    self._open_late(partition)
                elif partition not in self._logs and not self._is_shut:
                    with suppress(ApiError):
                        self._create(partition, topic_id, is_new=is_new)

    def _open_late(self, partition: TopicPartition) -> None:
        """Open a log that lacked room at the start, if its directory takes writes. The broker left its ISR by then.

        One in a directory from a backup waits for the next start, which doubts it: it must not lead.
        """
        unopened = self._unopened[partition]
        home, stop = unopened.home, unopened.stop
        if stop is None or home.room.refuses_writes or home in self._restored_directories:
            return
        try:
            self._load(home, partition, stop.with_note(home.path_of(partition)))
        except OSError as error:
            if home.is_to_blame(error):
                self._fail(home, error)

    def _create(self, partition: TopicPartition, topic_id: UUID, *, is_new: bool) -> Log:
        if partition in self._unopened:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, self._unopened[partition].reason)
        is_new = is_new or self._unmade.get(partition) == topic_id
        if partition in self.withheld and not is_new:
            raise ApiError(
                ErrorCode.KAFKA_STORAGE_ERROR,
                f"the log of {partition} is missing, and no other replica was in sync: "
                f"{self.recovery_advice(partition)}",
            )
        if not is_new and self.offline_directories:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, f"the log of {partition} may be in an offline directory")
        reason = "every log directory is offline"
        preferred = self._preferred.get(partition)
        for directory in sorted(
            self._online(), key=lambda directory: (directory is not preferred, directory.logs_count)
        ):
            try:
                log = self._create_in(directory, partition, topic_id)
                self._unmade.pop(partition, None)
                self.withheld.discard(partition)
                self.records_aside.pop(partition, None)
                self._preferred.pop(partition, None)
                self._report_strays_of(partition, topic_id, log)
                return log
            except OSError as error:
                reason = f"the log of {partition} cannot be made: {error.strerror}"
                self._remove_begun(directory, partition)
                if directory.is_to_blame(error):
                    self._fail(directory, error)
        if is_new:
            self._unmade[partition] = topic_id
        raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, reason)

    def _report_strays_of(self, partition: TopicPartition, topic_id: UUID, log: Log) -> None:
        """Report a recreated topic whose old logs are strays. Its znode may have been deleted and restored, or a
        replica moved away and back, so that this is no reason to refuse.
        """
        strays = [path for path in sorted(self.strays) if is_stray_of(path.name, str(partition))]
        for stray in strays:
            with suppress(OSError, StartupError):
                if read_partition_metadata(stray / PARTITION_METADATA) == topic_id:
                    _log.warning(
                        "log begins empty, and records of the same topic id were set aside earlier: if the topic lacks "
                        "them, stop the brokers of its replicas and move each stray to where the new log is",
                        partition=str(partition),
                        stray=str(stray),
                        directory=str(log.directory),
                    )

    def is_out_of_reach(self, partition: TopicPartition) -> bool:
        """Return whether the log is in a directory that is offline, or may be; or could be made in none, all being
        offline.
        """
        home = self._homes.get(partition)
        if home is not None:
            return home.offline_reason is not None
        if partition in self._unopened:
            return True
        return not self._online() or bool(self.offline_directories and partition not in self._unmade)

    def _remove_begun(self, directory: LogDirectory, partition: TopicPartition) -> None:
        """Remove what was begun of a log that could not be made; the next start sets aside what cannot be removed."""
        try:
            if not directory.copy_facts(partition).holds_batches:
                remove_tree(directory.path_of(partition))
        except OSError as error:
            _log.warning("log that was only begun to be made stays", partition=str(partition), reason=str(error))

    def _create_in(self, directory: LogDirectory, partition: TopicPartition, topic_id: UUID) -> Log:
        path = directory.path_of(partition)
        directory.forget(partition)
        self.on_cut(directory.path, {partition: 0})
        if (path / MOVED_TO).exists() or (path.exists() and directory.copy_facts(partition).holds_batches):
            directory.set_aside_as_stray(partition, "it lies in the place of a new log")
        path.mkdir(exist_ok=True)
        log = Log.open(path, self._config, opened=self._opened)
        # Last: a log of a topic that has no segment has lost it.
        write_partition_metadata(path / PARTITION_METADATA, topic_id)
        fsync_directory(directory.path)
        self._enter(partition, log, directory, topic_id)
        return log

    def _adopt(self, partition: TopicPartition, log: Log, topic_id: UUID) -> Log:
        try:
            write_partition_metadata(log.directory / PARTITION_METADATA, topic_id)
        except OSError as error:
            raise self._refused(partition, error, "noted under its topic id") from error
        self._topic_ids[partition] = topic_id
        return log

    def close_logs(self) -> None:
        """Flush and close logs until none is left that nobody has taken; for several threads at once before `shutdown`.

        From now on no log is made.
        """
        with self._making:
            if not self._is_shut:
                self._is_shut = True
                self._to_close.extend(self._logs)
        while self._to_close:
            try:
                partition = self._to_close.popleft()
            except IndexError:
                return
            if self._flush_and_close(partition):
                self._closed_clean.add(partition)

    def shutdown(self) -> None:
        """Flush and close every log, write the recovery points, mark the directories clean, unlock. Twice is fine.

        A directory whose logs could not all be flushed (or were never all opened) is not marked clean.
        """
        self.close_logs()
        self.checkpoint_log_start_offsets()
        closed_copies = self._close_futures()
        for directory in self._directories:
            partitions = {partition for partition, home in self._homes.items() if home is directory}
            copies = {partition for partition, future in self._futures.items() if future.home is directory}
            is_all_closed = partitions <= self._closed_clean and copies <= closed_copies
            may_be_clean = directory.offline_reason is None and not directory.unrecovered
            if directory.is_loaded and may_be_clean and is_all_closed:
                logs = [(partition, self._logs[partition]) for partition in partitions]
                logs += [(copy, self._futures[copy].log) for copy in copies]
                self._leave_clean(directory, logs)
            directory.is_loaded = False
        self._logs.clear()
        self._homes.clear()
        self._gaps.clear()
        self._futures.clear()
        self._unlock()

    def _flush_and_close(self, partition: TopicPartition) -> bool:
        log = self._logs[partition]
        if log.is_closed:  # it is being deleted; where its directory stands in the way of that, this was told
            return False
        try:
            log.flush()
            log.store_clean_state()
        except ApiError as error:
            _log.error("log not flushed", partition=str(partition), reason=error.message)
            return False
        finally:
            log.close()
        return True

    def _unlock(self) -> None:
        for directory in self._directories:
            directory.unlock()
