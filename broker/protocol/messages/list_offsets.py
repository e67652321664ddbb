"""ListOffsets: the offset that belongs to a timestamp, or the first, or the next."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int8, int16, int32, int64, string, wire

#: Values of `timestamp` that are questions of their own.
LATEST_TIMESTAMP = -1
EARLIEST_TIMESTAMP = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL_TIMESTAMP = -4
LATEST_TIERED_TIMESTAMP = -5
EARLIEST_PENDING_UPLOAD_TIMESTAMP = -6


class ListOffsetsPartition(Struct):
    partition_index: int = wire(int32)
    current_leader_epoch: int = wire(int32, since=4, default=-1, ignorable=True)  #: fences; -1 skips the check
    timestamp: int = wire(int64)  #: milliseconds, or one of the negative constants


class ListOffsetsTopic(Struct):
    name: str = wire(string)
    partitions: list[ListOffsetsPartition] = wire(array(ListOffsetsPartition))


class ListOffsetsRequest(Request["ListOffsetsResponse"], api=ApiKey.LIST_OFFSETS, versions=(1, 11), flexible_from=6):
    """Where in time does a partition begin, end or pass a moment.

    2: isolation level. 4: current leader epoch. 7: the newest timestamp (KIP-734). 8: the first local offset (KIP-405).
    9: the last tiered offset (KIP-1005). 10: how long remote storage may take (KIP-1075).
    11: the first offset that is not tiered yet (KIP-1023).
    """

    replica_id: int = wire(int32, default=-1)  #: -1 for a consumer
    isolation_level: int = wire(int8, since=2)  #: 1 answers the last stable offset as the end
    topics: list[ListOffsetsTopic] = wire(array(ListOffsetsTopic))
    timeout_ms: int = wire(int32, since=10, ignorable=True)  #: for offsets that are looked up in remote storage


class ListOffsetsPartitionResponse(Struct):
    partition_index: int = wire(int32)
    error_code: int = wire(int16)
    timestamp: int = wire(int64, default=-1)  #: of the record found
    offset: int = wire(int64, default=-1)  #: -1 when no record is that new
    leader_epoch: int = wire(int32, since=4, default=-1, ignorable=True)  #: of the record found


class ListOffsetsTopicResponse(Struct):
    name: str = wire(string)
    partitions: list[ListOffsetsPartitionResponse] = wire(array(ListOffsetsPartitionResponse))


class ListOffsetsResponse(Message, api=ApiKey.LIST_OFFSETS, versions=(1, 11), flexible_from=6):
    """One offset for each partition. 2: throttle time. 4: leader epoch."""

    throttle_time_ms: int = wire(int32, since=2, ignorable=True)
    topics: list[ListOffsetsTopicResponse] = wire(array(ListOffsetsTopicResponse))
