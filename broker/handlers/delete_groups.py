"""DeleteGroups: forget empty groups, each at its own coordinator partition."""

from broker.common.errors import ApiError
from broker.handlers.group_request import answer_of, ask_group
from broker.handlers.handler import RequestContext, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse
from broker.runtime.in_turns import in_turns


async def handle_delete_groups(request: DeleteGroupsRequest, context: RequestContext) -> DeleteGroupsResponse:
    groups = dict.fromkeys(request.groups_names)
    deleted = await in_turns(groups, lambda group_id: _delete(group_id, context), context.services.turns)
    return DeleteGroupsResponse(results=deleted)


async def _delete(group_id: str, context: RequestContext) -> DeletableGroupResult:
    alone = DeleteGroupsRequest(groups_names=[group_id])
    try:
        response = await answer_of(
            ask_group(
                group_id,
                context,
                lambda coordinator, token, now_ms: coordinator.delete_groups(alone, token, now_ms),
            )
        )
    except ApiError as error:
        return DeletableGroupResult(group_id=group_id, error_code=error.code)
    return response.results[0]


HANDLER = public(ApiKey.DELETE_GROUPS, 0, 2, handle_delete_groups)
