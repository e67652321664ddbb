"""`<base offset>.txnindex`: the aborted transactions whose markers lie in a segment, which readers of committed records
must be told of.

In Kafka's format, 34 bytes each, in the order of the markers: version int16 (0) · producer id int64 · first offset
int64 · last offset int64 (the marker's) · last stable offset int64 when the marker was written. A segment without an
aborted transaction has no such file. What a stop left behind the last whole entry does not count.
"""

import os
import struct
import sys
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from broker.log.files import OpenFile, fsync_file, read_at, write_at
from broker.log.segment_files import TRANSACTION_INDEX_SUFFIX, segment_path

_ENTRY = struct.Struct(">hqqqq")
ENTRY_BYTES = _ENTRY.size
_VERSION = 0
_ENTRIES_READ = 256


class AbortedTransaction(NamedTuple):
    """Offsets are inclusive but for `last_stable_offset`, below which no transaction was open any more."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class TransactionIndex:
    """Of all segments of one log. For the log's owner; nothing is kept in memory but whether there is anything."""

    def __init__(self, directory: Path):
        self.directory = directory
        #: Whether any transaction was aborted, or may have been.
        self.has_entries = any(directory.glob("*" + TRANSACTION_INDEX_SUFFIX))

    def append(self, base_offset: int, aborted: AbortedTransaction) -> None:
        """Note it for the segment its marker is in. Raises OSError."""
        self.has_entries = True
        file = OpenFile(self._path(base_offset), os.O_RDWR | os.O_CREAT)
        write_at(file, _ENTRY.pack(_VERSION, *aborted), _entries_count(file) * ENTRY_BYTES)

    def find(self, base_offsets: Sequence[int], from_offset: int, end_offset: int) -> list[AbortedTransaction]:
        """Those with records from `from_offset` (inclusive) to `end_offset` (exclusive), by their markers' offsets.

        `base_offsets`: of the segments from the one with `from_offset` on. Raises OSError.
        """
        found: list[AbortedTransaction] = []
        if not self.has_entries:
            return found
        for base_offset in base_offsets:
            for aborted in self._entries(base_offset, from_offset):
                if aborted.first_offset < end_offset:
                    found.append(aborted)
                if aborted.last_stable_offset >= end_offset:
                    return found
        return found

    def is_sound(self, base_offsets: Sequence[int]) -> bool:
        """Whether all entries can be true, of segments that begin at `base_offsets`. Raises OSError.

        Of a file that is gone nobody knows that it was there, as in Kafka. What a stop left for markers that were never
        written lies beyond the end of the last segment; it can be true, and is cut off.
        """
        return not self.has_entries or all(map(self._can_be_true, base_offsets, [*base_offsets[1:], sys.maxsize]))

    def _can_be_true(self, base_offset: int, next_offset: int) -> bool:
        path, after = self._path(base_offset), base_offset - 1
        if not path.exists():
            return True
        for version, _, first_offset, last_offset, _ in _ENTRY.iter_unpack(_whole_entries(path)):
            if version != _VERSION or not 0 <= first_offset < last_offset or last_offset <= after:
                return False
            after = last_offset
        return after < next_offset

    def remove(self) -> None:
        """Forget all, true or not. Raises OSError."""
        for path in self.directory.glob("*" + TRANSACTION_INDEX_SUFFIX):
            path.unlink()

    def cut(self, end_offset: int) -> None:
        """Forget the transactions whose markers are at `end_offset` or beyond. Raises OSError."""
        for path in self.directory.glob("*" + TRANSACTION_INDEX_SUFFIX):
            _cut(path, end_offset)

    def take_back(self, base_offset: int, end_offset: int) -> None:
        """Forget what was noted for a segment that ends at `end_offset` and got no further marker. Raises OSError."""
        if self.has_entries and (path := self._path(base_offset)).exists():
            _cut(path, end_offset)

    def flush(self, base_offset: int) -> None:
        """Let the entries of a segment survive a power failure. Raises OSError."""
        if self.has_entries and (path := self._path(base_offset)).exists():
            fsync_file(OpenFile(path))

    def _path(self, base_offset: int) -> Path:
        return segment_path(self.directory, base_offset, TRANSACTION_INDEX_SUFFIX)

    def _entries(self, base_offset: int, from_offset: int) -> Iterator[AbortedTransaction]:
        """Those whose markers are at `from_offset` or beyond."""
        try:
            file = OpenFile(self._path(base_offset))
        except FileNotFoundError:
            return
        count = _entries_count(file)
        for first in range(_first_from(file, from_offset), count, _ENTRIES_READ):
            length = min(_ENTRIES_READ, count - first) * ENTRY_BYTES
            for entry in _ENTRY.iter_unpack(read_at(file, first * ENTRY_BYTES, length)):
                yield AbortedTransaction(*entry[1:])


def join_transaction_indexes(parts: Sequence[Path], joined: Path, marker_offsets: Container[int]) -> None:
    """Write the entries of `parts`, of neighbouring segments in their order, to `joined`, durably. Raises OSError.

    Only of transactions whose markers are at `marker_offsets`.
    """
    content = b"".join(
        _ENTRY.pack(*entry)
        for part in parts
        if part.exists()
        for entry in _ENTRY.iter_unpack(_whole_entries(part))
        if entry[3] in marker_offsets
    )
    if content:
        file = OpenFile(joined, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        write_at(file, content, 0)
        fsync_file(file)


def _cut(path: Path, end_offset: int) -> None:
    file = OpenFile(path, os.O_RDWR)
    kept = _first_from(file, end_offset)
    if kept:
        os.ftruncate(file.fd, kept * ENTRY_BYTES)
    else:
        path.unlink()


def _whole_entries(path: Path) -> bytes:
    file = OpenFile(path)
    return read_at(file, 0, _entries_count(file) * ENTRY_BYTES)


def _entries_count(file: OpenFile) -> int:
    return file.size_bytes // ENTRY_BYTES


def _first_from(file: OpenFile, offset: int) -> int:
    """Number of the first entry whose marker is at `offset` or beyond; how many there are if there is none."""
    low, high = 0, _entries_count(file)
    while low < high:
        middle = (low + high) // 2
        entry = _ENTRY.unpack(read_at(file, middle * ENTRY_BYTES, ENTRY_BYTES))
        low, high = (middle + 1, high) if entry[3] < offset else (low, middle)
    return low
