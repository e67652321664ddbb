"""EndTxn: what becomes of a transaction, by which of two protocols its producer speaks (KIP-98; KIP-890, part 2).

In the second one the end raises the epoch, and its answer tells the producer the new one. A producer that did not hear
the answer asks again with the epoch before it: by that a repeated request is told from the end of a next transaction.
"""

from broker.common.errors import ErrorCode
from broker.coordinator.transaction.covering import producer_error
from broker.coordinator.transaction.states import TransactionPhase
from broker.coordinator.transaction.transaction import EPOCH_RAISING_VERSION, NO_PRODUCER_ID, Transaction, is_exhausted
from broker.protocol.messages.end_txn import EndTxnRequest

#: States in which a transaction has ended the way EndTxn asks for: a repeated request succeeds, by and by.
_ENDED_BY = {
    True: (TransactionPhase.PREPARE_COMMIT, TransactionPhase.COMPLETE_COMMIT),
    False: (TransactionPhase.PREPARE_ABORT, TransactionPhase.COMPLETE_ABORT),
}


def ended(transaction: Transaction | None, request: EndTxnRequest, now_ms: int) -> Transaction | ErrorCode:
    """Return the decided transaction, NONE if it has ended that way before, or why it cannot end."""
    error = producer_error(request.transactional_id, transaction, request.producer_id, request.producer_epoch)
    if transaction is None or error is not ErrorCode.NONE:
        return error
    if transaction.state is TransactionPhase.ONGOING:
        return transaction.decided_under_same_epoch(request.committed, now_ms)
    return _repeated(transaction, request)


def ended_under_next_epoch(
    transaction: Transaction | None, request: EndTxnRequest, fresh_producer_id: int, now_ms: int
) -> Transaction | ErrorCode:
    """Return the same for a producer whose epoch each end raises.

    What has not begun cannot be committed. It can be aborted: a producer does not know of a Produce request without an
    answer whether it began its transaction.
    """
    if not request.transactional_id:
        return ErrorCode.INVALID_REQUEST
    if transaction is None or not _is_of(transaction, request.producer_id):
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    if _is_repeated(transaction, request):
        return _repeated(transaction, request)
    is_held = (request.producer_id, request.producer_epoch) == (transaction.producer_id, transaction.producer_epoch)
    if not is_held or transaction.is_at_end:
        return ErrorCode.PRODUCER_FENCED
    if transaction.state.is_decided:
        return ErrorCode.CONCURRENT_TRANSACTIONS
    if transaction.state is not TransactionPhase.ONGOING and request.committed:
        return ErrorCode.INVALID_TXN_STATE
    return transaction.decided_under_next_epoch(request.committed, fresh_producer_id, now_ms)


def _is_of(transaction: Transaction, producer_id: int) -> bool:
    """Whether the id is the transaction's, or was it until its epochs were used up."""
    return producer_id == transaction.producer_id or (
        NO_PRODUCER_ID != producer_id == transaction.previous_producer_id and transaction.producer_epoch == 0
    )


def _is_repeated(transaction: Transaction, request: EndTxnRequest) -> bool:
    """Whether the request is one that has raised the epoch before, and no later transaction has begun since."""
    is_ended = transaction.state.is_decided or transaction.state in (
        TransactionPhase.COMPLETE_COMMIT,
        TransactionPhase.COMPLETE_ABORT,
    )
    if not is_ended or transaction.client_version < EPOCH_RAISING_VERSION:
        return False
    if request.producer_id == transaction.producer_id:
        return request.producer_epoch == transaction.producer_epoch - 1
    return is_exhausted(request.producer_epoch)


def _repeated(transaction: Transaction, request: EndTxnRequest) -> ErrorCode:
    if transaction.state not in _ENDED_BY[request.committed]:
        return ErrorCode.INVALID_TXN_STATE
    return ErrorCode.CONCURRENT_TRANSACTIONS if transaction.state.is_decided else ErrorCode.NONE
