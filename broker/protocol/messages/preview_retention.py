"""PreviewRetention: what retention and compaction would delete from a topic now, perhaps under a changed configuration.

An API of this broker alone, for consoles and people: nothing is deleted by asking.
"""

from enum import IntEnum

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import (
    Message,
    Request,
    Struct,
    array,
    boolean,
    float64,
    int8,
    int16,
    int32,
    int64,
    string,
    wire,
)


class DeletionReason(IntEnum):
    """Values of `reason`."""

    LOG_START_OFFSET = 1  #: all its records were deleted by DeleteRecords
    TIME = 2  #: retention.ms
    SIZE = 3  #: retention.bytes
    COMPACTION = 4  #: it would be written anew with what stays


class PreviewRetentionConfig(Struct):
    name: str = wire(string)
    value: str | None = wire(string, nullable=True)  #: null: as if the topic did not set it


class PreviewRetentionTopic(Struct):
    name: str = wire(string)
    partitions: list[int] | None = wire(array(int32), nullable=True)  #: null for all that this broker leads
    configs: list[PreviewRetentionConfig] = wire(array(PreviewRetentionConfig))  #: instead of what the topic sets


class PreviewRetentionRequest(
    Request["PreviewRetentionResponse"], api=ApiKey.PREVIEW_RETENTION, versions=(0, 0), flexible_from=0
):
    """To the leader of the partitions. A preview of compaction reads all that a pass would read."""

    topics: list[PreviewRetentionTopic] = wire(array(PreviewRetentionTopic))
    include_compaction: bool = wire(boolean, default=True)
    timeout_ms: int = wire(int32, default=30_000)  #: partitions not looked at by then are answered REQUEST_TIMED_OUT


class PreviewRetentionSegment(Struct):
    base_offset: int = wire(int64)
    last_offset: int = wire(int64)  #: inclusive
    size_bytes: int = wire(int64)
    max_timestamp: int = wire(int64, default=-1)  #: -1 where no record has a time, or compaction did not ask
    reason: int = wire(int8)  #: a DeletionReason


class PreviewRetentionCompaction(Struct):
    """What a pass of the cleaner would do, whether or not it is due."""

    is_due: bool = wire(boolean)  #: whether the cleaner would make the pass now
    dirty_ratio: float = wire(float64)
    is_complete: bool = wire(boolean)  #: false if more keys are dirty than one pass can hold
    end_offset: int = wire(int64, default=-1)  #: exclusive: records from here on are left alone
    bytes_before: int = wire(int64)
    bytes_after: int = wire(int64)
    records_kept: int = wire(int64)
    records_superseded: int = wire(int64)  #: a later record has the same key
    records_expired: int = wire(int64)  #: tombstones and markers older than delete.retention.ms
    records_without_key: int = wire(int64)
    records_aborted: int = wire(int64)


class PreviewRetentionPartitionResult(Struct):
    partition_index: int = wire(int32)
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True, default=None)
    log_start_offset: int = wire(int64, default=-1)
    new_log_start_offset: int = wire(int64, default=-1)  #: after retention
    log_end_offset: int = wire(int64, default=-1)
    segment_count: int = wire(int32)  #: of the whole log, with the active one
    size_bytes: int = wire(int64)
    deleted_segments: int = wire(int32)  #: by retention
    deleted_bytes: int = wire(int64)
    deleted_records: int = wire(int64)
    #: The oldest that retention deletes and those compaction rewrites; the counts above are of all.
    segments: list[PreviewRetentionSegment] = wire(array(PreviewRetentionSegment))
    #: Null where the policy does not compact, or it was not asked for.
    compaction: PreviewRetentionCompaction | None = wire(PreviewRetentionCompaction, tag=0, default=None)


class PreviewRetentionTopicResult(Struct):
    name: str = wire(string)
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True, default=None)
    cleanup_policy: str = wire(string)  #: these three as they count in the preview
    retention_ms: int = wire(int64, default=-1)
    retention_bytes: int = wire(int64, default=-1)
    partitions: list[PreviewRetentionPartitionResult] = wire(array(PreviewRetentionPartitionResult))


class PreviewRetentionResponse(Message, api=ApiKey.PREVIEW_RETENTION, versions=(0, 0), flexible_from=0):
    """One result for each topic asked for."""

    throttle_time_ms: int = wire(int32)
    topics: list[PreviewRetentionTopicResult] = wire(array(PreviewRetentionTopicResult))
