"""Cuts the end off a log: a follower lets go of what its leader does not have.

A stop at any moment leaves a log that opens and is a beginning of what it was, because things go in this order:

1. what is noted beside the logs (recovery point, high watermark, log start, how far it is clean) is lowered, durably:
   it must never speak of records that the next leader's will replace
2. a compacted segment that waits for its place (`.swap`) is removed, or the next start would put old records back;
   so are producer snapshots from beyond the new end
3. the segments beyond the new end get `.deleted` behind their names, the last one first
4. these names are made durable, if there were any
5. the segment with the new end is cut, and that made durable
6. the leader epochs are written anew; if the stop comes before that, opening the log leaves the surplus out

Could a power failure undo the cut and keep a later segment with the next leader's records, there would be old records
before new ones, which no leader epoch tells apart. Nor is it enough to look at what was fsynced: the system writes
back whatever it likes.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from broker.log.files import fsync_directory, read_at
from broker.log.producer_snapshots import remove_snapshots_beyond
from broker.log.segment import Segment
from broker.log.segment_files import DELETED_SUFFIX, SWAP_SUFFIX
from broker.log.segment_list import SegmentList
from broker.records.batch import HEADER_BYTES, parse_batch_header

#: Called before a log is cut, with where it will end and start at most; as `LogExtent`. Raises OSError: nothing is cut.
BeforeCut = Callable[[int, int | None], None]

#: An end offset at which nothing is left.
NOTHING_BEFORE = -1


class Truncation(NamedTuple):
    """How a log is truncated: it ends at `offset`, and if nothing stays, starts there, too.

    `is_kept`: what goes may have been acknowledged, and is kept aside (`kept_truncations`).
    """

    offset: int
    is_of_all: bool = False
    is_kept: bool = False


class LogExtent(NamedTuple):
    """The extent of a log, or an upper bound; `end_offset` is exclusive.

    `start_offset` is None of a log that is emptied: it may start later.
    """

    start_offset: int | None
    end_offset: int


class CutPlace(NamedTuple):
    """The segment to be cut, from which byte on, and the new log end offset."""

    segment: Segment
    position: int
    end_offset: int


def find_cut(segments: SegmentList, offset: int) -> CutPlace:
    """Return where to truncate; `offset` is in the log. Raises OSError, ApiError(CORRUPT_MESSAGE)."""
    segment = segments.from_offset(offset)[0]
    position = segment.position_of(offset)
    segment.check_shortened(position)
    if position == segment.size_bytes:
        return CutPlace(segment, position, offset)
    header = parse_batch_header(read_at(segment.file, position, HEADER_BYTES))
    return CutPlace(segment, position, min(offset, header.base_offset))


def cut_segments(directory: Path, segments: SegmentList, place: CutPlace) -> None:
    """Do steps 2 to 5 of a truncation. Raises OSError; then the files are in an unknown state."""
    segment, position, end_offset = place
    later = segments.from_offset(segment.base_offset)[1:]
    _set_aside(directory, later, end_offset)
    left = segment.shorten(position, end_offset)
    left.flush()
    segments.cut(left, later)


def restart_segments(directory: Path, segments: SegmentList, offset: int, index_interval_bytes: int) -> None:
    """Replace all segments by an empty one that begins at `offset`. Raises OSError."""
    gone = list(segments)
    _set_aside(directory, gone, NOTHING_BEFORE)
    segments.restart(Segment.create(directory, offset, index_interval_bytes), gone)


def _set_aside(directory: Path, segments: Sequence[Segment], end_offset: int) -> None:
    """Rename the files of `segments` and remove what else speaks of offsets from `end_offset` on."""
    swaps = list(directory.glob("*" + SWAP_SUFFIX))
    for swap in swaps:
        swap.unlink(missing_ok=True)
    has_removed = remove_snapshots_beyond(directory, end_offset) or bool(swaps)
    for segment in reversed(segments):
        segment.rename(DELETED_SUFFIX)
    if segments or has_removed:
        fsync_directory(directory)
