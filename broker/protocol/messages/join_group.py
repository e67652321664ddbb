"""JoinGroup: a consumer or worker becomes a member of a group and waits for the others."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Buffer, Message, Request, Struct, array, boolean, bytes_, int16, int32, string, wire


class JoinGroupRequestProtocol(Struct):
    name: str = wire(string)  #: an assignor the member supports
    metadata: Buffer = wire(bytes_)  #: opaque to the broker


class JoinGroupRequest(Request["JoinGroupResponse"], api=ApiKey.JOIN_GROUP, versions=(0, 9), flexible_from=6):
    """Join, or join again.

    1: rebalance timeout. 4: the first answer only hands out a member id (KIP-394). 5: static members (KIP-345).
    8: a reason for the log (KIP-800).
    """

    group_id: str = wire(string)
    session_timeout_ms: int = wire(int32)  #: silence after which the member is dead
    rebalance_timeout_ms: int = wire(int32, since=1, default=-1, ignorable=True)  #: time to rejoin; -1 as the session
    member_id: str = wire(string)  #: empty on the first call
    group_instance_id: str | None = wire(string, since=5, nullable=True, default=None)  #: static members only
    protocol_type: str = wire(string)  #: "consumer", "connect"
    protocols: list[JoinGroupRequestProtocol] = wire(array(JoinGroupRequestProtocol))  #: preferred first
    reason: str | None = wire(string, since=8, nullable=True, default=None, ignorable=True)


class JoinGroupResponseMember(Struct):
    member_id: str = wire(string)
    group_instance_id: str | None = wire(string, since=5, nullable=True, default=None, ignorable=True)
    metadata: Buffer = wire(bytes_)


class JoinGroupResponse(Message, api=ApiKey.JOIN_GROUP, versions=(0, 9), flexible_from=6):
    """The new generation; the leader also learns who its members are.

    2: throttle time. 5: static members. 7: protocol type, and the protocol may be null on error (KIP-559).
    9: a returning static leader may skip the assignment (KIP-814).
    """

    throttle_time_ms: int = wire(int32, since=2, ignorable=True)
    error_code: int = wire(int16)
    generation_id: int = wire(int32, default=-1)
    protocol_type: str | None = wire(string, since=7, nullable=True, default=None, ignorable=True)
    protocol_name: str | None = wire(string, nullable_since=7)  #: the assignor all members support
    leader: str = wire(string)  #: the leader's member id
    skip_assignment: bool = wire(boolean, since=9)
    member_id: str = wire(string)
    members: list[JoinGroupResponseMember] = wire(array(JoinGroupResponseMember))  #: empty except for the leader
