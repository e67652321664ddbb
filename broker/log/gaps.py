"""Finds offsets that are missing between two segments of a log: a file was lost, emptied, or removed by hand.

Compaction leaves such gaps, too. Below the offset in cleaner-offset-checkpoint they are its work. Beyond it, or where
that file is lost, batches tell: compaction takes records out of them, and whole ones from between others, which a lost
file or a lost end of one never does. Where neither tells of compaction, cleanup.policy is for the caller to know.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from broker.common.errors import ApiError
from broker.log.stored_segment import StoredSegment


class OffsetGap(NamedTuple):
    """Offsets from `first_offset` up to but without `next_offset` are missing."""

    first_offset: int
    next_offset: int
    #: The log began with them; there is nothing before.
    is_at_start: bool = False
    #: A compaction had noted the segment (`segment_notes`), so that its absence is a loss in a compacted log as well.
    is_noted: bool = False

    def is_in(self, log_start_offset: int) -> bool:
        """Return whether the gap is inside a log that starts at that offset."""
        return self.next_offset > log_start_offset or (self.is_at_start and self.next_offset == log_start_offset)

    def __str__(self) -> str:
        return f"{self.first_offset} to {self.next_offset - 1}"


#: Of the gaps of one log, those that are named in a line.
_NAMED_MAX = 5


def describe_gaps(gaps: Sequence[OffsetGap]) -> str:
    """Return the first gaps, for a log line."""
    return ", ".join(map(str, gaps[:_NAMED_MAX]))


def find_losses(segments: Sequence[StoredSegment], log_start_offset: int, cleaned_offset: int) -> tuple[OffsetGap, ...]:
    """Return the gaps as `find_gaps`, without those that compaction has left, which came to `cleaned_offset`.

    Reads the end of each segment, and all headers of a log that has gaps. Raises OSError.
    """
    gaps = tuple(gap for gap in find_gaps(segments, log_start_offset) if gap.next_offset > cleaned_offset)
    if gaps and _were_compacted(segment for segment in segments if segment.base_offset >= cleaned_offset):
        return ()
    return gaps


def find_lost_start(first_base_offset: int, left_at: int | None, cleaned_offset: int) -> tuple[OffsetGap, ...]:
    """Return what is missing before the first segment of a log that was noted to start at `left_at`.

    A log starts with its first segment unless a later start is noted, so a lost one moves the start, and the followers
    of such a leader let go of the records as well. None for `left_at` says nothing.
    """
    if left_at is None or first_base_offset <= max(left_at, cleaned_offset):
        return ()
    return (OffsetGap(left_at, first_base_offset, is_at_start=True),)


def _were_compacted(segments: Iterable[StoredSegment]) -> bool:
    return any(_was_compacted(segment) for segment in segments)


def _was_compacted(segment: StoredSegment) -> bool:
    """Return whether offsets are missing in a batch, or between two batches, that can be read."""
    next_offset = segment.base_offset
    try:
        for _, header in segment.batches():
            if header.base_offset > next_offset or header.records_count <= header.last_offset_delta:
                return True
            next_offset = header.next_offset
    except ApiError:
        pass
    return False


def find_gaps(segments: Sequence[StoredSegment], log_start_offset: int) -> tuple[OffsetGap, ...]:
    """Return the gaps between `segments`, all of a log in offset order, at `log_start_offset` and beyond.

    For a worker thread. Where a segment is damaged nothing is known of its end. Raises OSError.
    """
    gaps = (_gap_between(segment, following.base_offset) for segment, following in pairwise(segments))
    return tuple(gap for gap in gaps if gap is not None and gap.next_offset > log_start_offset)


def _gap_between(segment: StoredSegment, next_base_offset: int) -> OffsetGap | None:
    try:
        end_offset = segment.end_offset()
    except ApiError:
        return None
    return OffsetGap(end_offset, next_base_offset) if end_offset < next_base_offset else None
