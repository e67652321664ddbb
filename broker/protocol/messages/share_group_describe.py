"""ShareGroupDescribe: state and members of share groups (KIP-932). Served by Kafka from 4.1 on, not by this broker."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.consumer_group_describe import Assignment
from broker.protocol.messages.metadata import OPERATIONS_NOT_REQUESTED
from broker.protocol.schema import Message, Request, Struct, array, boolean, int16, int32, string, wire


class ShareGroupDescribeRequest(
    Request["ShareGroupDescribeResponse"], api=ApiKey.SHARE_GROUP_DESCRIBE, versions=(1, 1), flexible_from=0
):
    """To the coordinator of the groups. 0 was served by the preview in Kafka 4.0 only."""

    group_ids: list[str] = wire(array(string))
    include_authorized_operations: bool = wire(boolean)


class ShareGroupMember(Struct):
    member_id: str = wire(string)
    rack_id: str | None = wire(string, nullable=True, default=None)
    member_epoch: int = wire(int32)
    client_id: str = wire(string)
    client_host: str = wire(string)
    subscribed_topic_names: list[str] = wire(array(string))
    assignment: Assignment = wire(Assignment)  #: partitions may be those of other members as well


class DescribedShareGroup(Struct):
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True, default=None)
    group_id: str = wire(string)
    group_state: str = wire(string)  #: "Empty", "Stable", "Dead"
    group_epoch: int = wire(int32)
    assignment_epoch: int = wire(int32)
    assignor_name: str = wire(string)
    members: list[ShareGroupMember] = wire(array(ShareGroupMember))
    authorized_operations: int = wire(int32, default=OPERATIONS_NOT_REQUESTED)


class ShareGroupDescribeResponse(Message, api=ApiKey.SHARE_GROUP_DESCRIBE, versions=(1, 1), flexible_from=0):
    """A group that is unknown, or of another type, has GROUP_ID_NOT_FOUND."""

    throttle_time_ms: int = wire(int32)
    groups: list[DescribedShareGroup] = wire(array(DescribedShareGroup))
