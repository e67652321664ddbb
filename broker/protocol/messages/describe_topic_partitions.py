"""DescribeTopicPartitions: topics and their partitions, a page at a time (KIP-966)."""

from uuid import UUID

from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.metadata import OPERATIONS_NOT_REQUESTED
from broker.protocol.schema import Message, Request, Struct, array, boolean, int16, int32, string, uuid, wire


class TopicRequest(Struct):
    name: str = wire(string)


class Cursor(Struct):
    """Where a page begins: topics come in the order of their names."""

    topic_name: str = wire(string)
    partition_index: int = wire(int32)


class DescribeTopicPartitionsRequest(
    Request["DescribeTopicPartitionsResponse"], api=ApiKey.DESCRIBE_TOPIC_PARTITIONS, versions=(0, 0), flexible_from=0
):
    """A client asks for some topics, or, naming none, for all."""

    topics: list[TopicRequest] = wire(array(TopicRequest))
    response_partition_limit: int = wire(int32, default=2_000)
    cursor: Cursor | None = wire(Cursor, nullable=True, default=None)


class DescribeTopicPartitionsResponsePartition(Struct):
    error_code: int = wire(int16)
    partition_index: int = wire(int32)
    leader_id: int = wire(int32)  #: -1 when there is none
    leader_epoch: int = wire(int32, default=-1)
    replica_nodes: list[int] = wire(array(int32))
    isr_nodes: list[int] = wire(array(int32))
    #: KRaft's alone, which remembers who may lead below min.insync.replicas.
    eligible_leader_replicas: list[int] | None = wire(array(int32), nullable=True, default=None)
    last_known_elr: list[int] | None = wire(array(int32), nullable=True, default=None)
    offline_replicas: list[int] = wire(array(int32))


class DescribeTopicPartitionsResponseTopic(Struct):
    error_code: int = wire(int16)
    name: str | None = wire(string, nullable=True)
    topic_id: UUID = wire(uuid)
    is_internal: bool = wire(boolean)
    partitions: list[DescribeTopicPartitionsResponsePartition] = wire(array(DescribeTopicPartitionsResponsePartition))
    topic_authorized_operations: int = wire(int32, default=OPERATIONS_NOT_REQUESTED)


class DescribeTopicPartitionsResponse(Message, api=ApiKey.DESCRIBE_TOPIC_PARTITIONS, versions=(0, 0), flexible_from=0):
    """`next_cursor` is null when there is nothing more."""

    throttle_time_ms: int = wire(int32)
    topics: list[DescribeTopicPartitionsResponseTopic] = wire(array(DescribeTopicPartitionsResponseTopic))
    next_cursor: Cursor | None = wire(Cursor, nullable=True, default=None)
