"""How a request finds the coordinator of its transactional id on this broker."""

from collections.abc import Awaitable, Callable, Collection

from broker.common.errors import ErrorCode
from broker.coordinator.transaction.coordinator import TransactionCoordinator
from broker.coordinator.transaction.outcome import TransactionOutcome
from broker.handlers.coordinator_response import Response, response_of
from broker.protocol.schema import Message
from broker.runtime.requests.context import RequestContext

Ask = Callable[[TransactionCoordinator, int, int], TransactionOutcome]


def ask_transaction(transactional_id: str, context: RequestContext, ask: Ask) -> Message | Awaitable[Message]:
    """Return the answer of the id's coordinator, now or later; raises ApiError when this broker is not it."""
    transactions = context.services.transactions
    return transactions.submit(transactions.partition_of(transactional_id), ask)


def known_code(code: int, api_version: int, *, fenced_from: int) -> int:
    """Return the code; versions before `fenced_from` know a fenced producer by another name."""
    is_unknown = code == ErrorCode.PRODUCER_FENCED and api_version < fenced_from
    return ErrorCode.INVALID_PRODUCER_EPOCH if is_unknown else code


async def ask_when_ended(
    transactional_id: str,
    context: RequestContext,
    ask: Ask,
    response_class: type[Response],
    codes_of: Callable[[Response], Collection[int]],
    on_asked: Callable[[], None] = lambda: None,
) -> Response:
    """Ask as `ask_transaction`; retry once when the id's last transaction has ended.

    Its answer would be CONCURRENT_TRANSACTIONS, whereupon producers wait 20 ms (librdkafka) to 100 ms (Java): longer
    than the markers take that they wait for. `on_asked` is called when the coordinator was asked for the last time.
    """
    response = await response_of(ask_transaction(transactional_id, context, ask), response_class)
    if ErrorCode.CONCURRENT_TRANSACTIONS in codes_of(response):
        await context.services.transactions.wait_until_ended(transactional_id)
        reply = ask_transaction(transactional_id, context, ask)
        on_asked()
        response = await response_of(reply, response_class)
    return response
