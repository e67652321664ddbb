"""OffsetForLeaderEpoch: where a leader epoch ended, so that a log or a consumer can find its divergence (KIP-101)."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int16, int32, int64, string, wire


class OffsetForLeaderPartition(Struct):
    partition: int = wire(int32)
    current_leader_epoch: int = wire(int32, default=-1, ignorable=True)  #: fences; -1 skips the check
    leader_epoch: int = wire(int32)  #: the epoch asked about


class OffsetForLeaderTopic(Struct):
    topic: str = wire(string)
    partitions: list[OffsetForLeaderPartition] = wire(array(OffsetForLeaderPartition))


class OffsetForLeaderEpochRequest(
    Request["OffsetForLeaderEpochResponse"], api=ApiKey.OFFSET_FOR_LEADER_EPOCH, versions=(2, 4), flexible_from=4
):
    """3: the asker says which replica it is (KIP-392)."""

    replica_id: int = wire(int32, since=3, default=-2, ignorable=True)  #: -1 consumer, -2 unknown
    topics: list[OffsetForLeaderTopic] = wire(array(OffsetForLeaderTopic))


class EpochEndOffset(Struct):
    error_code: int = wire(int16)
    partition: int = wire(int32)
    leader_epoch: int = wire(int32, default=-1, ignorable=True)  #: the largest epoch not above the one asked about
    end_offset: int = wire(int64, default=-1)  #: exclusive


class OffsetForLeaderTopicResult(Struct):
    topic: str = wire(string)
    partitions: list[EpochEndOffset] = wire(array(EpochEndOffset))


class OffsetForLeaderEpochResponse(Message, api=ApiKey.OFFSET_FOR_LEADER_EPOCH, versions=(2, 4), flexible_from=4):
    """One result for each partition."""

    throttle_time_ms: int = wire(int32, ignorable=True)
    topics: list[OffsetForLeaderTopicResult] = wire(array(OffsetForLeaderTopicResult))
