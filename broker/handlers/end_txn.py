"""EndTxn: commit or abort; answered when the decision is durable, before the partitions have their markers."""

from broker.common.errors import ApiError
from broker.handlers.authorization import require
from broker.handlers.coordinator_response import response_of
from broker.handlers.handler import public
from broker.handlers.transaction_request import ask_transaction, known_code
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from broker.runtime.requests.context import RequestContext
from broker.security.operations import AclOperation, ResourceType

#: The first version whose clients know PRODUCER_FENCED.
_FENCED_FROM = 2


async def handle_end_txn(request: EndTxnRequest, context: RequestContext) -> EndTxnResponse:
    try:
        require(AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id, context)
        reply = ask_transaction(
            request.transactional_id,
            context,
            lambda coordinator, token, now_ms: coordinator.end_txn(token, request, now_ms),
        )
        response = await response_of(reply, EndTxnResponse)
    except ApiError as error:
        return EndTxnResponse(error_code=error.code)
    response.error_code = known_code(response.error_code, context.api_version, fenced_from=_FENCED_FROM)
    return response


HANDLER = public(ApiKey.END_TXN, 0, 4, handle_end_txn)
