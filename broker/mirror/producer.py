"""Writes batches to the target as one producer: idempotent, perhaps transactional, five of a partition under way.

A batch that is sent again is the same bytes with the same sequence number, which its broker recognises, so that nothing
is twice in a partition for as long as this producer lives.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from broker.client.connection import BrokerConnection, Sent
from broker.client.coordinators import Coordinators
from broker.client.errors import BrokerUnreachable, told_code
from broker.client.leaders import Address, Leaders
from broker.client.transactions import (
    ProducerIdentity,
    add_partitions,
    end_transaction,
    init_producer,
)
from broker.common.errors import ApiError, BarnabasError, ErrorCode
from broker.common.types import TopicPartition
from broker.mirror.batches import Batch, stamp
from broker.protocol.messages.init_producer_id import InitProducerIdRequest
from broker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

_ACKS_ALL = -1
_REPLICAS_TIMEOUT_MS = 30_000
_PAUSE_S = 0.1
#: How long a partition may take nothing, whose leader is away or whose replicas are too few.
PATIENCE_S = 30.0
#: Of a partition; brokers remember five to recognise one that comes again.
IN_FLIGHT = 5
#: Of one request with batches of several partitions.
_REQUEST_BYTES = 8 << 20
T = TypeVar("T")
_SEQUENCES = 1 << 31
#: Of a transaction whose mirror has died: as long as readers of committed records wait.
TRANSACTION_TIMEOUT_MS = 90_000


class Fenced(BarnabasError):
    """Somebody else writes under the transactional id now."""


class WriteStopped(BarnabasError):
    """The mirror is to end, and what it wanted to write is not known to be written."""


class Written(NamedTuple):
    """Base offsets of a partition's first batches, -1 where it is not known; and why there are no more than these."""

    offsets: list[int]
    refusal: ApiError | None


class _Queue:
    """What of one partition is not acknowledged, in order: number, bytes."""

    def __init__(self, batches: Sequence[Batch]):
        self.left = list(enumerate(batches))
        self.offsets = [-1] * len(batches)
        self.refusal: ApiError | None = None

    def refuse(self, error: ApiError) -> int:
        """The sequence number the partition goes on with: that of the first batch which is not there."""
        number, batch = self.left[0]
        self.offsets, self.left, self.refusal = self.offsets[:number], [], error
        return int.from_bytes(batch[53:57])

    def settle(self, number: int, offset: int) -> None:
        self.offsets[number] = offset
        self.left = [each for each in self.left if each[0] != number]


_UnderWay = tuple[Address, BrokerConnection, Sent, dict[TopicPartition, int]]


