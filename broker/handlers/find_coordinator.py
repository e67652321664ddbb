"""FindCoordinator: the leader of the offsets partition that a group's id hashes to; creates the offsets topic."""

from broker.common.errors import ApiError, ErrorCode
from broker.coordinator.partitions import partition_for
from broker.handlers.handler import RequestContext, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.find_coordinator import (
    Coordinator,
    CoordinatorType,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from broker.runtime.coordinators.coordinator_runtime import OFFSETS_TOPIC


async def handle_find_coordinator(request: FindCoordinatorRequest, context: RequestContext) -> FindCoordinatorResponse:
    keys = request.coordinator_keys if context.api_version >= 4 else [request.key]
    found = [await _find(key, request.key_type, context) for key in keys]
    if context.api_version >= 4:
        return FindCoordinatorResponse(coordinators=found)
    only = found[0]
    return FindCoordinatorResponse(
        error_code=only.error_code,
        error_message=only.error_message,
        node_id=only.node_id,
        host=only.host,
        port=only.port,
    )


async def _find(key: str, key_type: int, context: RequestContext) -> Coordinator:
    try:
        if key_type not in set(CoordinatorType):
            raise ApiError(ErrorCode.INVALID_REQUEST, f"{key_type} is no type of coordinator")
        if key_type != CoordinatorType.GROUP:
            raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE, "transactions are not served yet")
        await context.services.topics.ensure_offsets_topic()
        node_id, host, port = _leader(key, context)
    except ApiError as error:
        return Coordinator(key=key, node_id=-1, host="", port=-1, error_code=error.code, error_message=error.message)
    return Coordinator(key=key, node_id=node_id, host=host, port=port)


def _leader(group_id: str, context: RequestContext) -> tuple[int, str, int]:
    metadata = context.services.metadata
    partition_count = metadata.partition_count(OFFSETS_TOPIC)
    if not partition_count:
        raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    partition = partition_for(group_id, partition_count)
    leader = metadata.brokers.get(metadata.leader_of(OFFSETS_TOPIC, partition))
    if leader is None or context.listener not in leader.endpoints:
        raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return (leader.broker_id, *leader.endpoints[context.listener])


HANDLER = public(ApiKey.FIND_COORDINATOR, 0, 5, handle_find_coordinator)
