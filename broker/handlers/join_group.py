"""JoinGroup: parked by the coordinator until the group's members are together."""

from broker.common.errors import ApiError
from broker.handlers.authorization import require
from broker.handlers.group_request import ask_group, client_of
from broker.handlers.handler import public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from broker.runtime.requests.context import Reply, RequestContext
from broker.security.operations import AclOperation, ResourceType


def handle_join_group(request: JoinGroupRequest, context: RequestContext) -> Reply:
    client = client_of(context)
    try:
        require(AclOperation.READ, ResourceType.GROUP, request.group_id, context)
        return ask_group(
            request.group_id,
            context,
            lambda coordinator, token, now_ms: coordinator.join_group(request, client, token, now_ms),
        )
    except ApiError as error:
        protocol_name = None if context.api_version >= 7 else ""
        return JoinGroupResponse(error_code=error.code, member_id=request.member_id, protocol_name=protocol_name)


HANDLER = public(ApiKey.JOIN_GROUP, 0, 9, handle_join_group)
