"""Which segments a topic's retention lets go of: decided from facts, nothing is touched.

The same plan is what is deleted and what a preview shows, perhaps under a configuration that is not in force: so the
two cannot differ. Whole segments go, oldest first, and never one with records at or beyond the high watermark. A
segment is as old as its newest record: one with a time in the future stays until that is past. The active segment goes
when all others do and it is too old as well: a new one is begun first (`Log.roll_expired`), so a topic nobody writes
to becomes empty.
"""

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from broker.log.config import LogConfig
from broker.log.segment import Segment
from broker.records.batch import NO_TIMESTAMP


class RetainedSegment(NamedTuple):
    """What must be known of a segment. Times are milliseconds, -1 where no record has one."""

    base_offset: int
    #: Where the following segment begins, or the log ends.
    next_offset: int
    size_bytes: int
    first_timestamp: int
    max_timestamp: int
    #: When its file was last written: its age if its records have no times.
    modified_ms: int
    #: Which it is of all segments there ever were at these offsets.
    serial: int = 0


class RetentionReason(Enum):
    """Why a segment goes; the value is the configuration key, or the state, to change."""

    LOG_START_OFFSET = "log start offset"
    TIME = "retention.ms"
    BYTES = "retention.bytes"


class ExpiredSegment(NamedTuple):
    """Offsets from `base_offset` up to but without `next_offset` go."""

    base_offset: int
    next_offset: int
    size_bytes: int
    first_timestamp: int
    max_timestamp: int
    reason: RetentionReason
    serial: int = 0


class RetentionPlan(NamedTuple):
    """What goes, oldest first, and where the log starts afterwards."""

    segments: tuple[ExpiredSegment, ...]
    log_start_offset: int

    @property
    def size_bytes(self) -> int:
        return sum(segment.size_bytes for segment in self.segments)


def plan_retention(
    segments: Sequence[RetainedSegment], config: LogConfig, log_start_offset: int, high_watermark: int, now_ms: int
) -> RetentionPlan:
    """Plan the retention. `segments` are all of a log in offset order, the last one active; `now_ms` is wall time.

    A sealed segment that compaction has emptied goes with the first one behind it that has batches: by the age of its
    file it would keep older records.
    """
    expired: list[ExpiredSegment] = []
    emptied: list[RetainedSegment] = []
    excess_bytes = sum(segment.size_bytes for segment in segments) - config.retention_bytes
    for segment in segments:
        is_active = segment is segments[-1]
        if segment.next_offset > high_watermark or (is_active and not segment.size_bytes):
            break
        if not segment.size_bytes and segment.next_offset > log_start_offset:
            emptied.append(segment)
            continue
        reason = _reason(segment, config, log_start_offset, excess_bytes, now_ms)
        if reason is None or (is_active and reason is RetentionReason.LOG_START_OFFSET):
            break
        expired += [ExpiredSegment(*gone[:5], reason, gone.serial) for gone in (*emptied, segment)]
        emptied.clear()
        excess_bytes -= segment.size_bytes
    start = max(log_start_offset, expired[-1].next_offset) if expired else log_start_offset
    return RetentionPlan(tuple(expired), start)


def _reason(
    segment: RetainedSegment, config: LogConfig, log_start_offset: int, excess_bytes: int, now_ms: int
) -> RetentionReason | None:
    if segment.next_offset <= log_start_offset:
        return RetentionReason.LOG_START_OFFSET
    if not config.is_deleted:
        return None
    newest_ms = segment.modified_ms if segment.max_timestamp == NO_TIMESTAMP else segment.max_timestamp
    if config.retention_ms >= 0 and now_ms - newest_ms > config.retention_ms:
        return RetentionReason.TIME
    if config.retention_bytes >= 0 and segment.size_bytes <= excess_bytes:
        return RetentionReason.BYTES
    return None


def still_oldest(plan: RetentionPlan, segments: Sequence[Segment]) -> list[tuple[Segment, ExpiredSegment]]:
    """Return the beginning of `plan` that still holds: compaction may have replaced segments, or the log been truncated
    and grown again. `segments` are those of the log now, the last one active.
    """
    gone = []
    for segment, following, expired in zip(segments, segments[1:], plan.segments, strict=False):
        if (segment.serial, following.base_offset) != (expired.serial, expired.next_offset):
            break
        gone.append((segment, expired))
    return gone


def start_after(plan: RetentionPlan, segments: Sequence[Segment]) -> int | None:
    """Return where a log with these `segments` starts once `plan` was carried out, as far as it still can be; None if
    nothing goes.
    """
    gone = still_oldest(plan, segments)
    return gone[-1][1].next_offset if gone else None
