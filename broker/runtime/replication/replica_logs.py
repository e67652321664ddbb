"""Which log a replica has: made when the partition first comes here, freed when it is deleted. A log that another topic
of the same name wrote is set aside as stray. Whatever may take long on a slow disk is done on worker threads.
"""

import asyncio
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

from broker.common.errors import ApiError, ErrorCode
from broker.common.logs import logger
from broker.common.types import NO_BROKER, TopicPartition, may_be_same_topic
from broker.log.cold_parts import ColdPart
from broker.log.gaps import OffsetGap
from broker.log.log import Log
from broker.log.manager import LogManager, NewLog
from broker.protocol.messages.leader_and_isr import LeaderAndIsrPartitionState
from broker.runtime.disk.executor import DiskExecutor, still_under_way
from broker.runtime.disk.group_flushes import GroupFlushes
from broker.runtime.disk.log_cuts import LogCuts
from broker.runtime.disk.log_start_notes import LogStartNotes
from broker.runtime.replication.hosted_partition import HostedPartition

_log = logger(__name__)
_T = TypeVar("_T")


class ReplicaLogs:
    """The log manager as `ReplicaManager` uses it, on the broker's loop."""

    def __init__(self, logs: LogManager):
        self._logs = logs
        self._disk = DiskExecutor()
        #: Threads of their own: readers and producers do not wait behind a thousand cuts.
        self._reads, self._flushing = DiskExecutor(), DiskExecutor()
        self.flushes = GroupFlushes(self._flushing)
        self.log_starts = LogStartNotes(logs, self._flushing)
        self.cuts = LogCuts(logs, self._disk)
        self.copies = LogCopies()
        #: In use, though another topic of the name was given a role: `StrayLogs` asks which of both there is.
        self.doubted: set[TopicPartition] = set()
        self._purging: asyncio.Task[None] | None = None
        self._is_purge_due = False
        #: Followers wait for it whose directory is full.
        self._writable: asyncio.Future[None] | None = None

    async def create(self, missing: list[NewLog]) -> None:
        """Make these logs without stalling the loop. One that cannot be made is tried again by `open`, which also sets
        aside what is another topic's.
        """
        of_others = {new.partition for new in missing if self._is_of_another_topic(*new[:2])}
        to_delete = {new.partition for new in missing if self._logs.is_to_be_deleted(new.partition)}
        await self.copies.ended(of_others)
        await self.delete_all(to_delete - of_others)
        if missing:
            await asyncio.to_thread(self._logs.create_missing, missing)

    def open(self, topic_partition: TopicPartition, topic_id: UUID, *, is_new: bool) -> Log:
        """Return the partition's log, made if need be; raises ApiError, KAFKA_STORAGE_ERROR also while it is being
        cut.
        """
        if self._is_being_cut(topic_partition):
            raise _still_being_cut(topic_partition)
        if self._is_of_another_topic(topic_partition, topic_id):
            set_aside_other_topic(self._logs, topic_partition, topic_id)
        elif self._logs.is_to_be_deleted(topic_partition):
            self._delete(topic_partition)
        return self._logs.get_or_create(topic_partition, topic_id, is_new=is_new)

    def check(self, topic_partition: TopicPartition, topic_id: UUID) -> None:
        """Raises ApiError when the log in use is another topic's, is being cut, or its directory has failed."""
        if self._is_being_cut(topic_partition):
            raise _still_being_cut(topic_partition)
        try:
            self._logs.get_or_create(topic_partition, topic_id)
        except ApiError as error:
            if error.code is ErrorCode.INCONSISTENT_TOPIC_ID:
                self.doubted.add(topic_partition)
            raise

    def release_if_led_elsewhere(self, topic_partition: TopicPartition, state: LeaderAndIsrPartitionState) -> None:
        """Allow a missing log to be recreated if another broker leads, or if there is no other replica and nothing is
        set aside.
        """
        is_alone = len(state.replicas) == 1 and topic_partition not in self._logs.records_aside
        if is_alone or state.leader not in (NO_BROKER, self._logs.broker_id):
            self._logs.withheld.discard(topic_partition)

    def is_withheld(self, topic_partition: TopicPartition) -> bool:
        """Return whether the log is missing and not made anew, because another replica may have the records."""
        return topic_partition in self._logs.withheld

    def is_out_of_reach(self, topic_partition: TopicPartition) -> bool:
        """Return whether an unavailable log stays so until this broker restarts."""
        return self._logs.is_out_of_reach(topic_partition) and not self._logs.waits_for_room(topic_partition)

    def lost_offsets_of(self, topic_partition: TopicPartition) -> tuple[OffsetGap, ...]:
        """Return the gaps in the log: a follower that fetched from its end would join the ISR with them."""
        return self._logs.lost_offsets_of(topic_partition)

    def is_full(self, topic_partition: TopicPartition) -> bool:
        """Return whether the log's directory is full, and its leaderships are to be elsewhere."""
        room = self._logs.room_of(topic_partition)
        return room is not None and room.is_full

    def awaited_before_fetch(self, hosted: HostedPartition) -> asyncio.Future[None] | None:
        """Return what a follower's log waits for before the next fetch: None, an fsync, or room on its disk.

        A leader counts in whoever has caught up, and waits for each of its ISR. A replica that left the ISR because it
        handed over its leadership, and can write nothing, would join again and hold up the next acks=all.
        """
        where, log = hosted.partition.topic_partition, hosted.log
        room = self._logs.room_of(where)
        if room is not None and room.refuses_writes and not hosted.partition.is_in_sync:
            if self._writable is None:
                self._writable = asyncio.get_running_loop().create_future()
            return self._writable
        return self.flushes.begin(where, log) if log.is_flush_due else None

    def writable_again(self) -> None:
        """Resume replicas that waited for a full log directory; those in another one wait again."""
        writable, self._writable = self._writable, None
        if writable is not None:
            writable.set_result(None)

    def high_watermark_of(self, topic_partition: TopicPartition) -> int:
        return self._logs.high_watermark_of(topic_partition)

    async def delete_all(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, ApiError]:
        """Delete the logs for good, and return those that could not be deleted.

        For who holds off everybody that would give them a role meanwhile.
        """
        hanging = await self.cuts.ended(partitions) | await self.copies.ended(partitions)
        refused = {partition: _still_being_cut(partition) for partition in hanging}
        moves = [
            self._disk.submit(directory, self, partial(self._logs.move_aside, its_partitions))
            for directory, its_partitions in self._logs.close(set(partitions) - refused.keys()).items()
        ]
        for move in moves:
            refused |= self._logs.forget_deleted(await move)
            self.purge_soon()
        return refused

    def _is_being_cut(self, topic_partition: TopicPartition) -> bool:
        log = self._logs.get(topic_partition)
        return log is not None and log.is_lent

    def _delete(self, topic_partition: TopicPartition) -> None:
        if self._logs.delete(topic_partition):
            self.purge_soon()

    def purge_soon(self) -> None:
        """Free the disk of what was deleted, or moved to another directory."""
        self._is_purge_due = True
        if self._purging is None or self._purging.done():
            self._purging = asyncio.get_running_loop().create_task(self._purge())

    def noted_log_start(self, topic_partition: TopicPartition) -> int:
        """Return where the log would start after a kill, -1 without a log."""
        return self._logs.noted_log_start(topic_partition)

    async def fetch(self, parts: Collection[ColdPart]) -> None:
        """Returns when all that is cold has been read, or could not be."""
        await asyncio.wait([self._reads.submit(part.directory.parent, part, part.fetch) for part in parts])

    async def idle(self) -> None:
        """Returns when no log is at a worker thread's."""
        for disk in (self._disk, self._reads, self._flushing):
            await disk.idle()

    async def purged(self) -> None:
        """Returns when no deleted log is being freed."""
        if self._purging is not None:
            await asyncio.wait([self._purging])

    def topic_id_of(self, topic_partition: TopicPartition) -> UUID | None:
        return self._logs.topic_id_of(topic_partition)

    def _is_of_another_topic(self, topic_partition: TopicPartition, topic_id: UUID) -> bool:
        return not may_be_same_topic(self._logs.topic_id_of(topic_partition), topic_id)

    async def _purge(self) -> None:
        """Purge deleted logs one at a time; those deleted meanwhile come next."""
        while self._is_purge_due:
            self._is_purge_due = False
            try:
                await asyncio.to_thread(self._logs.purge_deleted)
            except OSError as error:
                _log.error("deleted logs stay on disk until the next start", reason=str(error))


