"""Which segments of a log a pass would rewrite, and whether it is time: decided from facts, nothing is read or written.

A log has three parts: the clean one, which an earlier pass has seen; the dirty one; and the uncleanable end, which is
the active segment and whatever is not yet replicated, stable or old enough (min.compaction.lag.ms, KIP-58). A pass
reads the keys of the dirty part and rewrites clean and dirty part. It is due when the dirty part is large enough, or
older than max.compaction.lag.ms (KIP-354).

The same plan is the dry mode: made under another configuration it says what a pass would then touch.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from broker.log.config import LogConfig
from broker.log.offset_index import RELATIVE_OFFSET_MAX
from broker.records.batch import NO_TIMESTAMP

#: Segments one new segment may replace. Their files are renamed in one go at the log's owner, which serves nobody
#: meanwhile: a few milliseconds.
SEGMENTS_PER_GROUP_MAX = 24

K = TypeVar("K", bound=Hashable)


class CleanableSegment(NamedTuple):
    """What planning needs of a sealed segment.

    Timestamps are -1 where there are none, or where planning does not need them.
    """

    base_offset: int
    #: Where the following segment begins.
    next_offset: int
    size_bytes: int
    first_timestamp: int = NO_TIMESTAMP
    max_timestamp: int = NO_TIMESTAMP


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """`groups` become one segment each. Offsets at `end_offset` and beyond are left alone."""

    first_dirty_offset: int
    end_offset: int
    clean_bytes: int
    dirty_bytes: int
    #: Whether something dirty has waited for max.compaction.lag.ms.
    is_overdue: bool
    is_due: bool
    groups: tuple[tuple[CleanableSegment, ...], ...]

    @property
    def dirty_ratio(self) -> float:
        total = self.clean_bytes + self.dirty_bytes
        return self.dirty_bytes / total if total else 0.0

    @property
    def segments(self) -> tuple[CleanableSegment, ...]:
        return tuple(segment for group in self.groups for segment in group)

    def groups_below(self, offset: int) -> list[tuple[CleanableSegment, ...]]:
        """Return the groups if the pass ends at `offset`, because the offset map was full."""
        cut = (tuple(segment for segment in group if segment.base_offset < offset) for group in self.groups)
        return [group for group in cut if group]


def plan_compaction(
    sealed: Sequence[CleanableSegment], first_dirty_offset: int, end_offset_max: int, config: LogConfig, now_ms: int
) -> CompactionPlan:
    """Return the plan for a log with these `sealed` segments, in offset order.

    `end_offset_max` is the lower of high watermark and last stable offset (exclusive).
    """
    cleanable = _cleanable(sealed, first_dirty_offset, end_offset_max, config, now_ms)
    clean_bytes = sum(segment.size_bytes for segment in cleanable if segment.next_offset <= first_dirty_offset)
    dirty = [segment for segment in cleanable if segment.next_offset > first_dirty_offset]
    dirty_bytes = sum(segment.size_bytes for segment in dirty)
    is_overdue = any(
        NO_TIMESTAMP < segment.first_timestamp < now_ms - config.max_compaction_lag_ms for segment in dirty
    )
    is_dirty_enough = dirty_bytes > config.min_cleanable_dirty_ratio * (clean_bytes + dirty_bytes)
    return CompactionPlan(
        first_dirty_offset=first_dirty_offset,
        end_offset=cleanable[-1].next_offset if cleanable else first_dirty_offset,
        clean_bytes=clean_bytes,
        dirty_bytes=dirty_bytes,
        is_overdue=is_overdue,
        is_due=dirty_bytes > 0 and (is_overdue or is_dirty_enough),
        groups=tuple(_group(cleanable, config.segment_bytes)),
    )


def _cleanable(
    sealed: Sequence[CleanableSegment], first_dirty_offset: int, end_offset_max: int, config: LogConfig, now_ms: int
) -> list[CleanableSegment]:
    """Return whole segments up to the first that may not be touched."""
    cleanable = []
    for segment in sealed:
        is_young = segment.max_timestamp > now_ms - config.min_compaction_lag_ms
        if segment.next_offset > end_offset_max or (
            config.min_compaction_lag_ms and is_young and segment.next_offset > first_dirty_offset
        ):
            break
        cleanable.append(segment)
    return cleanable


def _group(segments: Sequence[CleanableSegment], segment_bytes: int) -> list[tuple[CleanableSegment, ...]]:
    """Group neighbours that fit into one segment even if nothing is dropped; a segment that is too large stays
    alone.
    """
    groups: list[list[CleanableSegment]] = []
    size_bytes = 0
    for segment in segments:
        if groups and _fits(groups[-1], segment, size_bytes, segment_bytes):
            groups[-1].append(segment)
            size_bytes += segment.size_bytes
        else:
            groups.append([segment])
            size_bytes = segment.size_bytes
    return [tuple(group) for group in groups]


def _fits(group: list[CleanableSegment], segment: CleanableSegment, size_bytes: int, segment_bytes: int) -> bool:
    return (
        size_bytes + segment.size_bytes <= segment_bytes
        and segment.next_offset - 1 - group[0].base_offset <= RELATIVE_OFFSET_MAX
        and len(group) < SEGMENTS_PER_GROUP_MAX
    )


def choose_filthiest(plans: Mapping[K, CompactionPlan]) -> K | None:
    """Return the log to clean next: of those that are due an overdue one, then the one with the largest dirty share."""
    due = [name for name, plan in plans.items() if plan.is_due]
    return max(due, key=lambda name: (plans[name].is_overdue, plans[name].dirty_ratio), default=None)
