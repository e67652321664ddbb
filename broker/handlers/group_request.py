"""How a request finds the coordinator of its group on this broker."""

from collections.abc import Awaitable, Callable

from broker.common.errors import ApiError, ErrorCode
from broker.coordinator.group.client import GroupClientInfo
from broker.coordinator.group.coordinator import GroupCoordinator
from broker.coordinator.outcome import CoordinatorOutcome
from broker.coordinator.partitions import partition_for
from broker.protocol.schema import Message
from broker.runtime.requests.context import RequestContext
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC


def client_of(context: RequestContext) -> GroupClientInfo:
    """Return the client with its address as Kafka writes it, after a slash: tools compare it."""
    session = context.session
    return GroupClientInfo(context.client_id, f"/{session.host}", context.api_version, session.principal)


def ask_group(
    group_id: str, context: RequestContext, ask: Callable[[GroupCoordinator, int, int], CoordinatorOutcome]
) -> Message | Awaitable[Message]:
    """Return the answer of the group's coordinator, now or later; raises ApiError when this broker is not it."""
    return context.services.groups.submit(coordinating_partition(group_id, context), ask)


def coordinating_partition(group_id: str, context: RequestContext) -> int:
    """Return the offsets partition of the group; raises ApiError NOT_COORDINATOR while there are none."""
    partition_count = context.services.metadata.partition_count(OFFSETS_TOPIC)
    if not partition_count:
        raise ApiError(ErrorCode.NOT_COORDINATOR)
    return partition_for(group_id, partition_count)
