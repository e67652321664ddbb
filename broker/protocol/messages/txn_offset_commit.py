"""TxnOffsetCommit: a group's offsets that count only if the producer's transaction commits."""

from uuid import UUID

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int16, int32, int64, string, uuid, wire


class TxnOffsetCommitRequestPartition(Struct):
    partition_index: int = wire(int32)
    committed_offset: int = wire(int64)  #: the next offset to read
    committed_leader_epoch: int = wire(int32, since=2, default=-1, ignorable=True)  #: of the last record read
    committed_metadata: str | None = wire(string, nullable=True)  #: whatever the consumer wants to keep beside it


class TxnOffsetCommitRequestTopic(Struct):
    name: str = wire(string, until=5, ignorable=True)
    topic_id: UUID = wire(uuid, since=6, ignorable=True)
    partitions: list[TxnOffsetCommitRequestPartition] = wire(array(TxnOffsetCommitRequestPartition))


class TxnOffsetCommitRequest(
    Request["TxnOffsetCommitResponse"], api=ApiKey.TXN_OFFSET_COMMIT, versions=(0, 6), flexible_from=3
):
    """Sent to the group's coordinator after AddOffsetsToTxn.

    2: leader epoch (KIP-320). 3: the consumer's membership, which fences zombies (KIP-447). 4: new transaction errors.
    5: the offsets are added to the transaction by it (KIP-890, part 2). 6: topic ids instead of names (KIP-1319).
    """

    transactional_id: str = wire(string)
    group_id: str = wire(string)
    producer_id: int = wire(int64)
    producer_epoch: int = wire(int16)
    generation_id: int = wire(int32, since=3, default=-1)  #: -1 skips the check
    member_id: str = wire(string, since=3)  #: empty skips the check
    group_instance_id: str | None = wire(string, since=3, nullable=True, default=None)
    topics: list[TxnOffsetCommitRequestTopic] = wire(array(TxnOffsetCommitRequestTopic))


class TxnOffsetCommitResponsePartition(Struct):
    partition_index: int = wire(int32)
    error_code: int = wire(int16)


class TxnOffsetCommitResponseTopic(Struct):
    name: str = wire(string, until=5, ignorable=True)
    topic_id: UUID = wire(uuid, since=6, ignorable=True)
    partitions: list[TxnOffsetCommitResponsePartition] = wire(array(TxnOffsetCommitResponsePartition))


class TxnOffsetCommitResponse(Message, api=ApiKey.TXN_OFFSET_COMMIT, versions=(0, 6), flexible_from=3):
    """One result for each partition."""

    throttle_time_ms: int = wire(int32)
    topics: list[TxnOffsetCommitResponseTopic] = wire(array(TxnOffsetCommitResponseTopic))
