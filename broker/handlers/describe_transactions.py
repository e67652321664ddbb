"""DescribeTransactions: what transactional ids are doing, each as its own coordinator knows it (KIP-664)."""

from operator import attrgetter

from broker.common.errors import ApiError
from broker.handlers.authorization import only_seen, require
from broker.handlers.coordinator_response import response_of
from broker.handlers.handler import OF_EVERYTHING, public
from broker.handlers.transaction_request import ask_transaction
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)
from broker.runtime.in_turns import in_turns
from broker.runtime.requests.context import RequestContext
from broker.security.operations import AclOperation, ResourceType


async def handle_describe_transactions(
    request: DescribeTransactionsRequest, context: RequestContext
) -> DescribeTransactionsResponse:
    ids = dict.fromkeys(request.transactional_ids)
    described = await in_turns(ids, lambda turn: _describe(turn, context), context.services.turns)
    return DescribeTransactionsResponse(transaction_states=described)


async def _describe(transactional_id: str, context: RequestContext) -> TransactionState:
    alone = DescribeTransactionsRequest(transactional_ids=[transactional_id])
    try:
        require(AclOperation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, transactional_id, context)
        response = await response_of(
            ask_transaction(
                transactional_id,
                context,
                lambda coordinator, token, now_ms: coordinator.describe_transactions(token, alone, now_ms),
            ),
            DescribeTransactionsResponse,
        )
    except ApiError as error:
        return TransactionState(error_code=error.code, transactional_id=transactional_id)
    state = response.transaction_states[0]
    state.topics = await only_seen(ResourceType.TOPIC, state.topics, attrgetter("topic"), context)
    return state


HANDLER = public(ApiKey.DESCRIBE_TRANSACTIONS, 0, 0, handle_describe_transactions, budget=OF_EVERYTHING)
