"""Fetch: read record batches, as a consumer or as a follower."""

from uuid import UUID

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import (
    OWN_TAG_MIN,
    Buffer,
    Message,
    Request,
    Struct,
    array,
    boolean,
    int8,
    int16,
    int32,
    int64,
    records,
    string,
    uuid,
    wire,
)

#: Default of a follower's high watermark in a request.
HIGH_WATERMARK_NOT_SENT = 2**63 - 1


class ReplicaState(Struct):
    replica_id: int = wire(int32, default=-1)  #: -1 for a consumer
    replica_epoch: int = wire(int64, default=-1)


class FetchPartition(Struct):
    partition: int = wire(int32)
    current_leader_epoch: int = wire(int32, since=9, default=-1, ignorable=True)  #: fences; -1 skips the check
    fetch_offset: int = wire(int64)
    last_fetched_epoch: int = wire(int32, since=12, default=-1)  #: leader epoch of the last record held
    log_start_offset: int = wire(int64, since=5, default=-1, ignorable=True)  #: of the follower
    partition_max_bytes: int = wire(int32)
    replica_directory_id: UUID = wire(uuid, since=17, tag=0, ignorable=True)
    #: As far as the follower knows; -1 if unknown. Only replicas of KRaft's log send it.
    high_watermark: int = wire(int64, since=18, tag=1, default=HIGH_WATERMARK_NOT_SENT, ignorable=True)
    #: Between brokers of this kind, which have several fetches under way: `fetch_offset` only says what the follower
    #: holds, and the leader goes on from what it has sent already. Others ignore it; they send some records twice.
    is_progress: bool = wire(boolean, since=12, tag=OWN_TAG_MIN, default=False, ignorable=True)


class FetchTopic(Struct):
    topic: str = wire(string, until=12, ignorable=True)
    topic_id: UUID = wire(uuid, since=13, ignorable=True)
    partitions: list[FetchPartition] = wire(array(FetchPartition))


class ForgottenTopic(Struct):
    topic: str = wire(string, until=12, ignorable=True)
    topic_id: UUID = wire(uuid, since=13, ignorable=True)
    partitions: list[int] = wire(array(int32))


class FetchRequest(Request["FetchResponse"], api=ApiKey.FETCH, versions=(4, 18), flexible_from=12):
    """Somebody wants the records from an offset on.

    5: log start offset. 7: fetch sessions (KIP-227). 9: current leader epoch (KIP-320). 10: zstd allowed.
    11: rack, for reading from the closest replica (KIP-392). 12: divergence is found while fetching (KIP-595).
    13: topic ids instead of names (KIP-516). 15: the replica id moves into replica_state (KIP-903).
    16: addresses of new leaders may be answered (KIP-951). 17: directory id (KIP-853).
    18: the follower's high watermark (KIP-1166).
    """

    cluster_id: str | None = wire(string, since=12, tag=0, nullable=True, default=None, ignorable=True)
    replica_id: int = wire(int32, until=14, default=-1)  #: -1 for a consumer
    replica_state: ReplicaState = wire(ReplicaState, since=15, tag=1)
    max_wait_ms: int = wire(int32)
    min_bytes: int = wire(int32)
    max_bytes: int = wire(int32, default=0x7FFFFFFF, ignorable=True)  #: the first batch is sent even if larger (KIP-74)
    isolation_level: int = wire(int8, ignorable=True)  #: 0 read uncommitted, 1 read committed
    session_id: int = wire(int32, since=7, ignorable=True)  #: 0 when there is no session
    session_epoch: int = wire(int32, since=7, default=-1, ignorable=True)  #: 0 opens a session, -1 ends or avoids one
    topics: list[FetchTopic] = wire(array(FetchTopic))
    forgotten_topics_data: list[ForgottenTopic] = wire(array(ForgottenTopic), since=7)
    rack_id: str = wire(string, since=11, ignorable=True)


class EpochEndOffset(Struct):
    epoch: int = wire(int32, default=-1)
    end_offset: int = wire(int64, default=-1)  #: exclusive


class CurrentLeader(Struct):
    leader_id: int = wire(int32, default=-1)
    leader_epoch: int = wire(int32, default=-1)


class SnapshotId(Struct):
    end_offset: int = wire(int64, default=-1)
    epoch: int = wire(int32, default=-1)


class AbortedTransaction(Struct):
    producer_id: int = wire(int64)
    first_offset: int = wire(int64)


class PartitionData(Struct):
    partition_index: int = wire(int32)
    error_code: int = wire(int16)
    high_watermark: int = wire(int64)  #: exclusive; -1 on error
    last_stable_offset: int = wire(int64, default=-1, ignorable=True)  #: exclusive
    log_start_offset: int = wire(int64, since=5, default=-1, ignorable=True)
    #: Where the fetcher's log leaves the leader's; it must truncate. None when they agree.
    diverging_epoch: EpochEndOffset | None = wire(EpochEndOffset, since=12, tag=0, default=None)
    #: Whom to ask instead, with NOT_LEADER_OR_FOLLOWER or FENCED_LEADER_EPOCH; None when there is nothing to say.
    current_leader: CurrentLeader | None = wire(CurrentLeader, since=12, tag=1, default=None, ignorable=True)
    snapshot_id: SnapshotId | None = wire(SnapshotId, since=12, tag=2, default=None)  #: only KRaft's log has one
    #: For read committed, sorted by first offset; null otherwise.
    aborted_transactions: list[AbortedTransaction] | None = wire(
        array(AbortedTransaction), nullable=True, ignorable=True
    )
    preferred_read_replica: int = wire(int32, since=11, default=-1)  #: -1 to stay here
    records: Buffer | None = wire(records, nullable=True)  #: whole batches; the last one may be cut off


class FetchableTopicResponse(Struct):
    topic: str = wire(string, until=12, ignorable=True)
    topic_id: UUID = wire(uuid, since=13, ignorable=True)
    partitions: list[PartitionData] = wire(array(PartitionData))


class FetchNodeEndpoint(Struct):
    node_id: int = wire(int32)
    host: str = wire(string)
    port: int = wire(int32)
    rack: str | None = wire(string, nullable=True, default=None)


class FetchResponse(Message, api=ApiKey.FETCH, versions=(4, 18), flexible_from=12):
    """Records, partition by partition. In a session only partitions with news are mentioned.

    5: log start offset. 7: sessions. 11: preferred read replica. 12: diverging epoch, current leader. 13: topic ids.
    16: addresses of the current leaders.
    """

    throttle_time_ms: int = wire(int32, ignorable=True)
    error_code: int = wire(int16, since=7, ignorable=True)
    session_id: int = wire(int32, since=7)
    responses: list[FetchableTopicResponse] = wire(array(FetchableTopicResponse))
    node_endpoints: list[FetchNodeEndpoint] = wire(array(FetchNodeEndpoint), since=16, tag=0, ignorable=True)
