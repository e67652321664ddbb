"""SyncGroup: parked by the coordinator until the leader has handed in the assignment."""

from broker.common.errors import ApiError
from broker.handlers.authorization import require
from broker.handlers.group_request import ask_group
from broker.handlers.handler import public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from broker.runtime.requests.context import Reply, RequestContext
from broker.security.operations import AclOperation, ResourceType


def handle_sync_group(request: SyncGroupRequest, context: RequestContext) -> Reply:
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
