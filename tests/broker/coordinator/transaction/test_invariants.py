"""Any order of requests, markers, lost appends, time and fail-over, judged by a model that knows no coordinator.

The model is the producers (what each was told) and the partitions (data, markers, fencing by epoch). A producer writes
only what the coordinator verifies. Records become committed later than appended; a fail-over may lose those that are
not, and markers of the last coordinator may still arrive after it.
"""

from collections import deque
from dataclasses import dataclass, field, replace
from functools import partial

from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from hypothesis.strategies import booleans, integers, permutations, sampled_from

from broker.common.errors import ErrorCode
from broker.common.shared_budget import ANONYMOUS, Owner
from broker.common.types import TopicPartition
from broker.coordinator.outcome import CoordinatorRecord, CoordinatorResponse
from broker.coordinator.transaction.config import TransactionConfig
from broker.coordinator.transaction.coordinator import TransactionCoordinator
from broker.coordinator.transaction.outcome import MarkersToWrite, TransactionOutcome
from broker.coordinator.transaction.records import encode_key, encode_value
from broker.coordinator.transaction.states import TransactionPhase
from broker.coordinator.transaction.transaction import Transaction
from broker.protocol.messages.end_txn import EndTxnRequest
from broker.protocol.messages.init_producer_id import InitProducerIdRequest
from tests.broker.coordinator.transaction.asking import error_of, to_add, to_add_for_producer, to_verify
from tests.examples import examples

IDS = ["payments", "refunds"]
PARTITIONS = [TopicPartition("orders", 0), TopicPartition("bills", 2)]
TIMEOUT_MS = 5_000
#: Close to the last epoch, so that ids run out of epochs.
LATE_EPOCHS = [2**15 - 5, 2**15 - 4, 2**15 - 3]

Producer = tuple[int, int]


@dataclass(eq=False)
class Written:
    """One transaction as its producer sees it."""

    producer: Producer
    is_committed: bool | None = None  #: that it is committed, or aborted
    results: dict[TopicPartition, bool] = field(default_factory=dict)  #: by the markers


@dataclass(eq=False)
class Client:
    transactional_id: str
    producer: Producer | None = None
    transaction: Written | None = None
    #: Each end raises the epoch, and leaders add what is written (KIP-890, part 2).
    raises_epoch: bool = False


@dataclass
class DataPartition:
    """What the leader of a partition keeps of producers."""

    epochs: dict[int, int] = field(default_factory=dict)
    coordinator_epochs: dict[int, int] = field(default_factory=dict)
    open: dict[int, list[Written]] = field(default_factory=dict)

    def write(self, written: Written) -> None:
        producer_id, epoch = written.producer
        if epoch >= self.epochs.get(producer_id, 0):
            self.epochs[producer_id] = epoch
            self.open.setdefault(producer_id, []).append(written)

    def end(self, name: TopicPartition, markers: MarkersToWrite, coordinator_epoch: int) -> bool:
        """Whether the partition needs this marker no more."""
        producer_id = markers.producer_id
        if coordinator_epoch < self.coordinator_epochs.get(producer_id, 0):
            return False
        if markers.producer_epoch < self.epochs.get(producer_id, 0):
            return True
        self.epochs[producer_id] = markers.producer_epoch
        self.coordinator_epochs[producer_id] = coordinator_epoch
        for written in self.open.pop(producer_id, []):
            assert written.results.setdefault(name, markers.is_commit) == markers.is_commit
        return True


