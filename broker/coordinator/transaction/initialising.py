"""InitProducerId for a transactional id: which producer id and epoch it gets, and who is refused (KIP-98, KIP-360).

A producer that names the id and epoch it holds wants to go on after an error, and must be the last one that was let in.
One that names none is new, and fences all before it.
"""

from broker.common.errors import ErrorCode
from broker.coordinator.transaction.transaction import (
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    Transaction,
    is_exhausted,
)
from broker.protocol.messages.init_producer_id import InitProducerIdRequest


def request_error(request: InitProducerIdRequest, timeout_max_ms: int) -> ErrorCode:
    if not request.transactional_id:
        return ErrorCode.INVALID_REQUEST
    if (request.producer_id == NO_PRODUCER_ID) != (request.producer_epoch == NO_PRODUCER_EPOCH):
        return ErrorCode.INVALID_REQUEST
    if not 0 < request.transaction_timeout_ms <= timeout_max_ms:
        return ErrorCode.INVALID_TRANSACTION_TIMEOUT
    return ErrorCode.NONE


def is_fenced(transaction: Transaction, request: InitProducerIdRequest) -> bool:
    """Whether the producer holds an id that is not the one in use. Its epoch is looked at when it would be raised."""
    if not _names_itself(request) or transaction.producer_epoch == NO_PRODUCER_EPOCH:
        return False
    if request.producer_id == transaction.producer_id:
        return False
    is_repeated = request.producer_id == transaction.last_producer_id and is_exhausted(request.producer_epoch)
    return not is_repeated


def initialise(
    transaction: Transaction, request: InitProducerIdRequest, fresh_producer_id: int, now_ms: int
) -> Transaction | ErrorCode:
    """What `transaction`, which is not open, becomes; itself if the request repeats the one that led to it."""
    timeout_ms, names_itself = request.transaction_timeout_ms, _names_itself(request)
    is_current = request.producer_epoch == transaction.producer_epoch
    if transaction.is_epoch_exhausted and (is_current or not names_itself):
        return transaction.under_new_producer_id(fresh_producer_id, names_itself, timeout_ms, now_ms)
    epoch = transaction.producer_epoch + 1
    if not names_itself:
        return transaction.initialised(epoch, NO_PRODUCER_EPOCH, timeout_ms, now_ms)
    if is_current or transaction.producer_epoch == NO_PRODUCER_EPOCH:
        return transaction.initialised(epoch, transaction.producer_epoch, timeout_ms, now_ms)
    return transaction if request.producer_epoch == transaction.last_producer_epoch else ErrorCode.PRODUCER_FENCED


def _names_itself(request: InitProducerIdRequest) -> bool:
    return request.producer_id != NO_PRODUCER_ID
