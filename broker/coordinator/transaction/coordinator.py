"""The coordinator of the transactional ids that hash to one partition of `__transaction_state`.

Its contract with the runtime is that of `group/coordinator.py`. Besides, an outcome may have `markers`: once its
records are committed they are written to all partitions of the transaction; `markers_written` tells that they are. As
soon as a PREPARE_* record is committed the outcome of the transaction is fixed; whoever takes over goes on from there.

A request that comes while markers are missing is answered CONCURRENT_TRANSACTIONS, to be asked again. Errors are those
of the newest version of a request.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from weakref import finalize

from broker.common.errors import ErrorCode
from broker.common.shared_budget import REFUSED, Owner
from broker.common.types import TopicPartition
from broker.coordinator.outcome import CoordinatorResponse
from broker.coordinator.recorded_owners import Headers
from broker.coordinator.timers import Timers
from broker.coordinator.transaction import administration, answers
from broker.coordinator.transaction.config import RETRY_MS, TransactionConfig
from broker.coordinator.transaction.covering import add, partitions_of, producer_error, verify
from broker.coordinator.transaction.ending import ended, ended_under_next_epoch
from broker.coordinator.transaction.initialising import aborted_for, initialise, is_fenced, request_error
from broker.coordinator.transaction.ledger import TransactionStore
from broker.coordinator.transaction.memory import TransactionMemory
from broker.coordinator.transaction.outcome import MarkersToWrite, TransactionOutcome, TransactionTurn, markers_of
from broker.coordinator.transaction.records import decode_key
from broker.coordinator.transaction.states import TransactionPhase
from broker.coordinator.transaction.transaction import EPOCH_RAISING_VERSION, NO_PRODUCER_ID, Transaction
from broker.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from broker.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTransaction
from broker.protocol.messages.describe_transactions import DescribeTransactionsRequest
from broker.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from broker.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from broker.protocol.messages.list_transactions import ListTransactionsRequest

#: So many partitions are as much work, when their transaction's time is up, as one without any.
_PARTITIONS_A_THING = 10


class TransactionCoordinator:
    def __init__(
        self, config: TransactionConfig, wall_now_ms: Callable[[], int], memory: TransactionMemory | None = None
    ):
        """memory: shared by all coordinators of a broker."""
        self._config = config
        self._wall_now_ms = wall_now_ms
        self._now_ms = 0  #: the last time we were told
        self._memory = memory or TransactionMemory()
        self._ledger = TransactionStore(self._memory)
        finalize(self, self._ledger.forget)  # one that could not be loaded is just dropped
        #: By transactional id: when it times out or is forgotten, or what failed is tried again.
        self._timers: Timers[str] = Timers()
        self._under_way: TransactionTurn | None = None  #: of the call that lasts, or that raised

    @property
    def transactions(self) -> Mapping[str, Transaction]:
        """The transactions by transactional id; read-only."""
        return self._ledger.transactions

    # -- producers ----------------------------------------------------------------------------------------------------

    def init_producer_id(
        self, token: int, request: InitProducerIdRequest, owner: Owner, fresh_producer_id: int, now_ms: int
    ) -> TransactionOutcome:
        """Return the producer id and epoch for a transactional id, and fence its earlier producer.

        owner: the client, of whose share a new transactional id is taken.

        A transaction that is still open is aborted first. `fresh_producer_id` is one nobody has had; the outcome says
        whether it was used.
        """
        turn = self._turn(now_ms)
        error = request_error(request, self._config)
        transactional_id = request.transactional_id or ""
        if error is ErrorCode.NONE and not self._ledger.attribute(transactional_id, owner):
            self._memory.refuse(self._memory.ids, owner, turn.wall_ms)
            error = ErrorCode.INVALID_REQUEST
        if error is ErrorCode.NONE:
            _answer(turn, token, self._initialise(transactional_id, request, fresh_producer_id, turn))
            self._ledger.forget_owner_of_nothing(transactional_id)
        else:
            turn.answer_at_once(token, answers.init_refused(error))
        return self._end(turn)

    def _initialise(
        self, transactional_id: str, request: InitProducerIdRequest, fresh_producer_id: int, turn: TransactionTurn
    ) -> InitProducerIdResponse:
        transaction = self.transactions.get(transactional_id) or Transaction(transactional_id, fresh_producer_id)
        if is_fenced(transaction, request):
            return answers.init_refused(ErrorCode.PRODUCER_FENCED)
        if transaction.state is TransactionPhase.ONGOING:
            turn.note("transaction aborted for a new producer", transactional_id=transaction.transactional_id)
            self._decide(aborted_for(transaction, request, turn.wall_ms), turn)
        if transaction.state.is_open:
            return answers.init_refused(ErrorCode.CONCURRENT_TRANSACTIONS)
        initialised = initialise(transaction, request, fresh_producer_id, turn.wall_ms)
        if isinstance(initialised, ErrorCode):
            return answers.init_refused(initialised)
        if initialised is not transaction:
            self._ledger.propose(initialised, turn)
        turn.outcome.used_producer_id = initialised.producer_id == fresh_producer_id
        return answers.initialised(initialised)

    def add_partitions_to_txn(self, token: int, request: AddPartitionsToTxnRequest, now_ms: int) -> TransactionOutcome:
        """Add partitions before a producer writes to them; the first ones begin a transaction.

        In the words of version 4, of all transactions named, which must be of this coordinator; without any, in those
        of version 3.
        """
        turn = self._turn(now_ms)
        if request.transactions:
            results = {
                transaction.transactional_id: self._add_or_verify(transaction, turn)
                for transaction in request.transactions
            }
            turn.answer(token, answers.batch_answered(results))
        else:
            partitions = partitions_of(request.v3_and_below_topics)
            producer = request.v3_and_below_producer_id, request.v3_and_below_producer_epoch
            error = self._add(request.v3_and_below_transactional_id, producer, partitions, turn)
            turn.answer(token, answers.partitions_added(dict.fromkeys(partitions, error)))
        return self._end(turn)

    def _add_or_verify(self, txn_transaction: AddPartitionsToTxnTransaction, turn: TransactionTurn) -> answers.Results:
        partitions = partitions_of(txn_transaction.topics)
        producer = txn_transaction.producer_id, txn_transaction.producer_epoch
        if not txn_transaction.verify_only:  # a leader adds what a producer writes that does not add it itself
            error = self._add(txn_transaction.transactional_id, producer, partitions, turn, EPOCH_RAISING_VERSION)
            return dict.fromkeys(partitions, error)
        transaction = self._ledger.current(txn_transaction.transactional_id, turn)
        error = producer_error(txn_transaction.transactional_id, transaction, *producer)
        if transaction is None or error is not ErrorCode.NONE:
            return dict.fromkeys(partitions, error)
        return verify(transaction, partitions)

    def add_offsets_to_txn(
        self, token: int, request: AddOffsetsToTxnRequest, offsets_partition: TopicPartition, now_ms: int
    ) -> TransactionOutcome:
        """Add the group's partition of `__consumer_offsets`, which the runtime looks up, to the transaction."""
        turn = self._turn(now_ms)
        producer = request.producer_id, request.producer_epoch
        error = self._add(request.transactional_id, producer, frozenset({offsets_partition}), turn)
        turn.answer(token, AddOffsetsToTxnResponse(error_code=error))
        return self._end(turn)

    def _add(
        self,
        transactional_id: str,
        producer: tuple[int, int],
        partitions: frozenset[TopicPartition],
        turn: TransactionTurn,
        client_version: int = 0,
    ) -> ErrorCode:
        transaction = self._ledger.current(transactional_id, turn)
        error = producer_error(transactional_id, transaction, *producer)
        if transaction is None or error is not ErrorCode.NONE:
            return error
        added = add(transaction, partitions, turn.wall_ms, client_version)
        if isinstance(added, ErrorCode):
            return added
        owner, growth = self._ledger.owner_of(transactional_id), len(added.partitions) - len(transaction.partitions)
        if not self._memory.partitions.has_room_for(owner, growth):
            self._memory.refuse(self._memory.partitions, owner, turn.wall_ms)
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        self._ledger.propose(added, turn)
        return ErrorCode.NONE

    def end_txn(
        self,
        token: int,
        request: EndTxnRequest,
        now_ms: int,
        *,
        raises_epoch: bool = False,
        fresh_producer_id: int = NO_PRODUCER_ID,
    ) -> TransactionOutcome:
        """Commit or abort; answered when that is certain, while the markers are still on their way.

        raises_epoch: the producer goes on under the epoch that it is answered. `fresh_producer_id` is needed if it
        holds the last one; the outcome says whether it was used.
        """
        turn = self._turn(now_ms)
        transaction = self.transactions.get(request.transactional_id)
        if raises_epoch:
            result = ended_under_next_epoch(transaction, request, fresh_producer_id, turn.wall_ms)
        else:
            result = ended(transaction, request, turn.wall_ms)
        if isinstance(result, Transaction):
            self._decide(result, turn)
            turn.outcome.used_producer_id = NO_PRODUCER_ID != result.next_producer_id == fresh_producer_id
            _answer(turn, token, answers.ended(result, raises_epoch=raises_epoch))
        elif result is ErrorCode.NONE and transaction is not None:
            _answer(turn, token, answers.ended(transaction, raises_epoch=raises_epoch))
        else:
            _answer(turn, token, EndTxnResponse(error_code=result))
        return self._end(turn)

    # -- markers ------------------------------------------------------------------------------------------------------

    def markers_written(self, markers: MarkersToWrite, now_ms: int) -> TransactionOutcome:
        """Complete the transaction: every partition has its marker or no longer needs one."""
        turn = self._turn(now_ms)
        transaction = self.transactions.get(markers.transactional_id)
        if transaction is not None and transaction.state.is_decided and markers_of(transaction) == markers:
            with self._tried_again(transaction, turn):
                self._complete(transaction, turn)
        return self._end(turn)

    def _decide(self, decided: Transaction, turn: TransactionTurn) -> None:
        self._ledger.propose(decided, turn)
        if decided.partitions:
            turn.outcome.markers.append(markers_of(decided))
        else:
            self._complete(decided, turn)

    def _complete(self, transaction: Transaction, turn: TransactionTurn) -> None:
        self._ledger.propose(transaction.completed(turn.wall_ms), turn)

    # -- time ---------------------------------------------------------------------------------------------------------

    def next_deadline_ms(self) -> int | None:
        """Return when `tick` must be called next, None if nothing is waiting for time to pass."""
        return self._timers.next_deadline_ms()

    def tick(self, now_ms: int) -> TransactionOutcome:
        """Do what the deadlines that have come ask for, a turn's worth that goes into one batch; the rest stays due."""
        turn = self._turn(now_ms)
        while not turn.is_full:
            transactional_id = self._timers.take_expired(turn.now_ms)
            if transactional_id is None:
                break
            transaction = self.transactions.get(transactional_id)
            if transaction is not None:
                turn.things_left -= 1 + len(transaction.partitions) // _PARTITIONS_A_THING
                with self._tried_again(transaction, turn):
                    self._look_after(transaction, turn)
        return self._end(turn)

    @contextmanager
    def _tried_again(self, transaction: Transaction, turn: TransactionTurn) -> Iterator[None]:
        """Schedule another try if the block raises: no client asks for this work again."""
        try:
            yield
        except Exception:
            self._timers.schedule(transaction.transactional_id, turn.now_ms + RETRY_MS)
            raise

    def _look_after(self, transaction: Transaction, turn: TransactionTurn) -> None:
        """Do whatever is due for the transaction; it is scheduled again if the wall clock was set back.

        A transaction that began later than now has waited for its whole timeout by the monotonic clock (`_schedule`).
        """
        if transaction.state.is_decided:
            self._go_on_with(transaction, turn)
            return
        is_open = transaction.state is TransactionPhase.ONGOING
        if is_open and transaction.never_times_out:
            return
        began_later = is_open and transaction.started_ms > turn.wall_ms
        if self._due_ms(transaction) > turn.wall_ms and not began_later:
            self._schedule(transaction)
        elif is_open:
            facts = {"transactional_id": transaction.transactional_id, "timeout_ms": transaction.timeout_ms}
            turn.note("transaction timed out", **facts)
            self._decide(transaction.fenced_and_aborted(turn.wall_ms), turn)
        else:
            self._ledger.propose_tombstone(transaction.transactional_id, turn)

    def _go_on_with(self, decided: Transaction, turn: TransactionTurn) -> None:
        """Continue a decided transaction. Markers may be written twice: the second time a partition has no open
        transaction.
        """
        if decided.partitions:
            turn.outcome.markers.append(markers_of(decided))
        else:
            self._complete(decided, turn)

    def _due_ms(self, transaction: Transaction) -> int:
        """Return when, by the wall clock, an open transaction is aborted or an unused id forgotten."""
        if transaction.state is TransactionPhase.ONGOING:
            return transaction.started_ms + transaction.timeout_ms
        return transaction.updated_ms + self._config.transactional_id_expiration_ms

    def _schedule(self, transaction: Transaction) -> None:
        """Schedule the transaction's timeout, at the latest after its whole length, however far the wall clock was set
        back.
        """
        is_open = transaction.state is TransactionPhase.ONGOING
        if transaction.state.is_decided or (is_open and transaction.never_times_out):
            self._timers.cancel(transaction.transactional_id)
            return
        wait_ms = max(0, self._due_ms(transaction) - self._wall_now_ms())
        if is_open:
            wait_ms = min(wait_ms, transaction.timeout_ms)
        self._timers.schedule(transaction.transactional_id, self._now_ms + wait_ms)

    # -- records ------------------------------------------------------------------------------------------------------

    def replay(self, key: bytes, value: bytes | None, headers: Headers = ()) -> None:
        """Apply one record of the partition, at start-up as in normal work. Records of other kinds are passed over.

        headers: name the client that it is counted for, see `coordinator/recorded_owners.py`. Raises InvariantViolation
        for bytes that are no record of ours.
        """
        transactional_id = self._ledger.replay(key, value, headers)
        transaction = self.transactions.get(transactional_id) if transactional_id is not None else None
        if transaction is not None:
            self._schedule(transaction)
        elif transactional_id is not None:
            self._timers.cancel(transactional_id)

    def after_load(self, now_ms: int) -> TransactionOutcome:
        """Called when the partition is replayed: decided transactions continue with their markers."""
        turn = self._turn(now_ms)
        self._ledger.end_load()
        for transaction in list(self.transactions.values()):
            self._schedule(transaction)
            if transaction.state.is_decided:
                self._go_on_with(transaction, turn)
        return self._end(turn)

    def written(self, end_offset: int) -> None:
        """Note the log's end; no response of this coordinator depends on it."""

    def committed(self, high_watermark: int) -> None:
        """Note the high watermark, as `written`."""

    # -- administration -----------------------------------------------------------------------------------------------

    def describe_transactions(
        self, token: int, request: DescribeTransactionsRequest, now_ms: int
    ) -> TransactionOutcome:
        """Describe these transactional ids, which must be of this coordinator."""
        turn = self._turn(now_ms)
        turn.answer_at_once(token, administration.describe(request, self.transactions))
        return self._end(turn)

    def list_transactions(self, token: int, request: ListTransactionsRequest, now_ms: int) -> TransactionOutcome:
        turn = self._turn(now_ms)
        turn.answer_at_once(token, administration.list_those(request, self.transactions.values(), turn.wall_ms))
        return self._end(turn)

    # -- what goes wrong outside --------------------------------------------------------------------------------------

    def abort(self, outcome: TransactionOutcome, error_code: ErrorCode) -> TransactionOutcome:
        """Withdraw the records of `outcome`, which could not be appended or committed; return the answers to send
        instead of its own.

        What nobody else asks for again is tried again soon: an abort after a timeout, a completion, markers of others.
        """
        turn = self._turn(self._now_ms)
        concerned = {name for record in outcome.records if (name := decode_key(record.key)) is not None}
        concerned.update(marker.transactional_id for marker in outcome.markers)
        for transactional_id in concerned:
            self._ledger.withdraw(transactional_id)
            self._timers.schedule(transactional_id, turn.now_ms + RETRY_MS)
        for answer in outcome.responses:
            turn.outcome.responses.append(self.unconfirmed(answer, error_code))
        return self._end(turn)

    def recover(self) -> TransactionOutcome:
        """Recover after a call raised: its proposed records are withdrawn, and its transactions are tried again
        soon.
        """
        broken, self._under_way = self._under_way, None
        outcome = self.abort(broken.outcome if broken else TransactionOutcome(), ErrorCode.UNKNOWN_SERVER_ERROR)
        self._ledger.withdraw_all()
        return outcome

    def unconfirmed(self, answer: CoordinatorResponse, error_code: ErrorCode) -> CoordinatorResponse:
        """Return the response to send when the records were not committed; unchanged if it does not depend on any."""
        if answer.is_at_once:
            return answer
        return CoordinatorResponse(answer.token, answers.uncommitted(answer.response, error_code), is_at_once=True)

    def cancel(self, token: int) -> None:
        """Ignore that a waiting request's connection has closed: none ever waits here."""

    def unload(self) -> TransactionOutcome:
        """Forget everything after a leader change: no request waits here for an answer."""
        turn = self._turn(self._now_ms)
        turn.outcome.remains = [*self._ledger.forget(), *self._timers.forget()]
        return self._end(turn)

    # -- turns --------------------------------------------------------------------------------------------------------

    def _turn(self, now_ms: int) -> TransactionTurn:
        self._now_ms = max(now_ms, self._now_ms)
        self._under_way = TransactionTurn(self._now_ms, self._wall_now_ms())
        return self._under_way

    def _end(self, turn: TransactionTurn) -> TransactionOutcome:
        self._under_way = None
        if facts := self._memory.refusals_to_log(turn.now_ms):
            turn.warn(REFUSED, **facts)
        return turn.outcome


def _answer(turn: TransactionTurn, token: int, response: InitProducerIdResponse | EndTxnResponse) -> None:
    """Send the response after the record is committed, or at once if the client has to retry anyway."""
    is_asked_again = response.error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    (turn.answer_at_once if is_asked_again else turn.answer)(token, response)
