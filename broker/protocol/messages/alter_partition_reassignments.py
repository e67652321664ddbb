"""AlterPartitionReassignments: move partitions to other brokers, or call a move off (KIP-455)."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, boolean, int16, int32, string, wire


class ReassignablePartition(Struct):
    partition_index: int = wire(int32)
    #: Where the partition shall live, preferred leader first; null cancels the move in progress.
    replicas: list[int] | None = wire(array(int32), nullable=True, default=None)


class ReassignableTopic(Struct):
    name: str = wire(string)
    partitions: list[ReassignablePartition] = wire(array(ReassignablePartition))


class AlterPartitionReassignmentsRequest(
    Request["AlterPartitionReassignmentsResponse"],
    api=ApiKey.ALTER_PARTITION_REASSIGNMENTS,
    versions=(0, 1),
    flexible_from=0,
):
    """Reassign some partitions, each succeeding or failing alone. 1: without changing how many replicas (KIP-860)."""

    timeout_ms: int = wire(int32, default=60_000)
    allow_replication_factor_change: bool = wire(boolean, since=1, default=True)
    topics: list[ReassignableTopic] = wire(array(ReassignableTopic))


class ReassignablePartitionResponse(Struct):
    partition_index: int = wire(int32)
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True)


class ReassignableTopicResponse(Struct):
    name: str = wire(string)
    partitions: list[ReassignablePartitionResponse] = wire(array(ReassignablePartitionResponse))


class AlterPartitionReassignmentsResponse(
    Message, api=ApiKey.ALTER_PARTITION_REASSIGNMENTS, versions=(0, 1), flexible_from=0
):
    """One result for each partition: whether the move has begun, not whether it is done."""

    throttle_time_ms: int = wire(int32)
    allow_replication_factor_change: bool = wire(boolean, since=1, default=True, ignorable=True)
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True)
    responses: list[ReassignableTopicResponse] = wire(array(ReassignableTopicResponse))
