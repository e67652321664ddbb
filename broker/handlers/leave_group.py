"""LeaveGroup: one member goes, or (from version 3) several are removed."""

from broker.common.errors import ApiError
from broker.handlers.authorization import require
from broker.handlers.group_request import ask_group, client_of
from broker.handlers.handler import public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from broker.runtime.requests.context import Reply, RequestContext
from broker.security.operations import AclOperation, ResourceType


def handle_leave_group(request: LeaveGroupRequest, context: RequestContext) -> Reply:
    client = client_of(context)
    try:
        require(AclOperation.READ, ResourceType.GROUP, request.group_id, context)
        return ask_group(
            request.group_id,
            context,
            lambda coordinator, token, now_ms: coordinator.leave_group(request, client, token, now_ms),
        )
    except ApiError as error:
        return LeaveGroupResponse(error_code=error.code)


HANDLER = public(ApiKey.LEAVE_GROUP, 0, 5, handle_leave_group)
