"""DescribeGroups: state, members and assignment of consumer groups."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.metadata import OPERATIONS_NOT_REQUESTED
from broker.protocol.schema import Buffer, Message, Request, Struct, array, boolean, bytes_, int16, int32, string, wire


class DescribeGroupsRequest(
    Request["DescribeGroupsResponse"], api=ApiKey.DESCRIBE_GROUPS, versions=(0, 6), flexible_from=5
):
    """3: authorized operations (KIP-430)."""

    groups: list[str] = wire(array(string))
    include_authorized_operations: bool = wire(boolean, since=3)


class DescribedGroupMember(Struct):
    member_id: str = wire(string)
    group_instance_id: str | None = wire(string, since=4, nullable=True, default=None, ignorable=True)
    client_id: str = wire(string)  #: of the member's last join
    client_host: str = wire(string)
    member_metadata: Buffer = wire(bytes_)  #: what the member sent for the chosen protocol
    member_assignment: Buffer = wire(bytes_)


class DescribedGroup(Struct):
    error_code: int = wire(int16)
    error_message: str | None = wire(string, since=6, nullable=True, default=None, ignorable=True)
    group_id: str = wire(string)
    group_state: str = wire(string)  #: "Stable", "Empty", "Dead" …
    protocol_type: str = wire(string)
    protocol_data: str = wire(string)  #: name of the chosen assignor
    members: list[DescribedGroupMember] = wire(array(DescribedGroupMember))
    authorized_operations: int = wire(int32, since=3, default=OPERATIONS_NOT_REQUESTED)


class DescribeGroupsResponse(Message, api=ApiKey.DESCRIBE_GROUPS, versions=(0, 6), flexible_from=5):
    """An unknown group is described as "Dead". 1: throttle time. 3: authorized operations. 4: static members. 6: an
    unknown group has GROUP_ID_NOT_FOUND besides (KIP-1043).
    """

    throttle_time_ms: int = wire(int32, since=1, ignorable=True)
    groups: list[DescribedGroup] = wire(array(DescribedGroup))
