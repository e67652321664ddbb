"""The sparse map of a segment from timestamps to offsets: Kafka's `.timeindex`.

Format: entries of 12 bytes, big endian: the largest timestamp in the segment up to and with some batch (int64), and the
last offset of the batch that has it, relative to the segment's base offset (int32). Both strictly increase. An entry is
added together with one of the offset index if the largest timestamp has grown since the last; one more is added when
the segment is sealed or the broker stops, so that the last entry holds the largest timestamp of the segment.

Retention goes by that last entry, so a time index must not be short. It is put in place whole, or none is left; it is
fsynced before the recovery point passes its segment, and recovery rebuilds those behind it. Besides, an entry counts
only after a look at the batch it speaks of.
"""

from array import array
from bisect import bisect_left, bisect_right
from pathlib import Path
from typing import NamedTuple

from broker.log.index_file import is_increasing, put_in_place, swap_to_big_endian, used_bytes
from broker.records.batch import NO_TIMESTAMP

TIME_ENTRY_BYTES = 12
_WORDS = TIME_ENTRY_BYTES // 4


class TimeEntry(NamedTuple):
    """No record up to `offset` has a larger timestamp, and the batch that holds `offset` has this one."""

    timestamp_ms: int
    offset: int


class TimeIndex:
    """Kept in memory as two parallel arrays, and the largest timestamp so far, which has perhaps no entry yet.

    One thread may write while others look entries up.
    """

    __slots__ = ("_max_timestamp_offset", "_relative_offsets", "_timestamps", "base_offset", "max_timestamp")

    def __init__(self, base_offset: int):
        self.base_offset = base_offset
        #: -1 if no batch has a timestamp.
        self.max_timestamp = NO_TIMESTAMP
        self._max_timestamp_offset = base_offset
        self._timestamps = array("q")
        self._relative_offsets = array("i")

    def __len__(self) -> int:
        return len(self._timestamps)

    def note_batch(self, max_timestamp: int, last_offset: int) -> None:
        """Note that a batch follows the last one noted."""
        if max_timestamp > self.max_timestamp:
            self.max_timestamp = max_timestamp
            self._max_timestamp_offset = last_offset

    def add_entry(self) -> None:
        """Note the largest timestamp so far, unless the last entry does."""
        if self.max_timestamp > (self._timestamps[-1] if self._timestamps else NO_TIMESTAMP):
            self._relative_offsets.append(self._max_timestamp_offset - self.base_offset)
            self._timestamps.append(self.max_timestamp)

    def last_entry(self) -> TimeEntry | None:
        return self._entry(len(self))

    def entry_before(self, timestamp_ms: int) -> TimeEntry | None:
        """Return the last entry with an earlier timestamp: what is sought is not at its offset or before."""
        return self._entry(bisect_left(self._timestamps, timestamp_ms))

    def until(self, offset: int) -> "TimeIndex":
        """Return the index as it was after the batch that ends at `offset`."""
        index = TimeIndex(self.base_offset)
        after = bisect_right(self._relative_offsets, offset - self.base_offset)
        index._relative_offsets, index._timestamps = self._relative_offsets[:after], self._timestamps[:after]
        index._know_largest()
        return index

    def _know_largest(self) -> None:
        if (last := self.last_entry()) is not None:
            self.max_timestamp, self._max_timestamp_offset = last

    def _entry(self, after: int) -> TimeEntry | None:
        if not after:
            return None
        return TimeEntry(self._timestamps[after - 1], self.base_offset + self._relative_offsets[after - 1])

    def encode(self) -> bytes:
        count = len(self)
        halves = array("i", swap_to_big_endian(self._timestamps[:count]).tobytes())
        entries = array("i", bytes(TIME_ENTRY_BYTES * count))
        entries[0::_WORDS], entries[1::_WORDS] = halves[0::2], halves[1::2]
        entries[2::_WORDS] = swap_to_big_endian(self._relative_offsets[:count])
        return entries.tobytes()

    @classmethod
    def decode(cls, base_offset: int, data: bytes) -> "TimeIndex | None":
        """Decode a time index; None if `data` is malformed."""
        if len(data) % TIME_ENTRY_BYTES:
            return None
        index = cls(base_offset)
        words = array("i", data[: used_bytes(data, TIME_ENTRY_BYTES)])
        halves = array("i", bytes(8 * (len(words) // _WORDS)))
        halves[0::2], halves[1::2] = words[0::_WORDS], words[1::_WORDS]
        index._timestamps = swap_to_big_endian(array("q", halves.tobytes()))
        index._relative_offsets = swap_to_big_endian(words[2::_WORDS])
        if not (is_increasing(index._timestamps, 0) and is_increasing(index._relative_offsets, 0)):
            return None
        index._know_largest()
        return index


def load_time_index(path: Path, base_offset: int) -> TimeIndex | None:
    """Load a time index; None if it is missing or malformed."""
    try:
        return TimeIndex.decode(base_offset, path.read_bytes())
    except FileNotFoundError:
        return None


def store_time_index(path: Path, index: TimeIndex) -> None:
    """Store a time index whole or not at all, but not fsynced.

    The earlier one goes first: left by a full disk it could not be told from a whole one, for each of its entries is
    true, and retention by time would go by it.
    """
    path.unlink(missing_ok=True)
    put_in_place(path, index.encode())
