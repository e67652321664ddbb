"""All logs of a broker, over all its log directories.

Life: construct (locks the directories), `set_cluster_id` once ZooKeeper has told it, `load_all`, then `get`,
`get_or_create`, `delete` as the controller orders, and `shutdown`. `load_all`, `purge_deleted` and `shutdown` may take
long and are for a worker thread; the owner must not use the manager during `load_all` and `shutdown`.

A topic that is deleted and made again has the same name and another id. Each partition directory notes its id, and
nothing is ever read or written under a name whose id is not the expected one.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from uuid import UUID

from broker.common.errors import ApiError, ErrorCode, StartupError
from broker.common.logs import logger
from broker.common.types import TopicPartition
from broker.log.checkpoints import PARTITION_METADATA, read_partition_metadata, write_partition_metadata
from broker.log.config import LogConfig
from broker.log.directory import LogDirectory
from broker.log.files import fsync_directory, remove_tree
from broker.log.log import Log

_log = logger(__name__)


class LogManager:
    """One per broker process."""

    def __init__(self, log_dirs: list[Path], config: LogConfig, broker_id: int, cluster_id: str | None = None):
        """Lock and check every directory, made if missing. Raises StartupError, then none stays locked."""
        self._config = config
        self._broker_id = broker_id
        self._directories: list[LogDirectory] = []
        self._logs: dict[TopicPartition, Log] = {}
        self._topic_ids: dict[TopicPartition, UUID] = {}
        self._homes: dict[TopicPartition, LogDirectory] = {}
        self._set_aside: list[Path] = []
        try:
            for path in log_dirs:
                self._directories.append(LogDirectory(path))
            self.set_cluster_id(cluster_id)
        except BaseException:
            self._unlock()
            raise

    def set_cluster_id(self, cluster_id: str | None) -> None:
        """Note broker and cluster in each `meta.properties`. Raises StartupError if one says otherwise."""
        for directory in self._directories:
            directory.claim(self._broker_id, cluster_id)

    def load_all(self, progress: Callable[[int, int], None] = lambda loaded, total: None) -> None:
        """Open every log there is, recovering after an unclean stop; `progress` hears (loaded, total) after each.

        Raises StartupError if a log cannot be opened, or is in two directories.
        """
        found = []
        for directory in self._directories:
            is_clean = directory.take_clean_marker()
            directory.purge_leftovers()
            found += [(directory, partition, is_clean) for partition in directory.partitions()]
        for loaded, (directory, partition, is_clean) in enumerate(found, start=1):
            self._load(directory, partition, is_clean=is_clean)
            progress(loaded, len(found))
        for directory in self._directories:
            directory.is_loaded = True

    def _load(self, directory: LogDirectory, partition: TopicPartition, *, is_clean: bool) -> None:
        path = directory.path / str(partition)
        if partition in self._logs:
            raise StartupError(f"The partition {partition} is in {self._logs[partition].directory} and in {path}.")
        try:
            topic_id = read_partition_metadata(path / PARTITION_METADATA)
            log = Log.open(path, self._config, is_clean=is_clean)
        except OSError as error:
            raise StartupError(f"The log {path} cannot be opened: {error.strerror}: {error.filename}.") from error
        self._enter(partition, log, directory, topic_id)

    def _enter(self, partition: TopicPartition, log: Log, directory: LogDirectory, topic_id: UUID | None) -> None:
        self._logs[partition] = log
        self._homes[partition] = directory
        directory.logs_count += 1
        if topic_id is not None:
            self._topic_ids[partition] = topic_id

    @property
    def logs(self) -> Mapping[TopicPartition, Log]:
        """A live, read-only view."""
        return MappingProxyType(self._logs)

    def get(self, partition: TopicPartition) -> Log | None:
        return self._logs.get(partition)

    def topic_id_of(self, partition: TopicPartition) -> UUID | None:
        """The id the log was made under, None if there is no log, or one from before ids were noted."""
        return self._topic_ids.get(partition)

    def get_or_create(self, partition: TopicPartition, topic_id: UUID) -> Log:
        """The log of the partition; a new one goes where the fewest are.

        Raises ApiError: INCONSISTENT_TOPIC_ID if the log there is belongs to another topic of the same name (`delete`
        it first), KAFKA_STORAGE_ERROR if it cannot be made.
        """
        log = self._logs.get(partition)
        if log is not None and self._topic_ids.get(partition) == topic_id:
            return log
        if partition in self._topic_ids:
            raise ApiError(
                ErrorCode.INCONSISTENT_TOPIC_ID,
                f"the log of {partition} was written under topic id {self._topic_ids[partition]}, not {topic_id}",
            )
        try:
            return self._create(partition, topic_id) if log is None else self._adopt(partition, log, topic_id)
        except OSError as error:
            raise ApiError(
                ErrorCode.KAFKA_STORAGE_ERROR, f"the log of {partition} cannot be made: {error.strerror}"
            ) from error

    def _create(self, partition: TopicPartition, topic_id: UUID) -> Log:
        directory = min(self._directories, key=lambda directory: directory.logs_count)
        path = directory.path / str(partition)
        path.mkdir(exist_ok=True)
        write_partition_metadata(path / PARTITION_METADATA, topic_id)
        log = Log.open(path, self._config)
        fsync_directory(directory.path)
        self._enter(partition, log, directory, topic_id)
        return log

    def _adopt(self, partition: TopicPartition, log: Log, topic_id: UUID) -> Log:
        write_partition_metadata(log.directory / PARTITION_METADATA, topic_id)
        self._topic_ids[partition] = topic_id
        return log

    def delete(self, partition: TopicPartition) -> bool:
        """Close the log and move it aside, at once and for good; `purge_deleted` frees the disk. False if unknown.

        Slices that were read before stay valid. Raises ApiError(KAFKA_STORAGE_ERROR).
        """
        log = self._logs.get(partition)
        if log is None:
            return False
        log.close()
        try:
            aside = self._homes[partition].set_aside(partition)
        except OSError as error:
            raise ApiError(
                ErrorCode.KAFKA_STORAGE_ERROR, f"the log of {partition} cannot be moved aside: {error.strerror}"
            ) from error
        del self._logs[partition]
        self._homes.pop(partition).logs_count -= 1
        self._topic_ids.pop(partition, None)
        self._set_aside.append(aside)
        return True

    def purge_deleted(self) -> int:
        """Remove the files of deleted logs; how many logs that were. Safe on a thread while the owner goes on."""
        purged = 0
        while self._set_aside:
            remove_tree(self._set_aside.pop())
            purged += 1
        return purged

    def shutdown(self) -> None:
        """Flush and close every log, write the recovery points, mark the directories clean, unlock. Twice is fine.

        A directory whose logs could not all be flushed (or were never all opened) is not marked clean.
        """
        for directory in self._directories:
            partitions = [partition for partition, home in self._homes.items() if home is directory]
            failures = [partition for partition in partitions if not self._flush_and_close(partition)]
            if directory.is_loaded and not failures:
                self._leave_clean(directory, partitions)
            directory.is_loaded = False
        self._logs.clear()
        self._homes.clear()
        self._unlock()

    def _flush_and_close(self, partition: TopicPartition) -> bool:
        log = self._logs[partition]
        try:
            log.flush()
            log.take_producer_snapshot()
        except ApiError as error:
            _log.error("log not flushed", partition=str(partition), reason=error.message)
            return False
        finally:
            log.close()
        return True

    def _leave_clean(self, directory: LogDirectory, partitions: list[TopicPartition]) -> None:
        try:
            directory.leave_clean({partition: self._logs[partition].recovery_point for partition in partitions})
        except OSError as error:
            _log.error("log directory not marked clean", path=str(directory.path), reason=str(error))

    def _unlock(self) -> None:
        for directory in self._directories:
            directory.unlock()
