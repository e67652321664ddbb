"""Writes batches to the target as one producer: idempotent, perhaps transactional, five of a partition under way.

A batch that is sent again is the same bytes with the same sequence number, which its broker recognises, so that nothing
is twice in a partition for as long as this producer lives.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from broker.client.connection import BrokerConnection, SentRequest
from broker.client.coordinators import Coordinators
from broker.client.errors import BrokerUnreachable
from broker.client.leaders import Address, Leaders
from broker.client.transactions import (
    PRODUCE_VERSION_MAX,
    ProducerIdentity,
    add_partitions,
    end_transaction,
    init_producer,
)
from broker.common.errors import ApiError, BarnabasError, ErrorCode, error_code_of
from broker.common.types import TopicPartition
from broker.mirror.batches import Batch, stamp
from broker.mirror.queues import Queue, requests
from broker.mirror.throttle_state import TRANSACTION_WAITS_S, ThrottleState
from broker.protocol.messages.init_producer_id import InitProducerIdRequest
from broker.protocol.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData

_ACKS_ALL = -1
_REPLICAS_TIMEOUT_MS = 30_000
_PAUSE_S = 0.1
#: How long nobody may answer for a partition; how long one is waited for that is refused for now by who does answer,
#: for others wait meanwhile: its leader is away, its replicas are too few. Who took nothing then is asked once a time.
SILENT_S, _REFUSED_S = 30.0, 3.0
T = TypeVar("T")
_SEQUENCES = 1 << 31
#: Of a transaction whose mirror has died: as long as readers of committed records wait.
TRANSACTION_TIMEOUT_MS = 90_000


class Fenced(BarnabasError):
    """Another mirror writes under the transactional id now."""


class WriteStopped(BarnabasError):
    """The mirror is to end, and what it wanted to write is not known to be written."""


class BatchWrite(NamedTuple):
    """Base offsets of a partition's first batches, -1 where it is not known; and why there are no more than these."""

    offsets: list[int]
    refusal: ApiError | None


_UnderWay = tuple[Address, BrokerConnection, SentRequest[ProduceResponse], dict[TopicPartition, int]]


