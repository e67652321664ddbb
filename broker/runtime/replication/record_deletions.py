"""DeleteRecords that wait until every live replica has let go of the records too (KIP-107).

A log start that no follower knows dies with its leader: whoever led next would show the deleted records again. There
are few such requests: those of a partition are looked at when a follower says where its log starts, and all of them
every 100 ms, when time may be up, or a broker that was waited for be gone.
"""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from broker.common.clock import Clock
from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.runtime.disk.log_start_notes import Refusals
from broker.runtime.replication.hosted_partition import HostedPartition
from broker.runtime.replication.replica_manager import ReplicaManager

_SWEEP_S = 0.1
_NO_OFFSET = -1


class PartitionDeletion(NamedTuple):
    """The new log start of all live replicas of a partition this broker leads, or later."""

    hosted: HostedPartition
    offset: int


class DeletedRecords(NamedTuple):
    """What became of a deletion, and the low watermark: before it no live replica has anything."""

    code: ErrorCode
    low_watermark: int


Response = TypeVar("Response")
#: What a request is answered, from what became of each of its deletions.
Respond = Callable[[list[DeletedRecords]], Response]


class _DeletionWaiter(Generic[Response]):
    """One request; of each partition still `undecided`, its place in the answer."""

    __slots__ = ("deadline_ms", "deletions", "future", "outcomes", "respond", "undecided")

    def __init__(
        self,
        deletions: Sequence[PartitionDeletion],
        future: asyncio.Future[Response],
        respond: Respond[Response],
        deadline_ms: int,
    ):
        self.deletions = deletions
        self.outcomes = [DeletedRecords(ErrorCode.REQUEST_TIMED_OUT, _NO_OFFSET)] * len(deletions)
        self.undecided = {deletion.hosted.partition.topic_partition: at for at, deletion in enumerate(deletions)}
        self.future = future
        self.respond = respond
        self.deadline_ms = deadline_ms

    def decide(self, topic_partition: TopicPartition, outcome: DeletedRecords) -> None:
        self.outcomes[self.undecided.pop(topic_partition)] = outcome
        if not self.undecided and not self.future.done():
            self.future.set_result(self.respond(self.outcomes))


class RecordDeletions:
    """Waits of all partitions this broker leads."""

    def __init__(self, replicas: ReplicaManager, is_live: Callable[[int], bool], clock: Clock):
        """`is_live`: whether the cluster counts a broker as alive; the others need not let go of anything."""
        self._replicas = replicas
        self._is_live = is_live
        self._clock = clock
        self._waiting: dict[TopicPartition, list[_DeletionWaiter[Any]]] = {}
        self._sweep_timer: asyncio.TimerHandle | None = None
        replicas.on_role.append(self.on_news)

    def __len__(self) -> int:
        """Partitions somebody waits for."""
        return len(self._waiting)

    def plan(self, topic: str, partition: int, offset: int) -> PartitionDeletion:
        """Return the deletion of what is before `offset` (-1: all that is committed) in a log this broker leads.

        Raises ApiError: POLICY_VIOLATION where nothing is ever deleted for its age, OFFSET_OUT_OF_RANGE, or what says
        that this broker may not serve the partition.
        """
        hosted = self._replicas.leader_log(topic, partition)
        if not hosted.log.config.is_deleted:
            raise ApiError(ErrorCode.POLICY_VIOLATION, "records of a topic that is only compacted are not deleted")
        return PartitionDeletion(hosted, hosted.log.deletion_offset(offset, hosted.partition.high_watermark))

    async def carry_out(self, deletions: Sequence[PartitionDeletion]) -> dict[TopicPartition, ApiError]:
        """Note where the logs are to start, and then let them: neither readers nor followers hear of a deletion that a
        kill would undo. Return which could not be done, and why: in those logs nothing is deleted.
        """
        by_directory: dict[Path, dict[TopicPartition, int]] = {}
        for hosted, offset in deletions:
            by_directory.setdefault(hosted.log.directory.parent, {})[hosted.partition.topic_partition] = offset
        refused: Refusals = {}
        for noted in [self._replicas.logs.log_starts.begin(*starts) for starts in by_directory.items()]:
            refused |= await asyncio.shield(noted)
        for deletion in deletions:
            topic_partition = deletion.hosted.partition.topic_partition
            try:
                if topic_partition not in refused:
                    self._delete(deletion)
            except ApiError as error:
                refused[topic_partition] = error
        return refused

    def _delete(self, deletion: PartitionDeletion) -> None:
        hosted, offset = deletion
        if self._replicas.logs.noted_log_start(hosted.partition.topic_partition) < offset:
            reason = "the log was cut, moved or removed before the deletion was noted; delete again"
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, reason)
        hosted.log.delete_records(offset, hosted.partition.high_watermark)
        self._replicas.log_start_moved(hosted)

    def wait(
        self, deletions: Sequence[PartitionDeletion], timeout_ms: int, respond: Respond[Response]
    ) -> asyncio.Future[Response]:
        """Wait for the deletions (at least one, a partition once) and return `respond` of their results.

        NONE, NOT_LEADER_OR_FOLLOWER or KAFKA_STORAGE_ERROR (whoever leads next may have the records still),
        REQUEST_TIMED_OUT (a live replica may).
        """
        future: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        waiter = _DeletionWaiter(deletions, future, respond, self._clock.monotonic_ms() + timeout_ms)
        for topic_partition in list(waiter.undecided):
            if self._is_undecided(waiter, topic_partition):
                self._waiting.setdefault(topic_partition, []).append(waiter)
        if waiter.undecided and self._sweep_timer is None:
            self._arm()
        return future

    def close(self) -> None:
        if self._sweep_timer:
            self._sweep_timer.cancel()

    def on_news(self, hosted: HostedPartition) -> None:
        """Answer deletions that wait for a replica which starts elsewhere, or has another role."""
        topic_partition = hosted.partition.topic_partition
        if topic_partition in self._waiting:
            self._look(topic_partition)

    def _look(self, topic_partition: TopicPartition) -> None:
        left = [item for item in self._waiting[topic_partition] if self._is_undecided(item, topic_partition)]
        if left:
            self._waiting[topic_partition] = left
        else:
            del self._waiting[topic_partition]

    def _is_undecided(self, waiter: _DeletionWaiter[Response], topic_partition: TopicPartition) -> bool:
        """Return whether the deletion is wanted and undecided; a timed-out waiter is answered."""
        hosted, offset = waiter.deletions[waiter.undecided[topic_partition]]
        outcome = self._outcome(hosted, offset, is_over=waiter.deadline_ms <= self._clock.monotonic_ms())
        if outcome is not None:
            waiter.decide(topic_partition, outcome)
        return outcome is None and not waiter.future.done()

    def _outcome(self, hosted: HostedPartition, offset: int, *, is_over: bool) -> DeletedRecords | None:
        if not hosted.partition.is_leader:
            return DeletedRecords(hosted.partition.refusal, _NO_OFFSET)
        low_watermark = hosted.partition.low_watermark(hosted.log.log_start_offset, self._is_live)
        if low_watermark >= offset:
            return DeletedRecords(ErrorCode.NONE, low_watermark)
        return DeletedRecords(ErrorCode.REQUEST_TIMED_OUT, low_watermark) if is_over else None

    def _arm(self) -> None:
        self._sweep_timer = asyncio.get_running_loop().call_later(_SWEEP_S, self._sweep)

    def _sweep(self) -> None:
        self._sweep_timer = None
        try:
            for topic_partition in list(self._waiting):
                self._look(topic_partition)
        finally:
            if self._waiting:
                self._arm()
