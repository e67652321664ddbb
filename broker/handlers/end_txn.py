"""EndTxn: commit or abort; answered when the decision is durable, before the partitions have their markers."""

from collections.abc import Awaitable

from broker.common.errors import ApiError
from broker.coordinator.transaction.coordinator import TransactionCoordinator
from broker.coordinator.transaction.outcome import TransactionOutcome
from broker.coordinator.transaction.transaction import NO_PRODUCER_ID, is_exhausted
from broker.handlers.authorization import require
from broker.handlers.coordinator_response import response_of
from broker.handlers.handler import public
from broker.handlers.transaction_request import ask_transaction, known_code
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from broker.protocol.schema import Message
from broker.runtime.cluster_features import raises_epochs
from broker.runtime.requests.context import RequestContext
from broker.security.operations import AclOperation, ResourceType

#: The first version whose clients know PRODUCER_FENCED, and the first that ends a transaction under a higher epoch.
_FENCED_FROM = 2
_EPOCH_RAISED_FROM = 5


async def handle_end_txn(request: EndTxnRequest, context: RequestContext) -> EndTxnResponse:
    try:
        require(AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id, context)
        raises_epoch = context.api_version >= _EPOCH_RAISED_FROM and raises_epochs(context.services.features)
        reply = await _end(request, context, raises_epoch=raises_epoch)
        response = await response_of(reply, EndTxnResponse)
    except ApiError as error:
        return EndTxnResponse(error_code=error.code)
    response.error_code = known_code(response.error_code, context.api_version, fenced_from=_FENCED_FROM)
    return response


async def _end(request: EndTxnRequest, context: RequestContext, *, raises_epoch: bool) -> Message | Awaitable[Message]:
    """A fresh producer id is at hand where the epochs are used up, and given back if it was not needed."""
    producer_ids, fresh_id, is_used = context.services.producer_ids, NO_PRODUCER_ID, False
    if raises_epoch and is_exhausted(request.producer_epoch):
        fresh_id = await producer_ids.next_id()

    def ask(coordinator: TransactionCoordinator, token: int, now_ms: int) -> TransactionOutcome:
        nonlocal is_used
        outcome = coordinator.end_txn(token, request, now_ms, raises_epoch=raises_epoch, fresh_producer_id=fresh_id)
        is_used = outcome.used_producer_id
        return outcome

    try:
        return ask_transaction(request.transactional_id, context, ask)
    finally:
        if fresh_id != NO_PRODUCER_ID and not is_used:
            producer_ids.give_back(fresh_id)


HANDLER = public(ApiKey.END_TXN, 0, 5, handle_end_txn)
