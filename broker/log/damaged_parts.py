"""Keeps what recovery takes out of a log: nothing that is not understood is deleted.

Whole segments and the bytes behind a damaged place go to `<topic>-<partition>.<uuid>-stray`, beside the partition's
directory, where no start opens them and every start names them. Of a write that a stop cut off nothing is kept: it was
never acknowledged whole.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from broker.common.limits import DAMAGED_TAILS_MAX
from broker.common.logs import logger
from broker.log.directory import STRAY_SUFFIX, aside_name, is_stray_of
from broker.log.files import SharedFile, fsync_directory, fsync_file, read_at, remove_tree, write_at
from broker.log.segment import Segment
from broker.records.batch import CURRENT_MAGIC, HEADER_BYTES, BatchHeader, crc_matches, parse_batch_header

_PIECE_BYTES = 1024 * 1024
#: A longer tail is kept without a look at what is in it: no write is that large.
_TORN_WRITE_BYTES_MAX = 16 * 1024 * 1024
_MAGIC_AT = 16
_TAIL = ".from-"

_log = logger(__name__)


class DamagedParts:
    """Damaged parts of one log, for one start. The directory is made for the first part that is kept."""

    def __init__(self, directory: Path):
        self._directory = directory
        self._kept_in: Path | None = None

    def keep_tail(self, segment: Segment) -> Path | None:
        """Copy what lies behind the intact batches of `segment`, durably. Raises OSError.

        Return where it is, None for a write that was cut off, or pages that were never written.
        """
        file, start = segment.file, segment.size_bytes
        end = file.size_bytes
        if _is_unwritten(file, start, end) or _is_torn_write(file, start, end, segment.next_offset):
            return None
        kept = self._place() / f"{segment.files.log.name}{_TAIL}{start}"
        try:
            _copy(file, start, end, kept)
        except OSError:
            self._discard(kept)
            raise
        self._remove_oldest_tails()
        return kept

    def keep_segment(self, segment: Segment) -> Path:
        """Move the files of `segment`; `made_durable` is next. Return where its log is. Raises OSError."""
        segment.release()
        segment.files.move(self._place())
        return segment.files.log

    def made_durable(self) -> None:
        """Make the moves durable. Raises OSError."""
        if self._kept_in is not None:
            fsync_directory(self._kept_in)
            fsync_directory(self._directory)

    def _place(self) -> Path:
        if self._kept_in is None:
            name = aside_name(self._directory.name, STRAY_SUFFIX)
            self._kept_in = self._directory.parent / name
            self._kept_in.mkdir()
            fsync_directory(self._directory.parent)
        return self._kept_in

    def _discard(self, kept: Path) -> None:
        """Remove a part of a tail, and the directory if it was made for it."""
        with suppress(OSError):
            kept.unlink(missing_ok=True)
            kept.parent.rmdir()
            self._kept_in = None

    def _remove_oldest_tails(self) -> None:
        """Remove the oldest files that hold nothing but a log's tail."""
        tails = [
            path
            for path in self._directory.parent.iterdir()
            if is_stray_of(path.name, self._directory.name) and _holds_only_tails(path)
        ]
        tails.sort(key=lambda path: path.stat().st_mtime_ns)
        for path in tails[: max(0, len(tails) - DAMAGED_TAILS_MAX)]:
            _log.warning("oldest of too many damaged log ends removed", path=str(path), kept_max=DAMAGED_TAILS_MAX)
            remove_tree(path)


def _copy(file: SharedFile, start: int, end: int, path: Path) -> None:
    """Write the bytes of `file` from `start` to `end` to the new file `path`, durably. Raises OSError."""
    copy = SharedFile(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    for position in range(start, end, _PIECE_BYTES):
        write_at(copy, read_at(file, position, min(_PIECE_BYTES, end - position)), position - start)
    fsync_file(copy)
    fsync_directory(path.parent)


def _holds_only_tails(path: Path) -> bool:
    return all(_TAIL in file.name for file in path.iterdir())


def _is_unwritten(file: SharedFile, start: int, end: int) -> bool:
    """Return whether there are only zeros: the file had grown when the machine died, its pages had not been written."""
    pieces = (read_at(file, at, min(_PIECE_BYTES, end - at)) for at in range(start, end, _PIECE_BYTES))
    return not any(piece.strip(b"\0") for piece in pieces)


def _is_torn_write(file: SharedFile, start: int, end: int, next_offset: int) -> bool:
    """Return whether this is the beginning of the batch that was to come next, and no other batch is in it."""
    if end - start < HEADER_BYTES:
        return True
    if end - start > _TORN_WRITE_BYTES_MAX:
        return False
    tail = read_at(file, start, end - start)
    header = parse_batch_header(tail)
    is_next = header.magic == CURRENT_MAGIC and header.base_offset == next_offset
    return is_next and header.size_bytes > len(tail) and not any(_intact_batches(tail, next_offset))


def _intact_batches(data: bytes, next_offset: int) -> Iterator[BatchHeader]:
    """Yield intact batches that begin anywhere in `data`: a changed length hides those behind it."""
    at = data.find(CURRENT_MAGIC, _MAGIC_AT)
    while at >= 0 and at - _MAGIC_AT + HEADER_BYTES <= len(data):
        start = at - _MAGIC_AT
        header = parse_batch_header(data[start : start + HEADER_BYTES])
        stop = start + header.size_bytes
        is_possible = header.base_offset >= next_offset and header.size_bytes >= HEADER_BYTES and stop <= len(data)
        if is_possible and crc_matches(data[start:stop], header):
            yield header
        at = data.find(CURRENT_MAGIC, at + 1)
