"""Batches on their way to the log of a topic with a codec of its own (compression.type): packed anew before.

Only a leader does that, as in Kafka; followers and compaction keep what they find. Packing takes milliseconds for a
megabyte, some codecs a hundred, so worker threads do it, two at a time. Meanwhile what comes for the same partition
stands in line: batches are appended in the order they came in, whatever had to be done with each.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from inspect import isawaitable
from typing import TypeVar

from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import PRODUCED_DECOMPRESSED_BYTES_MAX, REPACKING_BYTES_MAX
from broker.common.types import TopicPartition
from broker.log.validation import BatchValidation
from broker.protocol.messages.produce import PartitionProduceData
from broker.protocol.primitives import Buffer
from broker.records.batch import COMPRESSION_BITS, check_produced_batch, parse_batch_header
from broker.records.repacking import Packing, Repacked, repack_batch
from broker.runtime.in_turns import InOrder, once_done
from broker.runtime.replication.hosted_partition import HostedPartition, ProduceResult
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.runtime.replication.transactional_appends import Append
from broker.runtime.topics.internal_topics import INTERNAL_TOPICS

T = TypeVar("T")

Sent = Sequence[tuple[TopicPartition, PartitionProduceData]]
#: Makes of an append one that refuses the batches that could not be packed.
Guard = Callable[[Append], Append]
#: What is to happen with the batches as they are then; it may give its answer later.
Then = Callable[[Guard], T | Awaitable[T] | InOrder]

_THREADS = 2


class _Ticket:
    """A request's place in the line of each of its partitions; `is_first` when it is the first of all of them."""

    __slots__ = ("is_first", "partitions")

    def __init__(self, partitions: set[TopicPartition]):
        self.partitions = partitions
        self.is_first = asyncio.Event()


class Repacking:
    """Repacking of all partitions this broker leads."""

    def __init__(self, replicas: ReplicaManager):
        self._replicas = replicas
        #: To which clients produce and whose topics name a codec, or did when somebody came who still waits. Mostly
        #: there is none, so this is looked at first.
        self.partitions: set[TopicPartition] = set()
        self._lines: dict[TopicPartition, deque[_Ticket]] = {}
        self._bytes_waiting = 0
        self._cores = asyncio.Semaphore(_THREADS)
        replicas.on_role.append(self._on_change)
        replicas.on_config.append(self._on_change)

    def when_packed(self, sent: Sent, then: Then[T]) -> T | Awaitable[T] | InOrder:
        """Call `then(guard)`, when the batches of `sent` are packed as their topics say: now if they are.

        What cannot be unpacked is refused with CORRUPT_MESSAGE, and with NOT_ENOUGH_REPLICAS (try again) what comes
        while too much waits.
        """
        concerned = {topic_partition for topic_partition, _ in sent if topic_partition in self.partitions}
        to_pack = [item for item in sent if item[0] in concerned and self._is_packed_otherwise(*item)]
        if not to_pack and concerned.isdisjoint(self._lines):
            return then(_as_it_is)
        size = sum(len(data.records or b"") for _, data in sent)
        if self._bytes_waiting + size > REPACKING_BYTES_MAX:
            error = ApiError(ErrorCode.NOT_ENOUGH_REPLICAS, "too many batches wait to be packed (compression.type)")
            return then(_guard(dict.fromkeys(concerned, error)))
        self._bytes_waiting += size
        return self._in_turn(self._stand_in_line(concerned), to_pack, size, then)

    async def _in_turn(self, ticket: _Ticket, to_pack: Sent, size: int, then: Then[T]) -> T:
        try:
            refused = await self._pack_all(to_pack)
            await ticket.is_first.wait()
            reply = await once_done(then(_guard(refused) if refused else _as_it_is))
        finally:
            self._bytes_waiting -= size
            self._leave(ticket)
        result: T = await reply if isawaitable(reply) else reply
        return result

    async def _pack_all(self, to_pack: Sent) -> dict[TopicPartition, ApiError]:
        refused: dict[TopicPartition, ApiError] = {}
        left = PRODUCED_DECOMPRESSED_BYTES_MAX
        for topic_partition, data in to_pack:
            packing, records = self._packing_of(topic_partition), data.records
            if packing is None or records is None:
                continue
            try:
                async with self._cores:
                    data.records, unpacked_bytes = await asyncio.to_thread(_repack, records, packing, left)
                left -= unpacked_bytes
            except ApiError as error:
                refused[topic_partition] = error
        return refused

    # -- what is to be packed

    def _on_change(self, hosted: HostedPartition) -> None:
        topic_partition = hosted.partition.topic_partition
        if topic_partition in self._lines or _is_to_be_packed(hosted):
            self.partitions.add(topic_partition)
        else:
            self.partitions.discard(topic_partition)

    def _line_has_ended(self, topic_partition: TopicPartition) -> None:
        hosted = self._replicas.get(*topic_partition)
        if hosted is None or not _is_to_be_packed(hosted):
            self.partitions.discard(topic_partition)

    def _packing_of(self, topic_partition: TopicPartition) -> Packing | None:
        hosted = self._replicas.get(*topic_partition)
        return hosted.log.config.packing if hosted is not None else None

    def _is_packed_otherwise(self, topic_partition: TopicPartition, data: PartitionProduceData) -> bool:
        """Return whether the batch is compressed otherwise than its topic wants; False for data that will be refused
        anyway.
        """
        hosted = self._replicas.get(*topic_partition)
        records = data.records
        if hosted is None or records is None or (packing := hosted.log.config.packing) is None:
            return False
        try:
            header = parse_batch_header(records)
        except ApiError:
            return False
        is_other = header.attributes & COMPRESSION_BITS != packing.compression
        return is_other and len(records) <= hosted.log.config.max_message_bytes

    # -- lines

    def _stand_in_line(self, partitions: set[TopicPartition]) -> _Ticket:
        ticket = _Ticket(partitions)
        for topic_partition in partitions:
            self._lines.setdefault(topic_partition, deque()).append(ticket)
        self._call(ticket)
        return ticket

    def _leave(self, ticket: _Ticket) -> None:
        """Leave the queue, perhaps from the middle, if the client has hung up."""
        for topic_partition in ticket.partitions:
            line = self._lines[topic_partition]
            line.remove(ticket)
            if line:
                self._call(line[0])
            else:
                del self._lines[topic_partition]
                self._line_has_ended(topic_partition)

    def _call(self, ticket: _Ticket) -> None:
        if all(self._lines[partition][0] is ticket for partition in ticket.partitions):
            ticket.is_first.set()


def _is_to_be_packed(hosted: HostedPartition) -> bool:
    is_for_clients = hosted.partition.topic_partition.topic not in INTERNAL_TOPICS
    return is_for_clients and hosted.partition.is_leader and hosted.log.config.packing is not None


def _repack(batch: Buffer, packing: Packing, unpacked_bytes_max: int) -> Repacked:
    """Repack a batch on a worker thread."""
    return repack_batch(batch, check_produced_batch(batch), packing, unpacked_bytes_max)


def _as_it_is(append: Append) -> Append:
    return append


def _guard(refused: dict[TopicPartition, ApiError]) -> Guard:
    def guard(append: Append) -> Append:
        def append_packed(
            topic_partition: TopicPartition,
            batch: bytearray | memoryview,
            *,
            is_for_all: bool = False,
            look: BatchValidation = BatchValidation.WHOLE,
        ) -> ProduceResult:
            if topic_partition in refused:
                raise refused[topic_partition]
            return append(topic_partition, batch, is_for_all=is_for_all, look=look)

        return append_packed

    return guard
