"""What of a topic's configuration a log needs, with Kafka's defaults."""

from dataclasses import dataclass
from typing import Any

from broker.records.batch import Compression
from broker.records.compression import GZIP_DEFAULT_LEVEL, LZ4_DEFAULT_LEVEL, ZSTD_DEFAULT_LEVEL
from broker.records.repacking import Packing

CREATE_TIME = "CreateTime"
LOG_APPEND_TIME = "LogAppendTime"
#: What Kafka writes for "no limit" where -1 is not allowed.
UNLIMITED = 2**63 - 1


@dataclass(frozen=True, slots=True)
class LogConfig:
    """One attribute per topic configuration key, same name. Times are milliseconds.

    `preallocate` is accepted by topics and not acted on: a sparse file of the final size would look like a torn one.
    """

    #: segment.bytes: a new segment starts before one grows beyond this. At most what an index entry can point to.
    segment_bytes: int = 1024 * 1024 * 1024
    #: segment.ms: a new segment starts with the batch that is this much younger than the first of the segment.
    segment_ms: int = 604_800_000
    #: segment.index.bytes: a new segment starts when an index has grown to this.
    segment_index_bytes: int = 10 * 1024 * 1024
    #: index.interval.bytes: an index entry each time this much log has been written since the last one.
    index_interval_bytes: int = 4096
    #: max.message.bytes: the largest batch `append` takes.
    max_message_bytes: int = 1_048_588
    #: cleanup.policy: `delete`, `compact` or both.
    cleanup_policy: tuple[str, ...] = ("delete",)
    #: retention.ms, retention.bytes: how long and how much to keep; -1 is no limit.
    retention_ms: int = 604_800_000
    retention_bytes: int = -1
    #: file.delete.delay.ms: how long a deleted segment stays on disk for those who still read it.
    file_delete_delay_ms: int = 60_000
    #: message.timestamp.type: whose clock sets timestamps, the producer's (CreateTime) or the broker's (LogAppendTime).
    message_timestamp_type: str = CREATE_TIME
    #: message.timestamp.before.max.ms, …after.max.ms: how far a CreateTime may be behind or ahead of our clock.
    message_timestamp_before_max_ms: int = UNLIMITED
    message_timestamp_after_max_ms: int = UNLIMITED
    #: flush.messages, flush.ms: records and time between two fsyncs; without them the system decides.
    flush_messages: int = UNLIMITED
    flush_ms: int = UNLIMITED
    #: min.cleanable.dirty.ratio, min.compaction.lag.ms, max.compaction.lag.ms, delete.retention.ms: for the cleaner.
    min_cleanable_dirty_ratio: float = 0.5
    min_compaction_lag_ms: int = 0
    max_compaction_lag_ms: int = UNLIMITED
    delete_retention_ms: int = 86_400_000
    #: min.insync.replicas: a leader takes records of acks=all only with that many replicas in sync.
    min_insync_replicas: int = 1
    #: compression.type, compression.*.level (KIP-390): how a leader packs the batches it takes.
    compression_type: str = "producer"
    compression_gzip_level: int = GZIP_DEFAULT_LEVEL
    compression_lz4_level: int = LZ4_DEFAULT_LEVEL
    compression_zstd_level: int = ZSTD_DEFAULT_LEVEL
    #: leader.replication.throttled.replicas, follower.…: (partition, broker) pairs, or "*" for each.
    leader_replication_throttled_replicas: tuple[Any, ...] = ()
    follower_replication_throttled_replicas: tuple[Any, ...] = ()
    #: barnabas.audit.enable: the leader counts what it appends.
    barnabas_audit_enable: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.segment_bytes <= 2**31 - 1:
            raise ValueError(f"segment.bytes is {self.segment_bytes}, not from 1 to {2**31 - 1}")

    @property
    def is_compacted(self) -> bool:
        return "compact" in self.cleanup_policy

    @property
    def is_deleted(self) -> bool:
        """Whether retention by time and by bytes applies."""
        return "delete" in self.cleanup_policy

    @property
    def segment_ms_max(self) -> int:
        """segment.ms, or less where records must be compacted before: the active segment never is (KIP-354)."""
        return min(self.segment_ms, self.max_compaction_lag_ms) if self.is_compacted else self.segment_ms

    @property
    def uses_append_time(self) -> bool:
        return self.message_timestamp_type == LOG_APPEND_TIME

    @property
    def packing(self) -> Packing | None:
        """How batches are compressed; None to keep the producer's codec."""
        match self.compression_type:
            case "producer":
                return None
            case "uncompressed":
                return Packing(Compression.NONE)
            case "gzip":
                return Packing(Compression.GZIP, self.compression_gzip_level)
            case "lz4":
                return Packing(Compression.LZ4, self.compression_lz4_level)
            case "zstd":
                return Packing(Compression.ZSTD, self.compression_zstd_level)
            case "snappy":
                return Packing(Compression.SNAPPY)
        raise ValueError(f"compression.type is {self.compression_type}")