class Transactions(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.now_ms = 1_000_000
        self.log: list[CoordinatorRecord] = []
        self.committed = 0
        self.is_lagging = False  #: followers are slow: what is appended is not committed yet
        self.epoch = 1
        self.waiting: deque[tuple[int, TransactionOutcome]] = deque()
        self.in_flight: list[tuple[int, MarkersToWrite, set[TopicPartition]]] = []
        self.next_append_fails = False
        self.calls: dict[int, tuple] = {}
        self.fresh_id = 1_000
        self.given: dict[Producer, object] = {}
        self.latest: dict[str, Producer] = {}  #: by transactional id, who was let in last
        self.written: list[Written] = []
        self.partitions = {partition: DataPartition() for partition in PARTITIONS}
        self.clients = [Client(IDS[0]), Client(IDS[0], raises_epoch=True), Client(IDS[1], raises_epoch=True)]
        self.coordinator = self.new_coordinator()

    def new_coordinator(self) -> TransactionCoordinator:
        return TransactionCoordinator(TransactionConfig(transactional_id_expiration_ms=60_000), lambda: self.now_ms)

    @initialize(epoch=sampled_from([None, *LATE_EPOCHS]))
    def begin_late(self, epoch: int | None) -> None:
        """An id that has been in use for long."""
        if epoch is not None:
            old = Transaction(IDS[0], 7, epoch, TIMEOUT_MS, TransactionPhase.EMPTY, updated_ms=self.now_ms)
            self.log.append(CoordinatorRecord(encode_key(IDS[0]), encode_value(old)))
            self.fail_over(False)

    # -- the runtime's part -------------------------------------------------------------------------------------------

    def carry_out(self, outcome: TransactionOutcome) -> None:
        if outcome.records and self.next_append_fails:
            self.next_append_fails = False
            outcome = self.coordinator.abort(outcome, ErrorCode.NOT_ENOUGH_REPLICAS)
        for record in outcome.records:
            self.log.append(record)
            self.coordinator.replay(*record)
        self.hear_all([response for response in outcome.responses if response.is_at_once])
        outcome.responses[:] = [response for response in outcome.responses if not response.is_at_once]
        self.waiting.append((len(self.log), outcome))
        if not self.is_lagging:
            self.committed = len(self.log)
        self.release()

    def release(self) -> None:
        while self.waiting and self.waiting[0][0] <= self.committed:
            _, outcome = self.waiting.popleft()
            self.in_flight += [(self.epoch, marker, set(marker.partitions)) for marker in outcome.markers]
            self.hear_all(outcome.responses)

    def hear_all(self, answers: list[CoordinatorResponse]) -> None:
        for answer in answers:
            self.hear(self.calls.pop(answer.token), answer.response)

    def hear_unconfirmed(self, error: ErrorCode) -> None:
        """All that waits is answered before anybody knows; what is to follow stays to be done."""
        for _, outcome in self.waiting:
            self.hear_all([self.coordinator.unconfirmed(response, error) for response in outcome.responses])
            outcome.responses.clear()

    def ask(self, method, request, call: tuple, *more) -> TransactionOutcome:
        token = len(self.calls) and max(self.calls) + 1
        self.calls[token] = call
        outcome = method(token, request, *more, self.now_ms)
        self.carry_out(outcome)
        return outcome

    # -- producers ----------------------------------------------------------------------------------------------------

    def init(self, client: Client, held: Producer) -> None:
        request = InitProducerIdRequest(
            transactional_id=client.transactional_id,
            transaction_timeout_ms=TIMEOUT_MS,
            producer_id=held[0],
            producer_epoch=held[1],
        )
        call = ("init", client, held)
        owner = Owner(ANONYMOUS, f"/10.0.0.{self.clients.index(client)}")
        outcome = self.ask(self.coordinator.init_producer_id, request, call, owner, self.fresh_id)
        self.fresh_id += outcome.used_producer_id

    @rule(which=integers(0, 2), is_named=booleans())
    def init_again(self, which: int, is_named: bool) -> None:
        """A new process, or the old one that raises its epoch."""
        client = self.clients[which]
        if not is_named:
            client.producer = client.transaction = None
        self.init(client, client.producer or (-1, -1))

    @rule(which=integers(0, 2), partition=sampled_from(PARTITIONS))
    def add(self, which: int, partition: TopicPartition) -> None:
        client = self.clients[which]
        if client.producer is None:
            self.init(client, (-1, -1))
        if client.producer is not None:
            request = to_add(client.transactional_id, client.producer, partition)
            self.ask(self.coordinator.add_partitions_to_txn, request, ("add", client, client.producer))

    @rule(which=integers(0, 2), partition=sampled_from(PARTITIONS), added=sampled_from(PARTITIONS))
    def write(self, which: int, partition: TopicPartition, added: TopicPartition) -> None:
        client = self.clients[which]
        if client.raises_epoch:
            self.write_as_leader(client, partition)
            return
        if client.transaction is None:
            self.add(which, added)
        if client.producer is not None and client.transaction is not None:
            request = to_verify(client.transactional_id, client.producer, partition)
            call = "verify", client, client.transaction, partition
            self.ask(self.coordinator.add_partitions_to_txn, request, call)

    def write_as_leader(self, client: Client, partition: TopicPartition) -> None:
        if client.producer is None:
            self.init(client, (-1, -1))
        if client.producer is None:
            return
        if client.transaction is None:
            client.transaction = Written(client.producer)
            self.written.append(client.transaction)
        request = to_add_for_producer(client.transactional_id, client.producer, partition)
        self.ask(self.coordinator.add_partitions_to_txn, request, ("verify", client, client.transaction, partition))

    @rule(which=integers(0, 2), partitions=permutations(PARTITIONS), is_commit=booleans())
    def write_and_end(self, which: int, partitions: list[TopicPartition], is_commit: bool) -> None:
        for partition in partitions:
            self.write(which, partition, partition)
        self.end(which, is_commit)

    @rule(which=integers(0, 2), by_ms=sampled_from([1, TIMEOUT_MS]))
    def write_slowly(self, which: int, by_ms: int) -> None:
        """What is written after the timeout must not become a transaction of its own."""
        for partition in PARTITIONS:
            self.write(which, partition, partition)
            self.pass_time(by_ms)
            self.write_all_markers()
        self.end(which, True)

    @rule(which=integers(0, 2), is_commit=booleans())
    def end(self, which: int, is_commit: bool) -> None:
        client = self.clients[which]
        if client.transaction is None:
            self.write(which, PARTITIONS[0], PARTITIONS[0])
        if client.producer is not None and client.transaction is not None:
            request = EndTxnRequest(
                transactional_id=client.transactional_id,
                producer_id=client.producer[0],
                producer_epoch=client.producer[1],
                committed=is_commit,
            )
            if not client.raises_epoch:
                self.ask(self.coordinator.end_txn, request, ("end", client, client.transaction, is_commit))
                return
            end = partial(self.coordinator.end_txn, raises_epoch=True, fresh_producer_id=self.fresh_id)
            outcome = self.ask(end, request, ("end", client, client.transaction, is_commit))
            self.fresh_id += outcome.used_producer_id

    def hear(self, call: tuple, response) -> None:
        kind, client, *rest = call
        code = error_of(response)
        getattr(self, "hear_" + kind)(client, response, code, *rest)
        if code in (ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_ID_MAPPING) and kind != "verify":
            client.producer = client.transaction = None

    def hear_init(self, client: Client, response, code: ErrorCode, held: Producer) -> None:
        if code is ErrorCode.NONE:
            producer = response.producer_id, response.producer_epoch
            assert producer[1] < 2**15 - 1
            once = (client, held) if held != (-1, -1) else object()
            assert self.given.setdefault(producer, once) == once, "two live producers with the same id and epoch"
            self.latest[client.transactional_id] = producer
            if client.producer != producer:
                client.producer, client.transaction = producer, None

    def hear_add(self, client: Client, _response, code: ErrorCode, producer: Producer) -> None:
        if code is ErrorCode.NONE:
            assert self.latest[client.transactional_id] == producer, "a fenced producer adds partitions"
        if code is ErrorCode.NONE and client.producer == producer and client.transaction is None:
            client.transaction = Written(producer)
            self.written.append(client.transaction)

    def hear_verify(self, client, _response, code, transaction: Written, partition: TopicPartition) -> None:
        if code is ErrorCode.NONE and client.transaction is transaction:
            self.partitions[partition].write(transaction)

    def hear_end(self, client, response, code, transaction: Written, is_commit: bool) -> None:
        if client.transaction is not transaction:
            return
        if code is ErrorCode.NONE:
            assert self.latest[client.transactional_id] == transaction.producer, "a fenced producer ends"
            transaction.is_committed = is_commit
            client.transaction = None
            if client.raises_epoch:
                producer = response.producer_id, response.producer_epoch
                assert self.given.setdefault(producer, transaction) is transaction, "it is another's already"
                client.producer = self.latest[client.transactional_id] = producer
        elif code is ErrorCode.NOT_COORDINATOR:
            client.producer = client.transaction = None  # in doubt: it does not know, and begins anew

    # -- what else happens --------------------------------------------------------------------------------------------

    @rule(count=integers(1, 4))
    def commit_records(self, count: int) -> None:
        self.committed = min(self.committed + count, len(self.log))
        self.release()

    @precondition(lambda self: self.in_flight)
    @rule(which=integers(0, 50), where=sampled_from(PARTITIONS))
    def write_one_marker(self, which: int, where: TopicPartition) -> None:
        epoch, markers, left = self.in_flight[which % len(self.in_flight)]
        if where in left and self.partitions[where].end(where, markers, epoch):
            left.discard(where)
            self.tell_written()

    def tell_written(self) -> None:
        done = [item for item in self.in_flight if not item[2]]
        self.in_flight = [item for item in self.in_flight if item[2]]
        for epoch, markers, _ in done:
            if epoch == self.epoch:
                self.carry_out(self.coordinator.markers_written(markers, self.now_ms))

    @rule()
    def write_all_markers(self) -> None:
        for epoch, markers, left in self.in_flight:
            left -= {item for item in left if self.partitions[item].end(item, markers, epoch)}
        self.tell_written()

    @rule(by_ms=sampled_from([1, 900, TIMEOUT_MS, 70_000]))
    def pass_time(self, by_ms: int) -> None:
        self.now_ms += by_ms
        deadline_ms = self.coordinator.next_deadline_ms()
        if deadline_ms is not None and deadline_ms <= self.now_ms:
            self.carry_out(self.coordinator.tick(self.now_ms))

    @rule()
    def lag_or_catch_up(self) -> None:
        self.is_lagging = not self.is_lagging
        if not self.is_lagging:
            self.commit_records(len(self.log))

    @rule()
    def take_too_long(self) -> None:
        """To commit what was written: whoever waits is told so."""
        self.hear_unconfirmed(ErrorCode.REQUEST_TIMED_OUT)

    @rule()
    def fail_next_append(self) -> None:
        self.next_append_fails = True

    @rule(is_lossy=booleans())
    def fail_over(self, is_lossy: bool) -> None:
        """Another broker takes over, with what was committed at least."""
        self.hear_unconfirmed(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        self.waiting.clear()
        self.hear_all(self.coordinator.unload().responses)
        if is_lossy:
            del self.log[self.committed :]
        self.epoch += 1
        self.coordinator = self.new_coordinator()
        for record in self.log:
            self.coordinator.replay(*record)
        self.carry_out(self.coordinator.after_load(self.now_ms))

    # -- what must hold -----------------------------------------------------------------------------------------------

    @invariant()
    def the_log_tells_the_same_as_memory(self) -> None:
        fresh = self.new_coordinator()
        for record in self.log:
            fresh.replay(*record)
        assert durable(fresh) == durable(self.coordinator)

    @invariant()
    def no_transaction_is_committed_here_and_aborted_there(self) -> None:
        for item in self.written:
            assert len({*item.results.values()} | ({item.is_committed} - {None})) <= 1, item

    @invariant()
    def nothing_open_is_without_a_deadline(self) -> None:
        for transaction in self.coordinator.transactions.values():
            if transaction.state is TransactionPhase.ONGOING:
                due_ms = transaction.started_ms + transaction.timeout_ms
                assert self.coordinator.next_deadline_ms() <= max(due_ms, self.now_ms + 1_000)

    def teardown(self) -> None:
        """Left alone, every transaction comes to an end in all of its partitions."""
        self.next_append_fails = False
        for _ in range(20):
            self.commit_records(len(self.log))
            self.write_all_markers()
            self.pass_time(TIMEOUT_MS)
        states = {transaction.state for transaction in self.coordinator.transactions.values()}
        assert not any(state.is_open for state in states)
        assert not any(partition.open for partition in self.partitions.values())
        self.the_log_tells_the_same_as_memory()
        self.no_transaction_is_committed_here_and_aborted_there()


def durable(coordinator: TransactionCoordinator) -> dict[str, Transaction]:
    return {
        transaction.transactional_id: replace(transaction, last_producer_id=-1, last_producer_epoch=-1)
        for transaction in coordinator.transactions.values()
    }


TestTransactions = Transactions.TestCase
TestTransactions.settings = settings(max_examples=examples(200), stateful_step_count=40)