class BatchProducer:
    """Used by one thread. `transactional_id` None: idempotent only."""

    def __init__(
        self,
        leaders: Leaders,
        coordinators: Coordinators,
        ask_any: Callable[..., Any],
        transactional_id: str | None,
        is_stopped: Callable[[], bool],
        tired_of: set[TopicPartition] | None = None,
        patience: ThrottleState | None = None,
    ):
        self._leaders, self._coordinators, self._ask_any = leaders, coordinators, ask_any
        self._transactional_id = transactional_id
        self._is_stopped = is_stopped
        #: Partitions that took nothing for so long, until they take something.
        self._tired_of = set() if tired_of is None else tired_of
        self._patience = ThrottleState() if patience is None else patience
        self._sequences: dict[TopicPartition, int] = {}
        self._touched: set[TopicPartition] = set()
        self._who = self._new_identity()

    @property
    def producer_id(self) -> int:
        return self._who.producer_id

    def _new_identity(self) -> ProducerIdentity:
        """Return a new producer identity with the transactional id: its former holder is fenced, and its transaction is
        aborted.
        """
        transactional_id = self._transactional_id
        if transactional_id is not None:
            return self._with_retries(
                lambda: init_producer(self._coordinators, transactional_id, TRANSACTION_TIMEOUT_MS)
            )
        while True:
            answer = self._ask_any(InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=0))
            code = error_code_of(answer.error_code)
            if code is ErrorCode.NONE:
                return ProducerIdentity("", answer.producer_id, answer.producer_epoch)
            self._pause(ApiError(code))

    @property
    def is_within(self) -> bool:
        """Whether a transaction is open."""
        return bool(self._touched)

    def write(
        self, batches: Mapping[TopicPartition, Sequence[Batch]], refused_s: float = _REFUSED_S
    ) -> dict[TopicPartition, BatchWrite]:
        """Returns when each is acknowledged by all in-sync replicas, or refused for good.

        They are stamped in place. What may pass is waited for, until the mirror is to end. Raises Fenced, WriteStopped,
        ApiError; then the producer is of no more use.
        """
        queues = {partition: Queue(those) for partition, those in batches.items()}
        for partition, those in batches.items():
            for batch in those:
                self._stamp(partition, batch)
        self._enter(queues, refused_s)
        while left := {partition: queue for partition, queue in queues.items() if queue.left}:
            for queue in left.values():
                queue.trouble = None
            self._round(left)
            self._await(left, refused_s)
        self._tired_of.difference_update(partition for partition, queue in queues.items() if queue.refusal is None)
        return {partition: BatchWrite(queue.offsets, queue.refusal) for partition, queue in queues.items()}

    def _await(self, left: Mapping[TopicPartition, Queue], refused_s: float) -> None:
        """Wait a moment; refuse partitions that have accepted nothing for too long, because the others wait for
        them.
        """
        for partition, queue in left.items():
            if queue.left and queue.trouble and self._is_late(partition, queue, refused_s):
                code = queue.trouble.code if isinstance(queue.trouble, ApiError) else ErrorCode.REQUEST_TIMED_OUT
                self._refuse(partition, queue, ApiError(code, f"{partition} takes nothing: {queue.trouble}"))
                self._tired_of.add(partition)
        if trouble := next((queue.trouble for queue in left.values() if queue.left and queue.trouble), None):
            self._pause(trouble)

    def _is_late(self, partition: TopicPartition, queue: Queue, refused_s: float) -> bool:
        patience_s = refused_s if isinstance(queue.trouble, ApiError) else SILENT_S
        now = time.monotonic()
        return partition in self._tired_of or now - (queue.hindered_since or now) >= patience_s

    def _refuse(self, partition: TopicPartition, queue: Queue, refusal: ApiError) -> None:
        self._sequences[partition] = queue.refuse(refusal)

    def _enter(self, queues: Mapping[TopicPartition, Queue], refused_s: float) -> None:
        """Add all partitions to the transaction, except refused ones."""
        if self._transactional_id is None:
            return
        while fresh := {tp: queue for tp, queue in queues.items() if queue.left and tp not in self._touched}:
            try:
                self._with_retries(lambda: add_partitions(self._coordinators, self._who, fresh), raises=_OF_TOPICS)
                self._touched.update(fresh)
            except ApiError as error:
                if error.code not in _OF_TOPICS:
                    raise
                for partition, queue in fresh.items():
                    queue.hinder(error, time.monotonic())
                    if not error.code.retriable:
                        self._refuse(partition, queue, error)
                self._await(fresh, refused_s)

    def commit(self) -> None:
        """Commit the transaction: what was written becomes visible at once. Raises Fenced."""
        if self._touched:
            self._with_retries(lambda: end_transaction(self._coordinators, self._who, commit=True))
            self._touched.clear()

    def abort(self) -> None:
        if self._touched:
            self._with_retries(lambda: end_transaction(self._coordinators, self._who, commit=False))
            self._touched.clear()

    def _with_retries(self, ask: Callable[[], T], raises: Collection[ErrorCode] = ()) -> T:
        """Retry until `ask` returns, and return its result. Raises errors that waiting does not mend, and codes of
        `raises`.
        """
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
                if not error.code.retriable or error.code in raises:
                    raise
                self._pause(error)

    def _stamp(self, partition: TopicPartition, batch: Batch) -> None:
        sequence = self._sequences.get(partition, 0)
        is_transactional = self._transactional_id is not None
        stamp(batch, self._who.producer_id, self._who.epoch, sequence, is_transactional=is_transactional)
        count = int.from_bytes(batch[57:61])
        self._sequences[partition] = (sequence + count) % _SEQUENCES

    def _round(self, left: Mapping[TopicPartition, Queue]) -> None:
        """Write the next batch of each partition to its leader; a failure becomes the partition's `trouble`."""
        under_way: list[_UnderWay] = []
        led = self._led(left)
        self._leave_alone(led)
        for address, partitions in led.items():
            for numbers in requests({partition: left[partition] for partition in partitions}):
                try:
                    connection = self._leaders.connection(next(iter(numbers)), in_order=True)
                    request = self._request({tp: left[tp].left for tp in numbers}, numbers)
                    sent = connection.send(request, version_max=PRODUCE_VERSION_MAX)
                except (ApiError, BrokerUnreachable) as error:
                    self._broken({tp: left[tp] for tp in partitions}, error)
                    break
                under_way.append((address, connection, sent, numbers))
        try:
            self._answers(under_way, left)
        except BaseException:
            # Answers that nobody took would be taken for those of the next requests.
            for _, _, _, numbers in under_way:
                self._leaders.forget(next(iter(numbers)), connection_broken=True)
            raise

    def _leave_alone(self, led: Mapping[Address, Sequence[TopicPartition]]) -> None:
        """Leave these brokers alone until they answer reads; not for long if a transaction waits, or the mirror is to
        end.
        """
        begun = time.monotonic()
        for address, (partition, *_) in led.items():
            ends_at = self._patience.ends_at(address)
            until = min(ends_at, begun + TRANSACTION_WAITS_S) if self._transactional_id else ends_at
            while time.monotonic() < until and not self._is_stopped():
                time.sleep(_PAUSE_S)
            if time.monotonic() < ends_at:
                self._patience.forget(address)
                self._leaders.forget(partition, connection_broken=True)

    def _led(self, left: Mapping[TopicPartition, Queue]) -> dict[Address, list[TopicPartition]]:
        led: dict[Address, list[TopicPartition]] = {}
        for partition, queue in left.items():
            try:
                led.setdefault(self._leaders.address(partition), []).append(partition)
            except (ApiError, BrokerUnreachable) as error:
                queue.hinder(error, time.monotonic())
                if isinstance(error, ApiError) and not error.code.retriable:
                    self._refuse(partition, queue, error)
        return led

    def _answers(self, under_way: list[_UnderWay], left: Mapping[TopicPartition, Queue]) -> None:
        broken: set[Address] = set()
        for address, connection, sent, numbers in under_way:
            if address in broken:
                continue
            try:
                answer = connection.answer(sent, timeout_s=_REPLICAS_TIMEOUT_MS / 1000 + 5)
            except BrokerUnreachable as error:
                broken.add(address)
                self._broken({tp: left[tp] for tp in numbers}, error)
                continue
            self._patience.throttled(address, answer.throttle_time_ms / 1000)
            self._heed(answer, left, numbers)

    def _broken(self, queues: Mapping[TopicPartition, Queue], error: ApiError | BrokerUnreachable) -> None:
        if isinstance(error, ApiError) and not error.code.retriable:
            raise error
        self._leaders.forget(next(iter(queues)), connection_broken=isinstance(error, BrokerUnreachable))
        for queue in queues.values():
            queue.hinder(error, time.monotonic())

    def _request(
        self, left: Mapping[TopicPartition, Sequence[tuple[int, Batch]]], numbers: Mapping[TopicPartition, int]
    ) -> ProduceRequest:
        topics: dict[str, list[PartitionProduceData]] = {}
        for partition, number in numbers.items():
            batch = next(bytearray_ for at, bytearray_ in left[partition] if at == number)
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
        self, answer: ProduceResponse, left: Mapping[TopicPartition, Queue], numbers: Mapping[TopicPartition, int]
    ) -> None:
        for topic in answer.responses:
            for response in topic.partition_responses:
                partition, code = TopicPartition(topic.name, response.index), error_code_of(response.error_code)
                queue, number = left[partition], numbers[partition]
                if queue.refusal is not None:
                    continue
                if code in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
                    queue.settle(number, response.base_offset if code is ErrorCode.NONE else -1)
                elif code in _FENCED:
                    raise Fenced(f"{partition}: {code.meaning}")
                elif code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER and queue.left[0][0] != number:
                    queue.hinder(ApiError(code, f"{partition}: one before it was not taken"), time.monotonic())
                elif code.retriable and code is not ErrorCode.CORRUPT_MESSAGE:
                    queue.hinder(ApiError(code, f"{partition}: {code.meaning}"), time.monotonic())
                    self._leaders.forget(partition)
                else:
                    self._refuse(
                        partition, queue, ApiError(code, f"{partition}: {response.error_message or code.meaning}")
                    )

    def _pause(self, reason: BarnabasError) -> None:
        if self._is_stopped():
            raise WriteStopped(f"stopped while the target takes nothing: {reason}")
        time.sleep(_PAUSE_S)


#: Of the partitions that are asked about, not of who asks.
_OF_TOPICS = frozenset(
    (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        ErrorCode.UNKNOWN_TOPIC_ID,
    )
)
_FENCED = frozenset(
    (
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        ErrorCode.INVALID_TXN_STATE,
    )
)
