"""Notes which segments a compaction has left, so that a start can tell a lost file from what compaction took out.

Compaction leaves gaps, between segments as well, and nothing in them says whether records were superseded or a file was
removed by hand, emptied or cut short. So each pass notes the segments below its end, with their sizes, in the
partition's directory: `compacted-segments` is "0", the offset the pass came to, the number of segments, then a line
"base-offset size-bytes" each. Such segments change by another pass only.

A note holds while cleaner-offset-checkpoint has its offset. A cut below it, a log made anew and a pass of Apache
Kafka's cleaner change that one. Without a note nothing is known.

Before a pass exchanges a group of segments it notes the group's end, without segments. A kill or a power cut may leave
the exchanged segments without the checkpoint: up to that end gaps are the pass's work. A pass that exchanges nothing
leaves the note as it is, and a cut below a note's offset removes the note.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from broker.common.logs import logger
from broker.log.files import remove_file_durably, replace_file
from broker.log.gaps import OffsetGap
from broker.log.stored_segment import StoredSegment

COMPACTED_SEGMENTS = "compacted-segments"
_VERSION = "0"

_log = logger(__name__)


class _Note(NamedTuple):
    cleaned_offset: int
    #: Size in bytes by base offset; empty while the pass has not ended.
    sizes: dict[int, int]


def begin_segment_note(directory: Path, end_offset: int) -> None:
    """Note durably that a pass is about to exchange segments up to `end_offset`. Raises OSError."""
    write_segment_note(directory, end_offset, ())


def remove_segment_note(directory: Path) -> None:
    """Remove the note of a log that is another one now, or was cut, since it was noted. Raises OSError."""
    remove_file_durably(directory / COMPACTED_SEGMENTS)


def cut_segment_note(directory: Path, end_offset: int) -> None:
    """Remove the note of a log that is about to be cut at `end_offset`, if it reaches beyond. Raises OSError."""
    path = directory / COMPACTED_SEGMENTS
    note = _read_note(path)
    if note is not None and note.cleaned_offset > end_offset:
        remove_segment_note(directory)


def passes_end(directory: Path) -> int:
    """Return where the last pass that exchanged segments was to end; 0 if none is noted. Raises OSError."""
    note = _read_note(directory / COMPACTED_SEGMENTS)
    return 0 if note is None else note.cleaned_offset


def write_segment_note(directory: Path, cleaned_offset: int, segments: Iterable[StoredSegment]) -> None:
    """Note those of a log's `segments` that begin below `cleaned_offset`, durably. Raises OSError."""
    rows = [
        f"{segment.base_offset} {segment.size_bytes}" for segment in segments if segment.base_offset < cleaned_offset
    ]
    lines = [_VERSION, str(cleaned_offset), str(len(rows)), *rows]
    replace_file(directory / COMPACTED_SEGMENTS, ("\n".join(lines) + "\n").encode())


def find_lost_segments(
    directory: Path,
    segments: Sequence[StoredSegment],
    cleaned_offset: int,
    log_start_offset: int,
    left_at: int | None,
) -> tuple[OffsetGap, ...]:
    """Return the offsets whose compacted segments are missing or shorter than noted. Raises OSError.

    Retention may have removed first segments since: they count as lost only if the log was noted to start with them, at
    `left_at`. Retention notes a later start before it lets go.
    """
    note = _read_note(directory / COMPACTED_SEGMENTS)
    if note is None or not note.sizes or note.cleaned_offset != cleaned_offset:
        return ()
    sizes = {segment.base_offset: segment.size_bytes for segment in segments}
    next_offsets = [*list(note.sizes)[1:], cleaned_offset]
    gaps: list[OffsetGap] = []
    for (base_offset, size_bytes), next_offset in zip(note.sizes.items(), next_offsets, strict=True):
        is_at_start = base_offset < segments[0].base_offset
        start = left_at if is_at_start else log_start_offset
        if sizes.get(base_offset, 0) >= size_bytes or start is None or next_offset <= start:
            continue
        if gaps and gaps[-1].next_offset == base_offset and gaps[-1].is_at_start == is_at_start:
            base_offset = gaps.pop().first_offset
        gaps.append(OffsetGap(base_offset, next_offset, is_at_start=is_at_start, is_noted=True))
    return tuple(gaps)


def _read_note(path: Path) -> _Note | None:
    try:
        version, cleaned_offset, count, *rows = path.read_text().splitlines()
        sizes = dict(sorted((int(base), int(size)) for base, size in (row.split(" ") for row in rows)))
        if version != _VERSION or int(count) != len(sizes):
            raise ValueError
        return _Note(int(cleaned_offset), sizes)
    except FileNotFoundError:
        return None
    except ValueError:
        _log.warning("note of compacted segments malformed, the next compaction replaces it", path=str(path))
        return None