class BatchProducer:
    """On one thread. `transactional_id` None: idempotent only."""

    def __init__(
        self,
        leaders: Leaders,
        coordinators: Coordinators,
        ask_any: Callable[..., Any],
        transactional_id: str | None,
        is_stopped: Callable[[], bool],
    ):
        self._leaders, self._coordinators, self._ask_any = leaders, coordinators, ask_any
        self._transactional_id = transactional_id
        self._is_stopped = is_stopped
        self._sequences: dict[TopicPartition, int] = {}
        self._touched: set[TopicPartition] = set()
        self._who = self._new_identity()

    @property
    def producer_id(self) -> int:
        return self._who.producer_id

    def _new_identity(self) -> ProducerIdentity:
        """With a transactional id: whoever used it before cannot write any more, and his transaction is aborted."""
        transactional_id = self._transactional_id
        if transactional_id is not None:
            return self._told(lambda: init_producer(self._coordinators, transactional_id, TRANSACTION_TIMEOUT_MS))
        while True:
            answer = self._ask_any(InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=0))
            code = told_code(answer.error_code)
            if code is ErrorCode.NONE:
                return ProducerIdentity("", answer.producer_id, answer.producer_epoch)
            self._pause(ApiError(code))

    @property
    def is_within(self) -> bool:
        """Whether a transaction is open."""
        return bool(self._touched)

    def write(self, batches: Mapping[TopicPartition, Sequence[Batch]]) -> dict[TopicPartition, Written]:
        """Returns when each is acknowledged by all in-sync replicas, or refused for good.

        They are stamped in place. What may pass is waited for, until the mirror is to end. Raises Fenced, WriteStopped,
        ApiError; then the producer is of no more use.
        """
        self._enter(batches)
        queues = {}
        for partition, those in batches.items():
            for batch in those:
                self._stamp(partition, batch)
            queues[partition] = _Queue(those)
        left = dict(queues)
        deadline = time.monotonic() + PATIENCE_S
        while left:
            trouble = self._round(left)
            left = {partition: queue for partition, queue in left.items() if queue.left}
            if left and trouble is not None:
                self._pause(trouble)
                if time.monotonic() >= deadline:
                    self._give_up(left, trouble)
        return {partition: Written(queue.offsets, queue.refusal) for partition, queue in queues.items()}

    def _give_up(self, left: dict[TopicPartition, _Queue], trouble: BarnabasError) -> None:
        """Those that take nothing for so long must not keep the others waiting."""
        for partition, queue in left.items():
            code = trouble.code if isinstance(trouble, ApiError) else ErrorCode.REQUEST_TIMED_OUT
            message = f"{partition} took nothing in {PATIENCE_S:g} s: {trouble}"
            self._sequences[partition] = queue.refuse(ApiError(code, message))
        left.clear()

    def _enter(self, partitions: Iterable[TopicPartition]) -> None:
        fresh = [partition for partition in partitions if partition not in self._touched]
        if fresh and self._transactional_id is not None:
            self._told(lambda: add_partitions(self._coordinators, self._who, fresh))
            self._touched.update(fresh)

    def commit(self) -> None:
        """What was written since the last commit becomes visible at once. Raises Fenced."""
        if self._touched:
            self._told(lambda: end_transaction(self._coordinators, self._who, commit=True))
            self._touched.clear()

    def abort(self) -> None:
        if self._touched:
            self._told(lambda: end_transaction(self._coordinators, self._who, commit=False))
            self._touched.clear()

    def _told(self, ask: Callable[[], T]) -> T:
        while True:
            if self._is_stopped() and not self._touched:
                raise WriteStopped("stopped before anything was begun")
            try:
                return ask()
            except BrokerUnreachable as error:
                self._pause(error)
            except ApiError as error:
                if error.code in _FENCED:
                    raise Fenced(f"{self._transactional_id}: {error.code.meaning}") from None
                if not error.code.retriable:
                    raise
                self._pause(error)

    def _stamp(self, partition: TopicPartition, batch: Batch) -> None:
        sequence = self._sequences.get(partition, 0)
        is_transactional = self._transactional_id is not None
        stamp(batch, self._who.producer_id, self._who.epoch, sequence, is_transactional=is_transactional)
        count = int.from_bytes(batch[57:61])
        self._sequences[partition] = (sequence + count) % _SEQUENCES

    def _round(self, left: dict[TopicPartition, _Queue]) -> BarnabasError | None:
        """The next of each partition to its leader. What hindered some of it, if anything did."""
        trouble: BarnabasError | None = None
        under_way: list[_UnderWay] = []
        try:
            led = self._leaders.by_address(left)
        except (ApiError, BrokerUnreachable) as error:
            return self._retriable(error)
        for address, partitions in led.items():
            for numbers in _requests({partition: left[partition] for partition in partitions}):
                try:
                    connection = self._leaders.connection(next(iter(numbers)))
                    sent = connection.send(self._request({tp: left[tp].left for tp in numbers}, numbers))
                except (ApiError, BrokerUnreachable) as error:
                    trouble = self._broken(next(iter(numbers)), error)
                    break
                under_way.append((address, connection, sent, numbers))
        try:
            return self._answers(under_way, left) or trouble
        except BaseException:
            # Answers that nobody took would be taken for those of the next requests.
            for _, _, _, numbers in under_way:
                self._leaders.forget(next(iter(numbers)), connection_broken=True)
            raise

    def _answers(self, under_way: list[_UnderWay], left: dict[TopicPartition, _Queue]) -> BarnabasError | None:
        trouble: BarnabasError | None = None
        broken: set[Address] = set()
        for address, connection, sent, numbers in under_way:
            if address in broken:
                continue
            try:
                answer = connection.answer(sent, timeout_s=_REPLICAS_TIMEOUT_MS / 1000 + 5)
            except BrokerUnreachable as error:
                broken.add(address)
                trouble = self._broken(next(iter(numbers)), error)
                continue
            trouble = self._heed(answer, left, numbers) or trouble
        return trouble

    def _retriable(self, error: ApiError | BrokerUnreachable) -> BarnabasError:
        if isinstance(error, ApiError) and not error.code.retriable:
            raise error
        return error

    def _broken(self, partition: TopicPartition, error: ApiError | BrokerUnreachable) -> BarnabasError:
        self._leaders.forget(partition, connection_broken=isinstance(error, BrokerUnreachable))
        return self._retriable(error)

    def _request(
        self, left: Mapping[TopicPartition, Sequence[tuple[int, Batch]]], numbers: Mapping[TopicPartition, int]
    ) -> ProduceRequest:
        topics: dict[str, list[PartitionProduceData]] = {}
        for partition, number in numbers.items():
            batch = next(each for at, each in left[partition] if at == number)
            topics.setdefault(partition.topic, []).append(
                PartitionProduceData(index=partition.partition, records=batch)
            )
        return ProduceRequest(
            transactional_id=self._transactional_id,
            acks=_ACKS_ALL,
            timeout_ms=_REPLICAS_TIMEOUT_MS,
            topic_data=[TopicProduceData(name=name, partition_data=data) for name, data in topics.items()],
        )

    def _heed(
        self, answer: Any, left: Mapping[TopicPartition, _Queue], numbers: Mapping[TopicPartition, int]
    ) -> BarnabasError | None:
        trouble: BarnabasError | None = None
        for topic in answer.responses:
            for each in topic.partition_responses:
                partition, code = TopicPartition(topic.name, each.index), told_code(each.error_code)
                queue, number = left[partition], numbers[partition]
                if queue.refusal is not None:
                    continue
                if code in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
                    queue.settle(number, each.base_offset if code is ErrorCode.NONE else -1)
                elif code in _FENCED:
                    raise Fenced(f"{partition}: {code.meaning}")
                elif code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER and queue.left[0][0] != number:
                    trouble = ApiError(code, f"{partition}: one before it was not taken")
                elif code.retriable and code is not ErrorCode.CORRUPT_MESSAGE:
                    trouble = ApiError(code, f"{partition}: {code.meaning}")
                    self._leaders.forget(partition)
                else:
                    refusal = ApiError(code, f"{partition}: {each.error_message or code.meaning}")
                    self._sequences[partition] = queue.refuse(refusal)
        return trouble

    def _pause(self, reason: BarnabasError) -> None:
        if self._is_stopped():
            raise WriteStopped(f"stopped while the target takes nothing: {reason}")
        time.sleep(_PAUSE_S)


_FENCED = frozenset(
    (
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        ErrorCode.INVALID_TXN_STATE,
    )
)


def _requests(queues: Mapping[TopicPartition, _Queue]) -> list[dict[TopicPartition, int]]:
    """Partition → number of its batch, for each of the requests that are sent before the first answer is awaited."""
    requests: list[dict[TopicPartition, int]] = []
    for depth in range(IN_FLIGHT):
        request: dict[TopicPartition, int] = {}
        size = 0
        for partition, queue in queues.items():
            if depth >= len(queue.left):
                continue
            number, batch = queue.left[depth]
            if request and size + len(batch) > _REQUEST_BYTES:
                requests.append(request)
                request, size = {}, 0
            request[partition] = number
            size += len(batch)
        if request:
            requests.append(request)
    return requests
