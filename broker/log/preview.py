"""What retention and compaction would do to a log now, or under a configuration that is not in force: touches nothing.

Made by the code that deletes (`plan_retention`) and the code that compacts (`LogCleaner.preview`), from the same facts;
so a preview and the deed cannot differ. What retention lets go of is not compacted any more.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from broker.log.compaction.log_cleaner import LogCleaner
from broker.log.compaction.log_to_clean import LogToClean
from broker.log.compaction.pass_stats import PassStats
from broker.log.compaction.plan import CompactionPlan
from broker.log.compaction.segment_reader import count_records
from broker.log.compaction.settings import CleanerSettings
from broker.log.retention import ExpiredSegment, RetentionPlan, plan_retention


@dataclass(frozen=True, slots=True)
class CompactionPreview:
    """`plan.is_due` tells whether the cleaner would make this pass now; `stats` what the pass would do, due or not."""

    plan: CompactionPlan
    stats: PassStats


@dataclass(frozen=True, slots=True)
class LogPreview:
    """One log, at the moment it was looked at."""

    log_start_offset: int
    log_end_offset: int
    segments_count: int
    size_bytes: int
    retention: RetentionPlan
    #: Of `retention.segments`, from the log start on, one count for each.
    records: tuple[int, ...]
    #: None where the policy does not compact, or nobody asked for it.
    compaction: CompactionPreview | None


def preview_log(
    target: LogToClean, high_watermark: int, settings: CleanerSettings, *, with_compaction: bool
) -> LogPreview:
    """Preview retention under `target.config`. Reads headers, with compaction all a pass would read: for a worker
    thread.

    Raises ApiError(CORRUPT_MESSAGE, KAFKA_STORAGE_ERROR), OSError, CleaningStopped.
    """
    facts = target.log.retention_facts()
    start = target.log_start_offset
    plan = plan_retention(facts, target.config, start, high_watermark, settings.clock.now_ms())
    has_gaps = target.config.is_compacted or target.log.config.is_compacted
    return LogPreview(
        log_start_offset=start,
        log_end_offset=facts[-1].next_offset,
        segments_count=len(facts),
        size_bytes=sum(segment.size_bytes for segment in facts),
        retention=plan,
        records=_counted(target, plan, settings) if has_gaps else _between_offsets(plan.segments, start),
        compaction=_compaction(target, plan, settings) if with_compaction and target.config.is_compacted else None,
    )


def _between_offsets(expired: Sequence[ExpiredSegment], start: int) -> tuple[int, ...]:
    return tuple(max(0, segment.next_offset - max(segment.base_offset, start)) for segment in expired)


def _counted(target: LogToClean, plan: RetentionPlan, settings: CleanerSettings) -> tuple[int, ...]:
    """Return the counts by reading headers: compaction leaves gaps between offsets."""
    segments = {segment.base_offset: segment for segment in (*target.sealed, target.active)}
    return tuple(
        count_records(segments[expired.base_offset], expired.size_bytes, target.log_start_offset, settings)
        for expired in plan.segments
        if expired.base_offset in segments
    )


def _compaction(target: LogToClean, plan: RetentionPlan, settings: CleanerSettings) -> CompactionPreview:
    """Preview the compaction of what retention leaves."""
    gone = {expired.base_offset for expired in plan.segments}
    left = replace(
        target,
        sealed=tuple(segment for segment in target.sealed if segment.base_offset not in gone),
        log_start_offset=plan.log_start_offset,
        active_base_offset=max(target.active_base_offset, plan.log_start_offset),
    )
    cleaner = LogCleaner(settings)
    return CompactionPreview(cleaner.plan(left), cleaner.preview(left))
