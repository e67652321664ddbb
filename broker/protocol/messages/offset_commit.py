"""OffsetCommit: a group remembers how far it has read."""

from uuid import UUID

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int16, int32, int64, string, uuid, wire


class OffsetCommitRequestPartition(Struct):
    partition_index: int = wire(int32)
    committed_offset: int = wire(int64)  #: the next offset to read
    committed_leader_epoch: int = wire(int32, since=6, default=-1, ignorable=True)  #: of the last record read
    committed_metadata: str | None = wire(string, nullable=True)  #: whatever the consumer wants to keep beside it


class OffsetCommitRequestTopic(Struct):
    name: str = wire(string, until=9, ignorable=True)
    topic_id: UUID = wire(uuid, since=10, ignorable=True)
    partitions: list[OffsetCommitRequestPartition] = wire(array(OffsetCommitRequestPartition))


class OffsetCommitRequest(Request["OffsetCommitResponse"], api=ApiKey.OFFSET_COMMIT, versions=(2, 10), flexible_from=8):
    """Commit for some partitions; generation -1 with no member id commits for a group without members.

    5: retention is the broker's business. 6: leader epoch (KIP-320). 7: static members. 9: member epochs, 10: topic ids
    (KIP-848).
    """

    group_id: str = wire(string)
    generation_id_or_member_epoch: int = wire(int32, default=-1, ignorable=True)
    member_id: str = wire(string, ignorable=True)
    group_instance_id: str | None = wire(string, since=7, nullable=True, default=None)
    retention_time_ms: int = wire(int64, until=4, default=-1, ignorable=True)  #: -1 for the broker's setting
    topics: list[OffsetCommitRequestTopic] = wire(array(OffsetCommitRequestTopic))


class OffsetCommitResponsePartition(Struct):
    partition_index: int = wire(int32)
    error_code: int = wire(int16)


class OffsetCommitResponseTopic(Struct):
    name: str = wire(string, until=9, ignorable=True)
    topic_id: UUID = wire(uuid, since=10, ignorable=True)
    partitions: list[OffsetCommitResponsePartition] = wire(array(OffsetCommitResponsePartition))


class OffsetCommitResponse(Message, api=ApiKey.OFFSET_COMMIT, versions=(2, 10), flexible_from=8):
    """One result for each partition. 3: throttle time."""

    throttle_time_ms: int = wire(int32, since=3, ignorable=True)
    topics: list[OffsetCommitResponseTopic] = wire(array(OffsetCommitResponseTopic))
