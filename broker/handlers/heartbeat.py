"""Heartbeat: answered at once by the group's coordinator."""

from broker.common.errors import ApiError
from broker.handlers.authorization import require
from broker.handlers.group_request import ask_group
from broker.handlers.handler import public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from broker.runtime.requests.context import Reply, RequestContext
from broker.security.operations import AclOperation, ResourceType


def handle_heartbeat(request: HeartbeatRequest, context: RequestContext) -> Reply:
    try:
        require(AclOperation.READ, ResourceType.GROUP, request.group_id, context)
        return ask_group(
            request.group_id,
            context,
            lambda coordinator, token, now_ms: coordinator.heartbeat(request, token, now_ms),
        )
    except ApiError as error:
        return HeartbeatResponse(error_code=error.code)


HANDLER = public(ApiKey.HEARTBEAT, 0, 4, handle_heartbeat)
