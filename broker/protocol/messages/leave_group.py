"""LeaveGroup: a member goes, or an administrator removes some."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int16, int32, string, wire


class MemberIdentity(Struct):
    member_id: str = wire(string)  #: empty to name a static member by its instance id
    group_instance_id: str | None = wire(string, nullable=True, default=None)
    reason: str | None = wire(string, since=5, nullable=True, default=None, ignorable=True)


class LeaveGroupRequest(Request["LeaveGroupResponse"], api=ApiKey.LEAVE_GROUP, versions=(0, 5), flexible_from=4):
    """3: many members at once (KIP-345). 5: a reason for the log (KIP-800)."""

    group_id: str = wire(string)
    member_id: str = wire(string, until=2)
    members: list[MemberIdentity] = wire(array(MemberIdentity), since=3)


class MemberResponse(Struct):
    member_id: str = wire(string)
    group_instance_id: str | None = wire(string, nullable=True, default=None)
    error_code: int = wire(int16)


class LeaveGroupResponse(Message, api=ApiKey.LEAVE_GROUP, versions=(0, 5), flexible_from=4):
    """1: throttle time. 3: one result for each member."""

    throttle_time_ms: int = wire(int32, since=1, ignorable=True)
    error_code: int = wire(int16)
    members: list[MemberResponse] = wire(array(MemberResponse), since=3, ignorable=True)
