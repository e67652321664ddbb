"""Finds offsets that are missing between two segments of a log: a file was lost, or removed by hand.

Compaction leaves such gaps, too, so this is for logs that never were compacted.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from broker.common.errors import ApiError
from broker.log.stored_segment import StoredSegment


class Gap(NamedTuple):
    """Offsets from `first_offset` up to but without `next_offset` are missing."""

    first_offset: int
    next_offset: int

    def __str__(self) -> str:
        return f"{self.first_offset} to {self.next_offset - 1}"


def find_gaps(segments: Sequence[StoredSegment], log_start_offset: int) -> tuple[Gap, ...]:
    """Return the gaps between `segments`, all of a log in offset order, at `log_start_offset` and beyond.

    For a worker thread. Where a segment is damaged nothing is known of its end. Raises OSError.
    """
    gaps = (_gap_between(segment, following.base_offset) for segment, following in pairwise(segments))
    return tuple(gap for gap in gaps if gap is not None and gap.next_offset > log_start_offset)


def _gap_between(segment: StoredSegment, next_base_offset: int) -> Gap | None:
    try:
        end_offset = segment.end_offset()
    except ApiError:
        return None
    return Gap(end_offset, next_base_offset) if end_offset < next_base_offset else None
