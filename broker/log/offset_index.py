"""The sparse map of a segment from offsets to file positions: Kafka's `.index`.

Format: entries of 8 bytes, big endian: the last offset of a batch relative to the segment's base offset (int32), and
the position where that batch starts (int32). Kafka preallocates the file with zeros; a zero tail is therefore no
entries, and an all-zero entry cannot occur, because the first batch of a segment is never indexed.

An index is a hint. It carries no checksum, is not written for the active segment until that one is sealed or flushed
(recovery scans that segment anyway), and may be short, missing or damaged: loading keeps what can be right, the segment
adds what is missing at the end, and a reader that does not find a batch where an entry points has it rebuilt.
"""

import os
from array import array
from bisect import bisect_left, bisect_right
from pathlib import Path

from broker.log.files import SharedFile, read_at, write_at
from broker.log.index_file import is_increasing, swap_to_big_endian, used_bytes

ENTRY_BYTES = 8
RELATIVE_OFFSET_MAX = 2**31 - 1


class OffsetIndex:
    """Kept in memory as two parallel arrays, both strictly increasing. Positions are starts of batches.

    One thread may write while others ask `entry_for_offset`.
    """

    __slots__ = ("_bytes_since_entry", "_interval_bytes", "_relative_offsets", "base_offset", "is_read", "positions")

    def __init__(self, base_offset: int, interval_bytes: int):
        self.base_offset = base_offset
        #: Whether entries came from an index file; those of batches that were seen are beyond doubt.
        self.is_read = False
        self._interval_bytes = interval_bytes
        self._bytes_since_entry = 0
        self._relative_offsets = array("i")
        #: Where the batches start that have an entry.
        self.positions = array("i")

    def __len__(self) -> int:
        return len(self.positions)

    def note_batch(self, last_offset: int, position: int, size: int) -> bool:
        """Note the next batch, or the last entry's own, and index it if enough bytes have passed. Return whether it was
        indexed.

        Returns whether it was.
        """
        if self._bytes_since_entry <= self._interval_bytes:
            self._bytes_since_entry += size
            return False
        self.positions.append(position)
        self._relative_offsets.append(last_offset - self.base_offset)
        self._bytes_since_entry = size
        return True

    def entry_for_offset(self, offset: int) -> tuple[int, int]:
        """Return (last offset, position) of the newest entry whose batch is not after the one holding `offset`.

        Here and below: (base offset - 1, 0) where there is no such entry, which is where a segment starts.
        """
        return self._entry(bisect_right(self._relative_offsets, min(offset - self.base_offset, RELATIVE_OFFSET_MAX)))

    def entry_for_position(self, position: int) -> tuple[int, int]:
        """Return the newest entry whose batch starts at `position` or before."""
        return self._entry(bisect_right(self.positions, min(position, RELATIVE_OFFSET_MAX)))

    def last_entry(self) -> tuple[int, int]:
        return self._entry(len(self))

    def _entry(self, after: int) -> tuple[int, int]:
        if not after:
            return self.base_offset - 1, 0
        return self.base_offset + self._relative_offsets[after - 1], self.positions[after - 1]

    def until(self, position: int) -> "OffsetIndex":
        """Return an index of only those batches that start before `position`."""
        index = OffsetIndex(self.base_offset, self._interval_bytes)
        index.is_read = self.is_read
        index._relative_offsets, index.positions = self._relative_offsets[:], self.positions[:]
        index.truncate(position)
        return index

    def truncate(self, position: int) -> None:
        """Forget batches that start at `position` or later."""
        keep = bisect_left(self.positions, position)
        del self.positions[keep:]
        del self._relative_offsets[keep:]

    def encode(self) -> bytes:
        count = len(self._relative_offsets)
        entries = array("i", bytes(ENTRY_BYTES * count))
        entries[0::2] = self._relative_offsets[:count]
        entries[1::2] = self.positions[:count]
        return swap_to_big_endian(entries).tobytes()

    def decode(self, data: bytes, log_bytes: int, *, is_checked: bool = True) -> None:
        """Take over what of `data` can be right for a segment of `log_bytes`: those before its end, or none.

        Not `is_checked`, which takes milliseconds, entries may be in any order; of those a search finds none speaks of
        what is behind the place that is sought, and who looks at the batch there notices a lie.
        """
        entries = swap_to_big_endian(array("i", data[: used_bytes(data, ENTRY_BYTES)]))
        relative_offsets, positions = entries[0::2], entries[1::2]
        if not is_checked or (is_increasing(relative_offsets, 0) and is_increasing(positions, 1)):
            self._relative_offsets, self.positions = relative_offsets, positions
            self.truncate(log_bytes)
        self.is_read = True


def load_index(
    path: Path, base_offset: int, interval_bytes: int, log_bytes: int, *, is_checked: bool = True
) -> OffsetIndex:
    """Load the index at `path`, see `OffsetIndex.decode`; empty if the file is missing."""
    index = OffsetIndex(base_offset, interval_bytes)
    try:
        index.decode(path.read_bytes(), log_bytes, is_checked=is_checked)
    except FileNotFoundError:
        index.is_read = True
    return index


def store_index(path: Path, index: OffsetIndex) -> None:
    """Write the index without fsync and not atomically: loading detects a torn file."""
    write_at(SharedFile(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), index.encode(), 0)


def last_position(path: Path) -> int:
    """Return where the last batch starts that the index file at `path` knows of, 0 if it is missing or torn."""
    try:
        file = SharedFile(path)
    except FileNotFoundError:
        return 0
    size = file.size_bytes
    if not size or size % ENTRY_BYTES:
        return 0
    return max(0, int.from_bytes(read_at(file, size - 4, 4), "big", signed=True))
