"""Which log a replica has: made when the partition first comes here, never that of an earlier topic of the same name,
freed when it is deleted. Whatever may take long on a slow disk is done on worker threads.
"""

import asyncio
from uuid import UUID

from broker.common.logs import logger
from broker.common.types import TopicPartition
from broker.log.log import Log
from broker.log.manager import LogManager, NewLog

_log = logger(__name__)


class ReplicaLogs:
    """The log manager as `ReplicaManager` uses it, on the broker's loop."""

    def __init__(self, logs: LogManager):
        self._logs = logs
        self._purging: asyncio.Task | None = None
        self._is_purge_due = False

    async def create(self, missing: list[NewLog]) -> None:
        """Make these logs without stalling the loop. One that cannot be made is tried again by `open`."""
        for new in missing:
            self._drop_of_earlier_topic(new.partition, new.topic_id)
        if missing:
            await asyncio.to_thread(self._logs.create_missing, missing)

    def open(self, topic_partition: TopicPartition, topic_id: UUID, *, is_new: bool) -> Log:
        """The partition's log, made if need be; raises ApiError."""
        self._drop_of_earlier_topic(topic_partition, topic_id)
        return self._logs.get_or_create(topic_partition, topic_id, is_new=is_new)

    def check(self, topic_partition: TopicPartition, topic_id: UUID) -> None:
        """Raises ApiError when the log in use is another topic's, or its directory has failed."""
        self._logs.get_or_create(topic_partition, topic_id)

    def high_watermark_of(self, topic_partition: TopicPartition) -> int:
        return self._logs.high_watermark_of(topic_partition)

    def delete(self, topic_partition: TopicPartition) -> None:
        """Its records are gone for good; the disk is freed soon. Raises ApiError."""
        if self._logs.delete(topic_partition):
            self._is_purge_due = True
            if self._purging is None or self._purging.done():
                self._purging = asyncio.get_running_loop().create_task(self._purge())

    async def purged(self) -> None:
        """Returns when no deleted log is being freed."""
        if self._purging is not None:
            await asyncio.wait([self._purging])

    def _drop_of_earlier_topic(self, topic_partition: TopicPartition, topic_id: UUID) -> None:
        """A topic deleted and created again while we were away must not show its old records."""
        found = self._logs.topic_id_of(topic_partition)
        if found is not None and found != topic_id:
            _log.warning("topic was created anew, old log deleted", partition=str(topic_partition), old_topic_id=found)
            self.delete(topic_partition)

    async def _purge(self) -> None:
        """One log at a time; what is deleted meanwhile comes next."""
        while self._is_purge_due:
            self._is_purge_due = False
            try:
                await asyncio.to_thread(self._logs.purge_deleted)
            except OSError as error:
                _log.error("deleted logs stay on disk until the next start", reason=str(error))
