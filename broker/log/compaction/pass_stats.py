"""What a pass did, or would do: for the log, for metrics and for a person who asks beforehand."""

from collections.abc import Mapping
from dataclasses import dataclass

from broker.common.types import TopicPartition
from broker.log.compaction.rewrite import RecordFate


@dataclass(frozen=True, slots=True)
class PassStats:
    """Offsets below `end_offset` are clean after the pass. Bytes are those of segment files."""

    partition: TopicPartition
    first_dirty_offset: int
    end_offset: int
    segments_before: int
    segments_after: int
    bytes_before: int
    bytes_after: int
    #: Both readings together: for the keys, and for what stays.
    bytes_read: int
    bytes_written: int
    records: Mapping[RecordFate, int]
    keys: int
    #: Whether the pass ended early, because no further key fitted into the offset map.
    is_map_full: bool
    seconds: float

    @property
    def records_kept(self) -> int:
        return self.records.get(RecordFate.KEPT, 0) + self.records.get(RecordFate.UNREADABLE, 0)

    def facts(self) -> dict[str, object]:
        """Return the figures as keys of a log line."""
        counts = {f"records_{fate.value}": self.records.get(fate, 0) for fate in RecordFate}
        return {
            "partition": str(self.partition),
            "first_dirty_offset": self.first_dirty_offset,
            "end_offset": self.end_offset,
            "segments_before": self.segments_before,
            "segments_after": self.segments_after,
            "bytes_before": self.bytes_before,
            "bytes_after": self.bytes_after,
            "bytes_read": self.bytes_read,
            "bytes_written": self.bytes_written,
            **counts,
            "keys": self.keys,
            "is_map_full": self.is_map_full,
            "seconds": round(self.seconds, 3),
        }
