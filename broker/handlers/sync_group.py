"""SyncGroup: parked by the coordinator until the leader has handed in the assignment."""

from broker.common.errors import ApiError, ErrorCode
from broker.handlers.authorization import require
from broker.handlers.group_request import ask_group
from broker.handlers.handler import public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from broker.runtime.requests.context import Reply, RequestContext
from broker.security.operations import AclOperation, ResourceType

#: From this version on a member names the protocol it synchronises (KIP-559).
_PROTOCOL_NAMED_VERSION = 5


def handle_sync_group(request: SyncGroupRequest, context: RequestContext) -> Reply:
    names_protocol = request.protocol_type is not None and request.protocol_name is not None
    if context.api_version >= _PROTOCOL_NAMED_VERSION and not names_protocol:
        return SyncGroupResponse(error_code=ErrorCode.INCONSISTENT_GROUP_PROTOCOL, assignment=b"")
    try:
        require(AclOperation.READ, ResourceType.GROUP, request.group_id, context)
        return ask_group(
            request.group_id,
            context,
            lambda coordinator, token, now_ms: coordinator.sync_group(request, token, now_ms),
        )
    except ApiError as error:
        return SyncGroupResponse(error_code=error.code, assignment=b"")


HANDLER = public(ApiKey.SYNC_GROUP, 0, 5, handle_sync_group)
