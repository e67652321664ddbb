"""A transaction coordinator as its runtime drives it: append, replay, answer; and a log another one can load."""

from collections.abc import Callable

from broker.common.errors import ErrorCode
from broker.common.shared_budget import ANONYMOUS, Owner
from broker.common.types import TopicPartition
from broker.coordinator.outcome import CoordinatorRecord
from broker.coordinator.transaction.config import TransactionConfig
from broker.coordinator.transaction.coordinator import TransactionCoordinator
from broker.coordinator.transaction.memory import TransactionMemory
from broker.coordinator.transaction.outcome import MarkersToWrite, TransactionOutcome
from broker.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from broker.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from broker.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from tests.broker.coordinator.transaction.asking import error_of, to_add, to_add_for_producer

ID = "payments"
FIRST_FRESH_ID = 1_000
ORDERS = TopicPartition("orders", 0)
BILLS = TopicPartition("bills", 2)


class World:
    """`is_refusing`: appends fail with that error. Markers wait in `markers` until a test has them written."""

    def __init__(self, memory: TransactionMemory | None = None, **config: int):
        self.memory = memory or TransactionMemory()
        self.config = TransactionConfig(**config)
        self.now_ms = 1_000_000
        #: By how much the wall clock is ahead of the monotonic one.
        self.wall_ahead_ms = 0
        self.speaker = Owner(ANONYMOUS, "/127.0.0.1")
        self.log: list[CoordinatorRecord] = []
        self.markers: list[MarkersToWrite] = []
        self.is_refusing = ErrorCode.NONE
        self.fresh_id = FIRST_FRESH_ID
        self.coordinator = self._new_coordinator()
        self.coordinator.after_load(self.now_ms)

    def _new_coordinator(self) -> TransactionCoordinator:
        return TransactionCoordinator(self.config, lambda: self.now_ms + self.wall_ahead_ms, self.memory)

    def carry_out(self, outcome: TransactionOutcome) -> dict:
        """The answers by token, after what the runtime does."""
        if outcome.records and self.is_refusing is not ErrorCode.NONE:
            outcome = self.coordinator.abort(outcome, self.is_refusing)
        for record in outcome.records:
            self.log.append(record)
            self.coordinator.replay(*record)
        self.markers += outcome.markers
        return {answer.token: answer.response for answer in outcome.responses}

    def ask(self, method: Callable[..., TransactionOutcome], request, *more):
        return self.carry_out(method(7, request, *more, self.now_ms))[7]

    def init(
        self, transactional_id: str | None = ID, timeout_ms: int = 60_000, held=(-1, -1)
    ) -> InitProducerIdResponse:
        request = InitProducerIdRequest(
            transactional_id=transactional_id,
            transaction_timeout_ms=timeout_ms,
            producer_id=held[0],
            producer_epoch=held[1],
        )
        outcome = self.coordinator.init_producer_id(7, request, self.speaker, self.fresh_id, self.now_ms)
        if outcome.used_producer_id:
            self.fresh_id += 1
        return self.carry_out(outcome)[7]

    def producer(self) -> tuple[int, int]:
        response = self.init()
        assert response.error_code == ErrorCode.NONE
        return response.producer_id, response.producer_epoch

    def add(self, producer: tuple[int, int], *partitions: TopicPartition, transactional_id: str = ID) -> ErrorCode:
        return error_of(
            self.ask(self.coordinator.add_partitions_to_txn, to_add(transactional_id, producer, *partitions))
        )

    def add_offsets(self, producer: tuple[int, int], partition: TopicPartition) -> ErrorCode:
        request = AddOffsetsToTxnRequest(
            transactional_id=ID, producer_id=producer[0], producer_epoch=producer[1], group_id="group"
        )
        return ErrorCode(self.ask(self.coordinator.add_offsets_to_txn, request, partition).error_code)

    def end(self, producer: tuple[int, int], is_commit: bool = True, transactional_id: str = ID) -> ErrorCode:
        request = EndTxnRequest(
            transactional_id=transactional_id,
            producer_id=producer[0],
            producer_epoch=producer[1],
            committed=is_commit,
        )
        return ErrorCode(self.ask(self.coordinator.end_txn, request).error_code)

    def write(self, producer: tuple[int, int], *partitions: TopicPartition) -> ErrorCode:
        """As the leader of these partitions, for a producer that does not add them itself (KIP-890, part 2)."""
        request = to_add_for_producer(ID, producer, *partitions)
        return error_of(self.ask(self.coordinator.add_partitions_to_txn, request))

    def end_and_raise(self, producer: tuple[int, int], is_commit: bool = True) -> EndTxnResponse:
        """As a producer that goes on with the id and epoch that it is answered."""
        producer_id, epoch = producer
        request = EndTxnRequest(transactional_id=ID, producer_id=producer_id, producer_epoch=epoch, committed=is_commit)
        outcome = self.coordinator.end_txn(7, request, self.now_ms, raises_epoch=True, fresh_producer_id=self.fresh_id)
        self.fresh_id += outcome.used_producer_id
        return self.carry_out(outcome)[7]

    def write_markers(self) -> None:
        """All that wait reach their partitions."""
        markers, self.markers = self.markers, []
        for marker in markers:
            self.carry_out(self.coordinator.markers_written(marker, self.now_ms))

    def advance(self, ms: int) -> None:
        self.now_ms += ms
        while (deadline_ms := self.coordinator.next_deadline_ms()) is not None and deadline_ms <= self.now_ms:
            self.carry_out(self.coordinator.tick(self.now_ms))

    def fail_over(self) -> None:
        """Another broker takes over, with nothing but the log."""
        self.carry_out(self.coordinator.unload())
        self.coordinator = self._new_coordinator()
        self.markers.clear()
        for record in self.log:
            self.coordinator.replay(*record)
        self.carry_out(self.coordinator.after_load(self.now_ms))

    @property
    def state(self) -> str:
        return self.coordinator.transactions[ID].state.label
