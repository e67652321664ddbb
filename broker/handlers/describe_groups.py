"""DescribeGroups: state, members and assignments, each group from its own coordinator partition."""

from broker.common.errors import ApiError, ErrorCode
from broker.coordinator.group.states import GroupState
from broker.handlers.authorization import require
from broker.handlers.coordinator_response import response_of
from broker.handlers.group_request import ask_group
from broker.handlers.handler import OF_EVERYTHING, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.describe_groups import DescribedGroup, DescribeGroupsRequest, DescribeGroupsResponse
from broker.runtime.in_turns import in_turns
from broker.runtime.requests.context import RequestContext
from broker.security.operations import AclOperation, ResourceType

#: From this version on a group that is not there is an error (KIP-1043); it is Dead in all of them.
_NOT_FOUND_VERSION = 6


async def handle_describe_groups(request: DescribeGroupsRequest, context: RequestContext) -> DescribeGroupsResponse:
    groups = dict.fromkeys(request.groups)
    described = await in_turns(groups, lambda group_id: _describe(group_id, context), context.services.turns)
    if context.api_version >= _NOT_FOUND_VERSION:
        for group in described:
            if group.group_state == GroupState.DEAD.value:
                group.error_code = ErrorCode.GROUP_ID_NOT_FOUND
    if request.include_authorized_operations:
        for group in described:
            if not group.error_code:
                group.authorized_operations = context.session.rights.operations(ResourceType.GROUP, group.group_id)
    return DescribeGroupsResponse(groups=described)


async def _describe(group_id: str, context: RequestContext) -> DescribedGroup:
    alone = DescribeGroupsRequest(groups=[group_id])
    try:
        require(AclOperation.DESCRIBE, ResourceType.GROUP, group_id, context)
        response = await response_of(
            ask_group(
                group_id,
                context,
                lambda coordinator, token, now_ms: coordinator.describe_groups(alone, token, now_ms),
            ),
            DescribeGroupsResponse,
        )
    except ApiError as error:
        return DescribedGroup(error_code=error.code, error_message=error.message, group_id=group_id)
    return response.groups[0]


HANDLER = public(ApiKey.DESCRIBE_GROUPS, 0, 6, handle_describe_groups, budget=OF_EVERYTHING)
