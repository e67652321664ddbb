"""Finishes at start what a stop interrupted while the cleaner exchanged segments.

The exchange, in this order, each step durable before the next:

1. the new segment is written whole under `.cleaned` names and fsynced
2. its files are renamed to `.swap`, the log last: now it is decided
3. the files of the segments it replaces are renamed to `.deleted`
4. `.swap` is taken off, the log last
5. the `.deleted` files are removed, some time later

So a `.cleaned` file means nothing yet, a `.deleted` file means nothing any more, and a `.swap` log takes the place of
the segments in its range, however many of those are left. Its last batch ends where the last of them ended, which is
what tells its range: where that batch did not stay, one without records, the end mark, stands for it until the exchange
is over.
"""

from pathlib import Path

from broker.common.logs import logger
from broker.log.directory import STRAY_SUFFIX, aside_name
from broker.log.files import SharedFile, fsync_directory
from broker.log.scan import BadBatchError, OldFormatError, scan_batches
from broker.log.segment_files import (
    CLEANED_SUFFIX,
    DELETED_SUFFIX,
    FILE_SUFFIXES,
    LOG_SUFFIX,
    SWAP_SUFFIX,
    SegmentFiles,
    segment_path,
)

_log = logger(__name__)


def finish_swaps(directory: Path) -> None:
    """Complete or drop what lies in a partition's directory; to be called before its segments are listed.

    Being interrupted itself is fine. Raises OSError.
    """
    _remove_all(directory, CLEANED_SUFFIX)
    for base_offset in _base_offsets(directory, SWAP_SUFFIX):
        _finish_swap(directory, base_offset)
    for base_offset in _lost_swaps(directory):
        _put_back(directory, base_offset)
        _log.error(
            "compacted segment lost, what it replaced was put back", directory=str(directory), segment=base_offset
        )
    _remove_all(directory, SWAP_SUFFIX)
    _remove_all(directory, DELETED_SUFFIX)


def _base_offsets(directory: Path, suffix: str) -> list[int]:
    """Return base offsets of the segments whose log has `suffix` behind its name, in order."""
    names = (path.name.removesuffix(LOG_SUFFIX + suffix) for path in directory.glob("*" + LOG_SUFFIX + suffix))
    return sorted(int(name) for name in names if name.isdigit())


def _lost_swaps(directory: Path) -> list[int]:
    """Return the base offsets of segments that were replaced by one of which only indexes are left: its log was the
    last of its files to be renamed, so none of the exchange's steps leaves that.

    The last segment is never compacted: where none follows, the log was cut there, and a new one was being made.
    """
    present = _base_offsets(directory, "")
    last = max(present, default=-1)
    replaced = set(_base_offsets(directory, DELETED_SUFFIX)) - set(present)
    return [
        base_offset for base_offset in sorted(replaced) if base_offset < last and _has_index(directory, base_offset)
    ]


def _has_index(directory: Path, base_offset: int) -> bool:
    names = [file_suffix + suffix for file_suffix in FILE_SUFFIXES for suffix in ("", SWAP_SUFFIX)]
    return any(segment_path(directory, base_offset, name).exists() for name in names)


def _remove_all(directory: Path, suffix: str) -> None:
    for path in directory.glob("*" + suffix):
        path.unlink()


def _finish_swap(directory: Path, base_offset: int) -> None:
    swap = SegmentFiles(directory, base_offset, SWAP_SUFFIX)
    next_offset = _next_offset(swap.log, base_offset)
    old_offsets = [old for old in _base_offsets(directory, "") if base_offset <= old < (next_offset or 0)]
    if next_offset is None or _is_cut_short(directory, next_offset, old_offsets):
        _put_back(directory, base_offset)
        kept_in = _set_aside(directory, swap)
        _log.error("compacted segment damaged and set aside, what it replaced stays", kept_in=str(kept_in))
        return
    for old_offset in old_offsets:
        SegmentFiles(directory, old_offset, "").remove()
    swap.rename("")
    fsync_directory(directory)
    _log.info("exchange of segments completed", path=str(swap.log), next_offset=next_offset)


def _is_cut_short(directory: Path, next_offset: int, old_offsets: list[int]) -> bool:
    """Return whether the last segment that a swap replaces goes on behind the swap's end: a file that was copied or
    restored in part may end between two batches.
    """
    if not old_offsets:
        return False
    last = SegmentFiles(directory, old_offsets[-1], "")
    return (_next_offset(last.log, old_offsets[-1]) or 0) > next_offset


def _set_aside(directory: Path, swap: SegmentFiles) -> Path:
    """Move a swap that cannot take its place to a directory of its own, durably: what it replaced may be gone."""
    kept_in = directory.parent / aside_name(directory.name, STRAY_SUFFIX)
    kept_in.mkdir()
    fsync_directory(directory.parent)
    swap.move(kept_in)
    fsync_directory(kept_in)
    fsync_directory(directory)
    return kept_in


def _next_offset(path: Path, base_offset: int) -> int | None:
    """Return the offset after the segment; None if it is damaged or empty, which an intact disk rules out.

    Raises OldFormatError.
    """
    file = SharedFile(path)
    next_offset = None
    try:
        for _, header in scan_batches(file, 0, file.size_bytes, base_offset, verify_crc=True):
            next_offset = header.next_offset
    except OldFormatError:
        raise
    except BadBatchError:
        return None
    return next_offset


def _put_back(directory: Path, base_offset: int) -> None:
    """Take `.deleted` off what the swap at `base_offset` had replaced already, all of which are still there.

    Segments of an earlier exchange may be there as well; their ranges are covered by those in front of them.
    """
    present = _base_offsets(directory, "")
    if base_offset in present:
        return
    end_offset = min((offset for offset in present if offset > base_offset), default=None)
    next_offset = base_offset
    for old_offset in _base_offsets(directory, DELETED_SUFFIX):
        if old_offset >= next_offset and (end_offset is None or old_offset < end_offset):
            old = SegmentFiles(directory, old_offset, DELETED_SUFFIX)
            next_offset = _next_offset(old.log, old_offset) or next_offset
            old.rename("")
    fsync_directory(directory)
