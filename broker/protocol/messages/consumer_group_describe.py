"""ConsumerGroupDescribe: state, members and assignments of groups of the consumer protocol (KIP-848)."""

from uuid import UUID

from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.metadata import OPERATIONS_NOT_REQUESTED
from broker.protocol.schema import Message, Request, Struct, array, boolean, int8, int16, int32, string, uuid, wire


class ConsumerGroupDescribeRequest(
    Request["ConsumerGroupDescribeResponse"], api=ApiKey.CONSUMER_GROUP_DESCRIBE, versions=(0, 1), flexible_from=0
):
    """To the coordinator of the groups."""

    group_ids: list[str] = wire(array(string))
    include_authorized_operations: bool = wire(boolean)


class AssignedTopicPartitions(Struct):
    topic_id: UUID = wire(uuid)
    topic_name: str = wire(string)
    partitions: list[int] = wire(array(int32))


class Assignment(Struct):
    topic_partitions: list[AssignedTopicPartitions] = wire(array(AssignedTopicPartitions))


class ConsumerGroupMember(Struct):
    member_id: str = wire(string)
    instance_id: str | None = wire(string, nullable=True, default=None)
    rack_id: str | None = wire(string, nullable=True, default=None)
    member_epoch: int = wire(int32)
    client_id: str = wire(string)
    client_host: str = wire(string)
    subscribed_topic_names: list[str] = wire(array(string))
    subscribed_topic_regex: str | None = wire(string, nullable=True, default=None)
    assignment: Assignment = wire(Assignment)  #: what the member holds
    target_assignment: Assignment = wire(Assignment)  #: what it is to hold once others have given it up
    member_type: int = wire(int8, since=1, default=-1, ignorable=True)  #: 0 classic, 1 consumer, -1 not told


class DescribedConsumerGroup(Struct):
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True, default=None)
    group_id: str = wire(string)
    group_state: str = wire(string)  #: "Empty", "Assigning", "Reconciling", "Stable", "Dead"
    group_epoch: int = wire(int32)
    assignment_epoch: int = wire(int32)
    assignor_name: str = wire(string)
    members: list[ConsumerGroupMember] = wire(array(ConsumerGroupMember))
    authorized_operations: int = wire(int32, default=OPERATIONS_NOT_REQUESTED)


class ConsumerGroupDescribeResponse(Message, api=ApiKey.CONSUMER_GROUP_DESCRIBE, versions=(0, 1), flexible_from=0):
    """A group that is unknown, or of another type, has GROUP_ID_NOT_FOUND. 1: the type of each member (KIP-1099)."""

    throttle_time_ms: int = wire(int32)
    groups: list[DescribedConsumerGroup] = wire(array(DescribedConsumerGroup))
