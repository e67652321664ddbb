"""ElectLeaders: have the controller elect leaders now, preferred ones or whatever is left (KIP-183, KIP-460)."""

from enum import IntEnum

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int8, int16, int32, string, wire


class ElectionType(IntEnum):
    """Values of `election_type`."""

    PREFERRED = 0
    #: A replica out of sync may win if no other is alive; records may be lost.
    UNCLEAN = 1


class TopicPartitions(Struct):
    topic: str = wire(string)
    partitions: list[int] = wire(array(int32))


class ElectLeadersRequest(Request["ElectLeadersResponse"], api=ApiKey.ELECT_LEADERS, versions=(0, 2), flexible_from=2):
    """Elect a leader for some partitions. 0: preferred only. 1: the type of election."""

    election_type: int = wire(int8, since=1)  #: an ElectionType
    #: Null for all partitions.
    topic_partitions: list[TopicPartitions] | None = wire(array(TopicPartitions), nullable=True)
    timeout_ms: int = wire(int32, default=60_000)


class PartitionResult(Struct):
    partition_id: int = wire(int32)
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True)


class ReplicaElectionResult(Struct):
    topic: str = wire(string)
    partition_result: list[PartitionResult] = wire(array(PartitionResult))


class ElectLeadersResponse(Message, api=ApiKey.ELECT_LEADERS, versions=(0, 2), flexible_from=2):
    """One result for each partition; when asked for all, those with ELECTION_NOT_NEEDED are left out.

    1: top-level error.
    """

    throttle_time_ms: int = wire(int32)
    error_code: int = wire(int16, since=1)
    replica_election_results: list[ReplicaElectionResult] = wire(array(ReplicaElectionResult))
