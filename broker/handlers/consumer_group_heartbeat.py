"""ConsumerGroupHeartbeat: answered by the coordinator of the group (KIP-848)."""

from collections.abc import Awaitable

from broker.common.errors import ApiError, ErrorCode
from broker.handlers.authorization import denied_topics, require
from broker.handlers.coordinator_response import response_of
from broker.handlers.group_request import ask_group, client_of
from broker.handlers.handler import OF_PARTITIONS, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from broker.protocol.schema import Message
from broker.runtime.cluster_features import serves_consumer_groups
from broker.runtime.requests.context import Reply, RequestContext
from broker.security.operations import AclOperation, ResourceType
from broker.security.rights import UNLIMITED


def handle_consumer_group_heartbeat(request: ConsumerGroupHeartbeatRequest, context: RequestContext) -> Reply:
    try:
        if not serves_consumer_groups(context.services.features):
            raise ApiError(ErrorCode.UNSUPPORTED_VERSION, "The cluster has not finalized group.version 1.")
        require(AclOperation.READ, ResourceType.GROUP, request.group_id, context)
        if request.subscribed_topic_names and context.session.rights is not UNLIMITED:
            return _ask_if_all_are_seen(request, context)
        return _ask(request, context)
    except ApiError as error:
        return _refused(error)


async def _ask_if_all_are_seen(
    request: ConsumerGroupHeartbeatRequest, context: RequestContext
) -> ConsumerGroupHeartbeatResponse:
    """One topic that the client may not describe refuses the whole subscription, as in Kafka."""
    try:
        if await denied_topics(AclOperation.DESCRIBE, request.subscribed_topic_names or (), context):
            raise ApiError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        return await response_of(_ask(request, context), ConsumerGroupHeartbeatResponse)
    except ApiError as error:
        return _refused(error)


def _ask(request: ConsumerGroupHeartbeatRequest, context: RequestContext) -> Message | Awaitable[Message]:
    client, rights = client_of(context), context.session.rights
    return ask_group(
        request.group_id,
        context,
        lambda coordinator, token, now_ms: coordinator.consumer_group_heartbeat(
            request,
            client,
            token,
            now_ms,
            lambda topic: rights is UNLIMITED or rights.sees(AclOperation.DESCRIBE, ResourceType.TOPIC, topic),
        ),
    )


def _refused(error: ApiError) -> ConsumerGroupHeartbeatResponse:
    return ConsumerGroupHeartbeatResponse(error_code=error.code, error_message=error.message)


HANDLER = public(ApiKey.CONSUMER_GROUP_HEARTBEAT, 0, 1, handle_consumer_group_heartbeat, budget=OF_PARTITIONS)
