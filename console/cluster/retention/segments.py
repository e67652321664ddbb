"""The segments of a partition, and what retention does to each and when. Pure.

A segment goes as a whole: by time when its newest record is older than retention.ms, by size when those behind it hold
retention.bytes alone. The segment that is written to rolls first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from console.kit.common.figures import duration, size, utc_minute
from console.kit.gateway.retention.interface import DoomedSegment, PartitionRetention, RetentionView


@dataclass(frozen=True, slots=True)
class SegmentOutlook:
    """`goes_at_ms`: by time at the earliest, None: not by time. `bytes_left`: written anew until it goes by size."""

    segment: DoomedSegment
    goes_now: str
    goes_at_ms: int | None
    bytes_left: int | None
    is_written_to: bool

    @property
    def records(self) -> int:
        return self.segment.last_offset - self.segment.first_offset + 1

    @property
    def tone(self) -> str:
        return "critical" if self.goes_now else "plain"

    def words(self, now_ms: int) -> str:
        """Return `in 2 d 4 h (2026-11-27 08:15 UTC), or once 1.2 GB are written`."""
        if self.goes_now:
            return f"at the next look of its broker: {self.goes_now}"
        conditions = []
        if self.goes_at_ms is not None:
            waits = max(0, self.goes_at_ms - now_ms)
            conditions.append(f"in {duration(waits)} ({utc_minute(self.goes_at_ms)})")
        if self.bytes_left is not None:
            conditions.append(f"once {size(self.bytes_left)} more are written")
        if not conditions:
            return "never by itself"
        return ", or ".join(conditions) + (", if it has rolled by then" if self.is_written_to else "")


def segment_outlooks(
    everything: PartitionRetention, rules: RetentionView, doomed: Mapping[int, str]
) -> list[SegmentOutlook]:
    """Return segments, oldest first. `rules`: effective settings; `doomed`: first offset → reason of those deleted
    now.
    """
    deletes = "delete" in rules.cleanup_policy
    behind = _bytes_behind(everything)
    outlooks = []
    for segment, newer in zip(everything.segments, behind, strict=True):
        at_ms = segment.newest_at_ms
        by_time = deletes and rules.retention_ms >= 0 and at_ms is not None
        by_size = deletes and rules.retention_bytes >= 0
        outlooks.append(
            SegmentOutlook(
                segment=segment,
                goes_now=doomed.get(segment.first_offset, ""),
                goes_at_ms=(at_ms or 0) + rules.retention_ms if by_time else None,
                bytes_left=max(0, rules.retention_bytes - newer) if by_size else None,
                is_written_to=segment.last_offset + 1 >= everything.next_offset,
            )
        )
    return outlooks


def _bytes_behind(everything: PartitionRetention) -> Sequence[int]:
    """Return for each segment the bytes behind it in the partition, unlisted segments included."""
    left, behind = everything.size_bytes, []
    for segment in everything.segments:
        left -= segment.size_bytes
        behind.append(left)
    return behind
