"""DeleteGroups: forget empty groups and their committed offsets."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int16, int32, string, wire


class DeleteGroupsRequest(Request["DeleteGroupsResponse"], api=ApiKey.DELETE_GROUPS, versions=(0, 3), flexible_from=2):
    """Delete some groups, each succeeding or failing alone. 3: why not, in words."""

    groups_names: list[str] = wire(array(string))


class DeletableGroupResult(Struct):
    group_id: str = wire(string)
    error_code: int = wire(int16)
    error_message: str | None = wire(string, since=3, nullable=True, default=None, ignorable=True)


class DeleteGroupsResponse(Message, api=ApiKey.DELETE_GROUPS, versions=(0, 3), flexible_from=2):
    """One result for each group."""

    throttle_time_ms: int = wire(int32, ignorable=True)
    results: list[DeletableGroupResult] = wire(array(DeletableGroupResult))