def set_aside_other_topic(logs: LogManager, partition: TopicPartition, topic_id: UUID) -> None:
    """Set the log under the partition's name aside, which another topic wrote. Raises ApiError.

    Only a controller that asks to delete the replica (StopReplica) is certain that its records are to go. Another id
    alone may come from a directory restored from a backup, or from a znode that a foreign tool has changed.
    """
    noted = logs.topic_id_of(partition)
    logs.set_aside_as_stray(partition, f"it was written under topic id {noted}; the id of the topic is {topic_id}")


def _still_being_cut(topic_partition: TopicPartition) -> ApiError:
    return ApiError(
        ErrorCode.KAFKA_STORAGE_ERROR, f"the log of {topic_partition} is being cut or copied, and its disk hangs"
    )


class LogCopies:
    """File work on copies of logs that are to lie in another directory: one piece at a time for each partition.

    For the broker's loop. Its threads are its own: no other work waits behind a copy.
    """

    def __init__(self) -> None:
        self._disk = DiskExecutor()
        self._under_way: dict[TopicPartition, asyncio.Future[Any]] = {}

    def begin(self, partition: TopicPartition, directory: Path, work: Callable[[], _T]) -> "asyncio.Future[_T]":
        """Run `work`, which writes to the log directory. Cancelling the future does not stop it."""
        done = self._under_way[partition] = self._disk.submit(directory, partition, work)
        done.add_done_callback(partial(self._ended, partition))
        return done

    def _ended(self, partition: TopicPartition, done: "asyncio.Future[Any]") -> None:
        if self._under_way.get(partition) is done:
            del self._under_way[partition]

    async def ended(self, partitions: Collection[TopicPartition]) -> set[TopicPartition]:
        """Returns when no thread is at a copy of these; those where one still is after CUT_WAIT_S_MAX: the disk hangs.

        For who has seen to it that nothing is begun for them meanwhile.
        """
        return await still_under_way(self._under_way, partitions)

    async def idle(self) -> None:
        await self._disk.idle()
