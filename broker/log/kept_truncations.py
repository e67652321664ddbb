"""Keeps the records that a follower has to truncate although they may have been acknowledged.

A leader that lost its disk, or was elected from outside the ISR, has less than its followers, who must become as it is.
What they let go of goes to `<topic>-<partition>.<uuid>-stray` first, beside the partition's directory: segments from
where the truncation begins, and the topic id, so that the records can be read (kafka-dump-log) and served again. No
start opens that directory and nothing removes it.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from broker.log.checkpoints import PARTITION_METADATA
from broker.log.directory import STRAY_SUFFIX, aside_name
from broker.log.files import SharedFile, fsync_directory, fsync_file, read_at, remove_tree, replace_file, write_at
from broker.log.log import Log
from broker.log.segment import Segment
from broker.log.segment_files import LOG_SUFFIX, segment_path
from broker.log.truncation import Truncation
from broker.records.batch import HEADER_BYTES, parse_batch_header

_PIECE_BYTES = 1024 * 1024


class _SegmentTail(NamedTuple):
    """The batches of `segment` from byte `position` on, where one begins that has `base_offset`.

    The cut removes the segment's files as a whole, or shortens them.
    """

    segment: Segment
    position: int
    base_offset: int
    is_removed: bool


def keep_truncated(log: Log, cut: Truncation) -> Path | None:
    """Keep what `cut` is about to take from `log`, durably; return where it is, None if `cut` takes nothing.

    For the thread that cuts. Raises OSError, ApiError(CORRUPT_MESSAGE); then nothing is kept.
    """
    parts = _truncated_parts(log.segments, cut)
    if not parts:
        return None
    kept_in = log.directory.parent / aside_name(log.directory.name, STRAY_SUFFIX)
    kept_in.mkdir()
    try:
        for part in parts:
            _keep(part, segment_path(kept_in, part.base_offset, LOG_SUFFIX))
        with suppress(FileNotFoundError):
            replace_file(kept_in / PARTITION_METADATA, (log.directory / PARTITION_METADATA).read_bytes())
        fsync_directory(kept_in)
        fsync_directory(kept_in.parent)
    except BaseException:
        with suppress(OSError):
            remove_tree(kept_in)
        raise
    return kept_in


def _truncated_parts(segments: tuple[Segment, ...], cut: Truncation) -> list[_SegmentTail]:
    parts = []
    for number, segment in enumerate(segments):
        is_before = number + 1 < len(segments) and segments[number + 1].base_offset <= cut.offset
        if is_before and not cut.is_of_all:
            continue
        is_removed = cut.is_of_all or segment.base_offset > cut.offset
        position = 0 if is_removed else segment.position_of(cut.offset)
        if position < segment.size_bytes:
            parts.append(_SegmentTail(segment, position, _base_offset(segment, position), is_removed))
    return parts


def _base_offset(segment: Segment, position: int) -> int:
    """Return the first offset at `position`; damage at the start of a segment must not keep a log from being cut."""
    if not position:
        return segment.base_offset
    return parse_batch_header(read_at(segment.file, position, HEADER_BYTES)).base_offset


def _keep(part: _SegmentTail, path: Path) -> None:
    """Keep the part under `path`: as a second name of a file that is removed whole, where there are hard links, else as
    a copy. Raises OSError.
    """
    if part.is_removed and _is_linked(part.segment.files.log, path):
        fsync_file(SharedFile(path))
        return
    copy = SharedFile(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    for at in range(part.position, part.segment.size_bytes, _PIECE_BYTES):
        piece = read_at(part.segment.file, at, min(_PIECE_BYTES, part.segment.size_bytes - at))
        write_at(copy, piece, at - part.position)
    fsync_file(copy)


def _is_linked(path: Path, second: Path) -> bool:
    try:
        os.link(path, second)
    except OSError:
        return False
    return True
