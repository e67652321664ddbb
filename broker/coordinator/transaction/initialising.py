"""InitProducerId for a transactional id: which producer id and epoch it gets, and who is refused (KIP-98, KIP-360).

A producer that names the id and epoch it holds wants to go on after an error, and must be the last one that was let in.
One that names none is new, and fences all before it.
"""

from broker.common.errors import ErrorCode
from broker.coordinator.fields import is_too_long
from broker.coordinator.transaction.config import TransactionConfig
from broker.coordinator.transaction.states import TransactionPhase
from broker.coordinator.transaction.transaction import (
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_TIMEOUT_MS,
    Transaction,
    is_exhausted,
)
from broker.protocol.messages.init_producer_id import InitProducerIdRequest


def request_error(request: InitProducerIdRequest, config: TransactionConfig) -> ErrorCode:
    """Return the error of the request by itself. An open transaction is never kept, as in Kafka 4.4 (KIP-939)."""
    if not request.transactional_id or is_too_long(request.transactional_id):
        return ErrorCode.INVALID_REQUEST
    if request.enable2_pc and not config.transaction_two_phase_commit_enable:
        return ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    if request.keep_prepared_txn:
        return ErrorCode.UNSUPPORTED_VERSION
    if (request.producer_id == NO_PRODUCER_ID) != (request.producer_epoch == NO_PRODUCER_EPOCH):
        return ErrorCode.INVALID_REQUEST
    is_bounded = 0 < request.transaction_timeout_ms <= config.transaction_max_timeout_ms
    if not is_bounded and not request.enable2_pc:
        return ErrorCode.INVALID_TRANSACTION_TIMEOUT
    return ErrorCode.NONE


def is_fenced(transaction: Transaction, request: InitProducerIdRequest) -> bool:
    """Return whether the request comes from a fenced producer: not the current id, or not the one of the open
    transaction.

    The epoch is looked at when it would be raised, and when a transaction would be aborted. Kafka 3.9 does not do the
    latter: there a producer that was fenced, or a request that comes late, aborts the transaction of its successor.
    """
    if not _names_itself(request) or transaction.producer_epoch == NO_PRODUCER_EPOCH:
        return False
    if transaction.state is TransactionPhase.ONGOING:
        held = request.producer_id, request.producer_epoch
        return held != (transaction.producer_id, transaction.producer_epoch)
    if request.producer_id == transaction.producer_id:
        return False
    is_repeated = request.producer_id == transaction.last_producer_id and is_exhausted(request.producer_epoch)
    return not is_repeated


def initialise(
    transaction: Transaction, request: InitProducerIdRequest, fresh_producer_id: int, now_ms: int
) -> Transaction | ErrorCode:
    """Return the transaction after InitProducerId, which must not be open; unchanged if the request is a retry."""
    timeout_ms = NO_TIMEOUT_MS if request.enable2_pc else request.transaction_timeout_ms
    names_itself = _names_itself(request)
    is_current = request.producer_epoch == transaction.producer_epoch
    is_repeated = request.producer_epoch == transaction.last_producer_epoch
    if transaction.is_epoch_exhausted and (is_current or not names_itself or (is_repeated and transaction.is_at_end)):
        last_epoch = request.producer_epoch if names_itself else NO_PRODUCER_EPOCH
        return transaction.under_new_producer_id(fresh_producer_id, last_epoch, timeout_ms, now_ms)
    epoch = transaction.producer_epoch + 1
    if not names_itself:
        return transaction.initialised(epoch, NO_PRODUCER_EPOCH, timeout_ms, now_ms)
    if is_current or transaction.producer_epoch == NO_PRODUCER_EPOCH:
        return transaction.initialised(epoch, transaction.producer_epoch, timeout_ms, now_ms)
    return transaction if is_repeated else ErrorCode.PRODUCER_FENCED


def aborted_for(transaction: Transaction, request: InitProducerIdRequest, now_ms: int) -> Transaction:
    """Return the open transaction, aborted for whoever sent `request`.

    The one that opened it is remembered, so that it gets the raised epoch when it asks again: until then it is answered
    CONCURRENT_TRANSACTIONS. (In Kafka 3.9 it would find itself fenced by its own request.)
    """
    return transaction.fenced_and_aborted(now_ms, request.producer_epoch)


def _names_itself(request: InitProducerIdRequest) -> bool:
    return request.producer_id != NO_PRODUCER_ID
