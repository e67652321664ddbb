"""`<base offset>.txnindex`: the aborted transactions whose markers lie in a segment, which readers of committed records
must be told of.

In Kafka's format, 34 bytes each, in the order of the markers: version int16 (0) · producer id int64 · first offset
int64 · last offset int64 (the marker's) · last stable offset int64 when the marker was written. A segment without an
aborted transaction has no such file. What a stop left behind the last whole entry does not count.

A file that is gone looks like a segment without aborted transactions. So the producer snapshot, up to whose offset a
start believes the index, notes the number of each segment's entries and their CRC; `restore` compares.
"""

import os
import struct
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from crc32c import crc32c

from broker.log.files import SharedFile, fsync_file, read_at, write_at
from broker.log.producer_snapshot_format import NotedAborts
from broker.log.segment_files import TRANSACTION_INDEX_SUFFIX, segment_path

_ENTRY = struct.Struct(">hqqqq")
ENTRY_BYTES = _ENTRY.size
_VERSION = 0
_ENTRIES_READ = 256


class AbortedRange(NamedTuple):
    """Offsets are inclusive but for `last_stable_offset`, below which no transaction was open any more."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class TransactionIndex:
    """Transaction index of all segments of one log. For the log's owner; of each segment with entries a few bytes are
    kept in memory.
    """

    def __init__(self, directory: Path):
        self.directory = directory
        #: Whether any transaction was aborted, or may have been.
        self.has_entries = any(directory.glob("*" + TRANSACTION_INDEX_SUFFIX))
        #: What a producer snapshot is to note, by base offset.
        self._noted: dict[int, NotedAborts] = {}

    @property
    def noted(self) -> list[NotedAborts]:
        """The entries of each segment's file, in offset order."""
        return [self._noted[base_offset] for base_offset in sorted(self._noted)]

    def append(self, base_offset: int, aborted: AbortedRange) -> None:
        """Note it for the segment its marker is in. Raises OSError."""
        self.has_entries = True
        entry = _ENTRY.pack(_VERSION, *aborted)
        _, count, crc = self._noted.get(base_offset, (base_offset, 0, 0))
        file = SharedFile(self._path(base_offset), os.O_RDWR | os.O_CREAT)
        write_at(file, entry, count * ENTRY_BYTES)
        self._noted[base_offset] = NotedAborts(base_offset, count + 1, crc32c(entry, crc))

    def find(self, base_offsets: Sequence[int], from_offset: int, end_offset: int) -> list[AbortedRange]:
        """Return the aborted transactions with records from `from_offset` (inclusive) to `end_offset` (exclusive).

        `base_offsets`: of the segments from the one with `from_offset` on. Raises OSError.
        """
        aborted_ranges: list[AbortedRange] = []
        if not self.has_entries:
            return aborted_ranges
        for base_offset in base_offsets:
            for aborted in self._entries(base_offset, from_offset):
                if aborted.first_offset < end_offset:
                    aborted_ranges.append(aborted)
                if aborted.last_stable_offset >= end_offset:
                    return aborted_ranges
        return aborted_ranges

    def restore(self, base_offsets: Sequence[int], aborts: Sequence[NotedAborts]) -> bool:
        """Reduce the index to `aborts`, which a snapshot noted; return False if entries are missing or were changed.

        `base_offsets` are those of the log's segments. Since the snapshot compaction may have joined segments, which
        joins their entries, and retention removed the oldest. Raises OSError.
        """
        if not (self.has_entries or aborts):
            return True
        parts: dict[int, list[NotedAborts]] = {}
        for noted in aborts:
            if noted.base_offset >= base_offsets[0]:
                holder = base_offsets[bisect_right(base_offsets, noted.base_offset) - 1]
                parts.setdefault(holder, []).append(noted)
        paths = [path for path in self.directory.glob("*" + TRANSACTION_INDEX_SUFFIX) if path.stem.isdigit()]
        surplus = {int(path.stem) for path in paths} - parts.keys()
        for base_offset in surplus:
            self._path(base_offset).unlink()
        return all(self._restore_one(base_offset, of_segment) for base_offset, of_segment in parts.items())

    def _restore_one(self, base_offset: int, parts: list[NotedAborts]) -> bool:
        entries, at = self._stored_entries(base_offset), 0
        for noted in parts:
            part = entries[at : at + noted.entries_count * ENTRY_BYTES]
            if len(part) != noted.entries_count * ENTRY_BYTES or crc32c(part) != noted.crc:
                return False
            at += len(part)
        if at < len(entries) or len(parts) > 1:
            self._shorten(base_offset, entries[:at])
        else:
            self._noted[base_offset] = parts[0]._replace(base_offset=base_offset)
        return True

    def _stored_entries(self, base_offset: int) -> bytes:
        """Return the whole entries of the segment's file, none if it is missing."""
        try:
            return _whole_entries(self._path(base_offset))
        except FileNotFoundError:
            return b""

    def _shorten(self, base_offset: int, entries: bytes) -> None:
        """Leave only `entries`, which the segment's file begins with."""
        self._noted.pop(base_offset, None)
        if entries:
            os.truncate(self._path(base_offset), len(entries))
            self._note(base_offset, entries)
        else:
            self._path(base_offset).unlink(missing_ok=True)

    def _note(self, base_offset: int, entries: bytes) -> None:
        self._noted[base_offset] = NotedAborts(base_offset, len(entries) // ENTRY_BYTES, crc32c(entries))

    def is_sound(self, base_offsets: Sequence[int]) -> bool:
        """Return whether all entries can be true, of segments that begin at `base_offsets`. Raises OSError.

        For a log whose last snapshot notes nothing of the index. What a stop left for markers that were never written
        lies beyond the end of the last segment; it can be true, and is cut off.
        """
        return not self.has_entries or all(map(self._can_be_true, base_offsets, [*base_offsets[1:], sys.maxsize]))

    def _can_be_true(self, base_offset: int, next_offset: int) -> bool:
        path, after = self._path(base_offset), base_offset - 1
        if not path.exists():
            return True
        entries = _whole_entries(path)
        self._note(base_offset, entries)
        for version, _, first_offset, last_offset, _ in _ENTRY.iter_unpack(entries):
            if version != _VERSION or not 0 <= first_offset < last_offset or last_offset <= after:
                return False
            after = last_offset
        return after < next_offset

    def remove(self) -> None:
        """Forget all, true or not. Raises OSError."""
        self._noted.clear()
        for path in self.directory.glob("*" + TRANSACTION_INDEX_SUFFIX):
            path.unlink()

    def cut(self, end_offset: int) -> None:
        """Forget the transactions whose markers are at `end_offset` or beyond. Raises OSError."""
        base_offsets = sorted(self._noted)
        for base_offset in base_offsets[max(0, bisect_right(base_offsets, end_offset) - 1) :]:
            self.take_back(base_offset, end_offset)

    def take_back(self, base_offset: int, end_offset: int) -> None:
        """Forget what was noted for a segment that ends at `end_offset` and got no further marker. Raises OSError."""
        if self.has_entries:
            entries = self._stored_entries(base_offset)
            markers = [entry[3] for entry in _ENTRY.iter_unpack(entries)]
            self._shorten(base_offset, entries[: bisect_left(markers, end_offset) * ENTRY_BYTES])

    def note_replaced(self, old: Iterable[int], new: Iterable[int]) -> bool:
        """Note that segments at `new` replace those at `old`; return whether entries went too.

        Raises OSError.
        """
        before = sum(noted.entries_count for base in old if (noted := self._noted.pop(base, None)))
        after = 0
        for base_offset in new if before else ():
            entries = self._stored_entries(base_offset)
            if entries:
                self._note(base_offset, entries)
            after += len(entries) // ENTRY_BYTES
        return after < before

    def flush(self, base_offset: int) -> None:
        """fsync the entries of a segment. Raises OSError."""
        if self.has_entries and (path := self._path(base_offset)).exists():
            fsync_file(SharedFile(path))

    def _path(self, base_offset: int) -> Path:
        return segment_path(self.directory, base_offset, TRANSACTION_INDEX_SUFFIX)

    def _entries(self, base_offset: int, from_offset: int) -> Iterator[AbortedRange]:
        """Yield entries whose markers are at `from_offset` or beyond."""
        try:
            file = SharedFile(self._path(base_offset))
        except FileNotFoundError:
            return
        count = _entries_count(file)
        for first in range(_first_from(file, from_offset), count, _ENTRIES_READ):
            length = min(_ENTRIES_READ, count - first) * ENTRY_BYTES
            for entry in _ENTRY.iter_unpack(read_at(file, first * ENTRY_BYTES, length)):
                yield AbortedRange(*entry[1:])


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
        file = SharedFile(joined, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        write_at(file, content, 0)
        fsync_file(file)


def _whole_entries(path: Path) -> bytes:
    file = SharedFile(path)
    return read_at(file, 0, _entries_count(file) * ENTRY_BYTES)


def _entries_count(file: SharedFile) -> int:
    return file.size_bytes // ENTRY_BYTES


def _first_from(file: SharedFile, offset: int) -> int:
    """Number of the first entry whose marker is at `offset` or beyond; how many there are if there is none."""
    low, high = 0, _entries_count(file)
    while low < high:
        middle = (low + high) // 2
        entry = _ENTRY.unpack(read_at(file, middle * ENTRY_BYTES, ENTRY_BYTES))
        low, high = (middle + 1, high) if entry[3] < offset else (low, middle)
    return low
