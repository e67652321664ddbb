"""StreamsGroupDescribe: state, members, tasks and topology of streams groups (KIP-1071).

Served by Kafka from 4.1 on, not by this broker.
"""

from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.metadata import OPERATIONS_NOT_REQUESTED
from broker.protocol.schema import (
    Message,
    Request,
    Struct,
    array,
    boolean,
    int16,
    int32,
    int64,
    string,
    uint16,
    wire,
)


class StreamsGroupDescribeRequest(
    Request["StreamsGroupDescribeResponse"], api=ApiKey.STREAMS_GROUP_DESCRIBE, versions=(0, 0), flexible_from=0
):
    """To the coordinator of the groups."""

    group_ids: list[str] = wire(array(string))
    include_authorized_operations: bool = wire(boolean)


class KeyValue(Struct):
    key: str = wire(string)
    value: str = wire(string)


class InternalTopicInfo(Struct):
    """A topic that the group's members create: 0 partitions or replicas stand for the broker's choice."""

    name: str = wire(string)
    partitions: int = wire(int32)
    replication_factor: int = wire(int16)
    topic_configs: list[KeyValue] = wire(array(KeyValue))


class StreamsSubtopology(Struct):
    """A part of the topology that is connected by topics only; a task is one of these and a partition's number."""

    subtopology_id: str = wire(string)
    source_topics: list[str] = wire(array(string))
    repartition_sink_topics: list[str] = wire(array(string))
    state_changelog_topics: list[InternalTopicInfo] = wire(array(InternalTopicInfo))
    repartition_source_topics: list[InternalTopicInfo] = wire(array(InternalTopicInfo))


class StreamsTopology(Struct):
    epoch: int = wire(int32)
    #: Null while source topics are missing, or have partitions that do not match.
    subtopologies: list[StreamsSubtopology] | None = wire(array(StreamsSubtopology), nullable=True, default=None)


class TaskIds(Struct):
    subtopology_id: str = wire(string)
    partitions: list[int] = wire(array(int32))


class TaskOffset(Struct):
    subtopology_id: str = wire(string)
    partition: int = wire(int32)
    offset: int = wire(int64)


class TaskAssignment(Struct):
    active_tasks: list[TaskIds] = wire(array(TaskIds))
    standby_tasks: list[TaskIds] = wire(array(TaskIds))
    warmup_tasks: list[TaskIds] = wire(array(TaskIds))


class Endpoint(Struct):
    host: str = wire(string)
    port: int = wire(uint16)


class StreamsGroupMember(Struct):
    member_id: str = wire(string)
    member_epoch: int = wire(int32)
    instance_id: str | None = wire(string, nullable=True, default=None)
    rack_id: str | None = wire(string, nullable=True, default=None)
    client_id: str = wire(string)
    client_host: str = wire(string)
    topology_epoch: int = wire(int32)
    process_id: str = wire(string)
    user_endpoint: Endpoint | None = wire(Endpoint, nullable=True, default=None)
    client_tags: list[KeyValue] = wire(array(KeyValue))
    task_offsets: list[TaskOffset] = wire(array(TaskOffset))
    task_end_offsets: list[TaskOffset] = wire(array(TaskOffset))
    assignment: TaskAssignment = wire(TaskAssignment)  #: what the member holds
    target_assignment: TaskAssignment = wire(TaskAssignment)  #: what it is to hold once others have given it up
    is_classic: bool = wire(boolean)


class DescribedStreamsGroup(Struct):
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True, default=None)
    group_id: str = wire(string)
    group_state: str = wire(string)  #: "Empty", "NotReady", "Assigning", "Reconciling", "Stable", "Dead"
    group_epoch: int = wire(int32)
    assignment_epoch: int = wire(int32)
    topology: StreamsTopology | None = wire(StreamsTopology, nullable=True, default=None)
    members: list[StreamsGroupMember] = wire(array(StreamsGroupMember))
    authorized_operations: int = wire(int32, default=OPERATIONS_NOT_REQUESTED)


class StreamsGroupDescribeResponse(Message, api=ApiKey.STREAMS_GROUP_DESCRIBE, versions=(0, 0), flexible_from=0):
    """A group that is unknown, or of another type, has GROUP_ID_NOT_FOUND."""

    throttle_time_ms: int = wire(int32)
    groups: list[DescribedStreamsGroup] = wire(array(DescribedStreamsGroup))
