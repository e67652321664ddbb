"""ListGroups: every group of every offsets partition this broker coordinates."""

from collections.abc import Collection

from broker.common.errors import ApiError, ErrorCode
from broker.handlers.group_request import answer_of
from broker.handlers.handler import OF_EVERYTHING, RequestContext, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.made_late import joined
from broker.protocol.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse


async def handle_list_groups(request: ListGroupsRequest, context: RequestContext) -> ListGroupsResponse:
    coordinators = context.services.groups
    groups: list[Collection[ListedGroup]] = []
    for partition in coordinators.loaded_partitions():
        try:
            response = await answer_of(
                coordinators.submit(
                    partition, lambda coordinator, token, now_ms: coordinator.list_groups(request, token, now_ms)
                )
            )
        except ApiError:  # given up while others were asked
            continue
        groups.append(response.groups)
    code = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if coordinators.is_loading else ErrorCode.NONE
    return ListGroupsResponse(error_code=code, groups=joined(groups))


HANDLER = public(ApiKey.LIST_GROUPS, 0, 5, handle_list_groups, budget=OF_EVERYTHING)
