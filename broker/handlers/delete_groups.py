"""DeleteGroups: forget empty groups, each at its own coordinator partition."""

from collections.abc import Awaitable

from broker.common.errors import ApiError, error_code_of
from broker.handlers.authorization import require
from broker.handlers.coordinator_response import checked
from broker.handlers.group_request import ask_group
from broker.handlers.handler import public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse
from broker.protocol.schema import Message
from broker.runtime.in_turns import asked_in_turns
from broker.runtime.requests.context import RequestContext
from broker.security.operations import AclOperation, ResourceType


async def handle_delete_groups(request: DeleteGroupsRequest, context: RequestContext) -> DeleteGroupsResponse:
    groups = dict.fromkeys(request.groups_names)
    replies = await asked_in_turns(groups, lambda group_id: _ask(group_id, context), context.services.turns)
    responses = [checked(reply, DeleteGroupsResponse) for reply in replies]
    results = [response.results[0] for response in responses]
    for result in results:
        if result.error_code and result.error_message is None:
            result.error_message = error_code_of(result.error_code).meaning
    return DeleteGroupsResponse(results=results)


def _ask(group_id: str, context: RequestContext) -> Message | Awaitable[Message]:
    alone = DeleteGroupsRequest(groups_names=[group_id])
    try:
        require(AclOperation.DELETE, ResourceType.GROUP, group_id, context)
        return ask_group(
            group_id,
            context,
            lambda coordinator, token, now_ms: coordinator.delete_groups(alone, token, now_ms),
        )
    except ApiError as error:
        return DeleteGroupsResponse(results=[DeletableGroupResult(group_id=group_id, error_code=error.code)])


HANDLER = public(ApiKey.DELETE_GROUPS, 0, 3, handle_delete_groups)
