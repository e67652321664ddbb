"""FindCoordinator: the leader of the partition that a group's or transactional id hashes to; creates the topic."""

from broker.common.errors import ApiError, ErrorCode
from broker.coordinator.partitions import partition_for
from broker.handlers.authorization import require
from broker.handlers.handler import public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.find_coordinator import (
    Coordinator,
    CoordinatorType,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from broker.runtime.in_turns import in_turns
from broker.runtime.requests.context import RequestContext
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC, TRANSACTION_TOPIC
from broker.security.operations import AclOperation, ResourceType

_TYPES: dict[int, tuple[str, ResourceType]] = {
    CoordinatorType.GROUP: (OFFSETS_TOPIC, ResourceType.GROUP),
    CoordinatorType.TRANSACTION: (TRANSACTION_TOPIC, ResourceType.TRANSACTIONAL_ID),
}


async def handle_find_coordinator(request: FindCoordinatorRequest, context: RequestContext) -> FindCoordinatorResponse:
    keys = dict.fromkeys(request.coordinator_keys) if context.api_version >= 4 else [request.key]
    coordinators = await in_turns(keys, lambda key: _find(key, request.key_type, context), context.services.turns)
    if context.api_version >= 4:
        return FindCoordinatorResponse(coordinators=coordinators)
    only = coordinators[0]
    return FindCoordinatorResponse(
        error_code=only.error_code,
        error_message=only.error_message,
        node_id=only.node_id,
        host=only.host,
        port=only.port,
    )


async def _find(key: str, key_type: int, context: RequestContext) -> Coordinator:
    try:
        if key_type not in _TYPES:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"{key_type} is no type of coordinator")
        topic, kind = _TYPES[key_type]
        require(AclOperation.DESCRIBE, kind, key, context)
        if topic == TRANSACTION_TOPIC and not key:
            raise ApiError(ErrorCode.INVALID_REQUEST, "a transactional id must not be empty")
        await context.services.topics.ensure_internal(topic)
        node_id, host, port = _leader(topic, key, context)
    except ApiError as error:
        return Coordinator(key=key, node_id=-1, host="", port=-1, error_code=error.code, error_message=error.message)
    return Coordinator(key=key, node_id=node_id, host=host, port=port)


def _leader(topic: str, key: str, context: RequestContext) -> tuple[int, str, int]:
    metadata = context.services.metadata
    partition_count = metadata.partition_count(topic)
    if not partition_count:
        raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    leader = metadata.brokers.get(metadata.leader_of(topic, partition_for(key, partition_count)))
    if leader is None or context.session.listener not in leader.endpoints:
        raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return (leader.broker_id, *leader.endpoints[context.session.listener])


HANDLER = public(ApiKey.FIND_COORDINATOR, 0, 6, handle_find_coordinator)
