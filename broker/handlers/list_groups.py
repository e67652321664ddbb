"""ListGroups: the groups of every offsets partition this broker coordinates, those that the client may see."""

from collections.abc import Collection
from operator import attrgetter

from broker.common.errors import ApiError, ErrorCode
from broker.handlers.authorization import only_seen, sees_cluster
from broker.handlers.coordinator_response import response_of
from broker.handlers.handler import OF_EVERYTHING, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.made_late import joined
from broker.protocol.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from broker.runtime.requests.context import RequestContext
from broker.security.operations import AclOperation, ResourceType


async def handle_list_groups(request: ListGroupsRequest, context: RequestContext) -> ListGroupsResponse:
    coordinators, sees_all = context.services.groups, sees_cluster(AclOperation.DESCRIBE, context)
    groups: list[Collection[ListedGroup]] = []
    for partition in coordinators.loaded_partitions():
        try:
            response = await response_of(
                coordinators.submit(
                    partition, lambda coordinator, token, now_ms: coordinator.list_groups(request, token, now_ms)
                ),
                ListGroupsResponse,
            )
        except ApiError:  # given up while others were asked
            continue
        listed = response.groups
        groups.append(
            listed if sees_all else await only_seen(ResourceType.GROUP, listed, attrgetter("group_id"), context)
        )
    code = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if coordinators.is_loading else ErrorCode.NONE
    return ListGroupsResponse(error_code=code, groups=joined(groups))


HANDLER = public(ApiKey.LIST_GROUPS, 0, 5, handle_list_groups, budget=OF_EVERYTHING)
