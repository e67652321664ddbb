"""ListGroups: the groups this broker coordinates."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int16, int32, string, wire


class ListGroupsRequest(Request["ListGroupsResponse"], api=ApiKey.LIST_GROUPS, versions=(0, 5), flexible_from=3):
    """4: only some states (KIP-518). 5: only some types (KIP-848)."""

    states_filter: list[str] = wire(array(string), since=4)  #: empty for all
    types_filter: list[str] = wire(array(string), since=5)  #: empty for all


class ListedGroup(Struct):
    group_id: str = wire(string)
    protocol_type: str = wire(string)
    group_state: str = wire(string, since=4, ignorable=True)
    group_type: str = wire(string, since=5, ignorable=True)  #: "classic" or "consumer"


class ListGroupsResponse(Message, api=ApiKey.LIST_GROUPS, versions=(0, 5), flexible_from=3):
    """1: throttle time. 4: the state of each group. 5: its type."""

    throttle_time_ms: int = wire(int32, since=1, ignorable=True)
    error_code: int = wire(int16)
    groups: list[ListedGroup] = wire(array(ListedGroup))
