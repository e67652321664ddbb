"""SyncGroup: the group's leader hands in the assignment, every member receives its part."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Buffer, Message, Request, Struct, array, bytes_, int16, int32, string, wire


class SyncGroupRequestAssignment(Struct):
    member_id: str = wire(string)
    assignment: Buffer = wire(bytes_)  #: opaque to the broker


class SyncGroupRequest(Request["SyncGroupResponse"], api=ApiKey.SYNC_GROUP, versions=(0, 5), flexible_from=4):
    """3: static members. 5: the member repeats type and name of the protocol it joined with (KIP-559)."""

    group_id: str = wire(string)
    generation_id: int = wire(int32)
    member_id: str = wire(string)
    group_instance_id: str | None = wire(string, since=3, nullable=True, default=None)
    protocol_type: str | None = wire(string, since=5, nullable=True, default=None, ignorable=True)
    protocol_name: str | None = wire(string, since=5, nullable=True, default=None, ignorable=True)
    assignments: list[SyncGroupRequestAssignment] = wire(array(SyncGroupRequestAssignment))  #: from the leader only


class SyncGroupResponse(Message, api=ApiKey.SYNC_GROUP, versions=(0, 5), flexible_from=4):
    """1: throttle time. 5: protocol type and name."""

    throttle_time_ms: int = wire(int32, since=1, ignorable=True)
    error_code: int = wire(int16)
    protocol_type: str | None = wire(string, since=5, nullable=True, default=None, ignorable=True)
    protocol_name: str | None = wire(string, since=5, nullable=True, default=None, ignorable=True)
    assignment: Buffer = wire(bytes_)
