"""AddOffsetsToTxn: a transaction is about to commit offsets, so the group's offsets partition becomes part of it."""

from collections.abc import Callable

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.coordinator.partitions import partition_for
from broker.handlers.authorization import require
from broker.handlers.handler import public
from broker.handlers.transaction_request import ask_when_ended, known_code
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from broker.runtime.in_turns import InOrder, in_order
from broker.runtime.requests.context import RequestContext
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC
from broker.security.operations import AclOperation, ResourceType

#: The first version whose clients know PRODUCER_FENCED.
_FENCED_FROM = 2


def handle_add_offsets_to_txn(request: AddOffsetsToTxnRequest, context: RequestContext) -> InOrder:
    """Add offsets to a transaction, after the markers of the producer's last one."""
    return in_order(lambda done: _handle(request, context, done))


async def _handle(
    request: AddOffsetsToTxnRequest, context: RequestContext, on_asked: Callable[[], None]
) -> AddOffsetsToTxnResponse:
    try:
        require(AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id, context)
        require(AclOperation.READ, ResourceType.GROUP, request.group_id, context)
        partition = await _offsets_partition(request.group_id, context)
        response = await ask_when_ended(
            request.transactional_id,
            context,
            lambda coordinator, token, now_ms: coordinator.add_offsets_to_txn(token, request, partition, now_ms),
            AddOffsetsToTxnResponse,
            lambda response: (response.error_code,),
            on_asked,
        )
    except ApiError as error:
        return AddOffsetsToTxnResponse(error_code=error.code)
    response.error_code = known_code(response.error_code, context.api_version, fenced_from=_FENCED_FROM)
    return response


async def _offsets_partition(group_id: str, context: RequestContext) -> TopicPartition:
    """Return the group's offsets partition; a producer may name a group before its coordinator was looked up."""
    await context.services.topics.ensure_internal(OFFSETS_TOPIC)
    count = context.services.metadata.partition_count(OFFSETS_TOPIC)
    if not count:
        raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return TopicPartition(OFFSETS_TOPIC, partition_for(group_id, count))


HANDLER = public(ApiKey.ADD_OFFSETS_TO_TXN, 0, 4, handle_add_offsets_to_txn)
