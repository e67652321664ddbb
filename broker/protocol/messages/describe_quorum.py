"""DescribeQuorum: leader, voters and observers of the metadata log of a KRaft cluster (KIP-595, KIP-836, KIP-853)."""

from uuid import UUID

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int16, int32, int64, string, uint16, uuid, wire


class QuorumPartition(Struct):
    partition_index: int = wire(int32)


class QuorumTopic(Struct):
    topic_name: str = wire(string)
    partitions: list[QuorumPartition] = wire(array(QuorumPartition))


class DescribeQuorumRequest(
    Request["DescribeQuorumResponse"], api=ApiKey.DESCRIBE_QUORUM, versions=(0, 2), flexible_from=0
):
    """Kafka has one such log: __cluster_metadata-0."""

    topics: list[QuorumTopic] = wire(array(QuorumTopic))


class QuorumReplica(Struct):
    replica_id: int = wire(int32)
    replica_directory_id: UUID = wire(uuid, since=2, ignorable=True)
    log_end_offset: int = wire(int64)  #: -1 when unknown
    last_fetch_timestamp: int = wire(int64, since=1, default=-1, ignorable=True)  #: -1 for the leader and when unknown
    last_caught_up_timestamp: int = wire(int64, since=1, default=-1, ignorable=True)  #: -1 when unknown


class QuorumPartitionResult(Struct):
    partition_index: int = wire(int32)
    error_code: int = wire(int16)
    error_message: str | None = wire(string, since=2, nullable=True, ignorable=True)
    leader_id: int = wire(int32)  #: -1 when unknown
    leader_epoch: int = wire(int32)
    high_watermark: int = wire(int64)
    current_voters: list[QuorumReplica] = wire(array(QuorumReplica))
    observers: list[QuorumReplica] = wire(array(QuorumReplica))


class QuorumTopicResult(Struct):
    topic_name: str = wire(string)
    partitions: list[QuorumPartitionResult] = wire(array(QuorumPartitionResult))


class QuorumListener(Struct):
    name: str = wire(string)
    host: str = wire(string)
    port: int = wire(uint16)


class QuorumNode(Struct):
    node_id: int = wire(int32)
    listeners: list[QuorumListener] = wire(array(QuorumListener))


class DescribeQuorumResponse(Message, api=ApiKey.DESCRIBE_QUORUM, versions=(0, 2), flexible_from=0):
    """1: when replicas fetched and had caught up. 2: directories of voters, and where they listen."""

    error_code: int = wire(int16)
    error_message: str | None = wire(string, since=2, nullable=True, ignorable=True)
    topics: list[QuorumTopicResult] = wire(array(QuorumTopicResult))
    nodes: list[QuorumNode] = wire(array(QuorumNode), since=2, ignorable=True)
