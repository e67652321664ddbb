"""ListTransactions: the transactional ids of every partition of `__transaction_state` this broker coordinates, as
far as the client may see them."""

from collections.abc import Collection
from operator import attrgetter

import re2

from broker.common.errors import ErrorCode
from broker.common.re2_patterns import remembered_re2
from broker.handlers.authorization import only_seen
from broker.handlers.coordinator_response import response_of
from broker.handlers.handler import OF_EVERYTHING, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.made_late import joined
from broker.protocol.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
    TransactionState,
)
from broker.runtime.requests.context import RequestContext
from broker.security.operations import ResourceType


async def handle_list_transactions(
    request: ListTransactionsRequest, context: RequestContext
) -> ListTransactionsResponse:
    """List transactions. Refused while a partition loads: a client would take missing transactions for finished."""
    coordinators = context.services.transactions
    try:
        remembered_re2(request.transactional_id_pattern or "")
    except re2.error:
        return ListTransactionsResponse(error_code=ErrorCode.INVALID_REGULAR_EXPRESSION)
    if coordinators.is_loading:
        return ListTransactionsResponse(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    listed: list[Collection[TransactionState]] = []
    unknown: set[str] = set()
    for partition in coordinators.loaded_partitions():
        response = await response_of(
            coordinators.submit(
                partition, lambda coordinator, token, now_ms: coordinator.list_transactions(token, request, now_ms)
            ),
            ListTransactionsResponse,
        )
        states, name_of = response.transaction_states, attrgetter("transactional_id")
        listed.append(await only_seen(ResourceType.TRANSACTIONAL_ID, states, name_of, context))
        unknown.update(response.unknown_state_filters)
    return ListTransactionsResponse(unknown_state_filters=sorted(unknown), transaction_states=joined(listed))


HANDLER = public(ApiKey.LIST_TRANSACTIONS, 0, 2, handle_list_transactions, budget=OF_EVERYTHING)
