"""Counting records by topic, partition and event-time window, in memory that is bounded.

The checksum of a tally is the sum, modulo 2^64, of a 64-bit BLAKE2b of each record's key and value (lengths first, null
told apart from empty). The order of records does not matter to it. It finds that one record is missing and another
there twice, or that bytes differ, except once in 2^64; two lost copies of one record show as well. It does not find a
change of headers, of timestamps within a window, or of order, and it is no proof against somebody who seeks collisions.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

from broker.common.types import TopicPartition

MODULUS = 1 << 64
WINDOW_MS = 60_000
#: The window of records that have no timestamp, or one that no clock of ours can tell.
NO_WINDOW = -1
#: The end of the year 9999.
MOMENT_MAX = 253_402_300_799_999
#: A counter that holds so many windows is full: it is to be drained before anything else. An increment has some 100
#: bytes for each, and a record of the audit topic room for all.
WINDOWS_MAX = 5_000

_NULL = (0xFFFF_FFFF).to_bytes(4, "big")


def fingerprint(key: bytes | None, value: bytes | None) -> int:
    """Return what a record adds to a window's checksum."""
    return int.from_bytes(blake2b(_field(key) + _field(value), digest_size=8).digest(), "big")


def _field(data: bytes | None) -> bytes:
    return _NULL if data is None else len(data).to_bytes(4, "big") + data


def window_of(timestamp_ms: int, window_ms: int = WINDOW_MS) -> int:
    """Return the start of the window, or NO_WINDOW."""
    return timestamp_ms - timestamp_ms % window_ms if 0 <= timestamp_ms <= MOMENT_MAX else NO_WINDOW


@dataclass(frozen=True, slots=True)
class RecordTally:
    """Counts of some records. `bytes` are those of keys and values; offsets are inclusive, -1 without a record."""

    count: int = 0
    bytes: int = 0
    checksum: int = 0
    first_offset: int = -1
    last_offset: int = -1
    #: Records whose offset is below that of one which went before.
    disordered: int = 0
    #: Records beside `count` of which a producer never learned whether they arrived.
    unsure: int = 0

    def __add__(self, other: "RecordTally") -> "RecordTally":
        firsts = [partition.first_offset for partition in (self, other) if partition.count]
        return RecordTally(
            self.count + other.count,
            self.bytes + other.bytes,
            (self.checksum + other.checksum) % MODULUS,
            min(firsts, default=-1),
            max(self.last_offset, other.last_offset),
            self.disordered + other.disordered,
            self.unsure + other.unsure,
        )


class CountedRecord(NamedTuple):
    """A record as it is counted."""

    timestamp_ms: int
    offset: int
    key: bytes | None
    value: bytes | None
    is_disordered: bool = False
    is_unsure: bool = False

    def tally(self) -> RecordTally:
        if self.is_unsure:
            return RecordTally(unsure=1)
        size = len(self.key or b"") + len(self.value or b"")
        print_ = fingerprint(self.key, self.value)
        return RecordTally(1, size, print_, self.offset, self.offset, int(self.is_disordered))


Windows = dict[int, RecordTally]


class WindowCounter:
    """Tallies since the last drain. A late record belongs to its own window, which is simply open again."""

    def __init__(self, window_ms: int = WINDOW_MS, windows_max: int = WINDOWS_MAX):
        self.window_ms = window_ms
        self._windows_max = windows_max
        self._open: dict[TopicPartition, Windows] = {}
        self._count = 0

    @property
    def is_full(self) -> bool:
        return self._count >= self._windows_max

    def add(self, partition: TopicPartition, record: CountedRecord) -> None:
        """Raises OverflowError when a window more than is allowed would be open; nothing is counted then."""
        windows = self._open.get(partition, {})
        start = window_of(record.timestamp_ms, self.window_ms)
        if start not in windows:
            if self.is_full:
                raise OverflowError(f"{self._count} windows are open; drain them first")
            self._count += 1
        windows[start] = windows.get(start, RecordTally()) + record.tally()
        self._open[partition] = windows

    def take_back(self, drained: Iterable[tuple[TopicPartition, Windows]]) -> None:
        """Put drained counts back, as if never drained; they are within the limit, because they were before."""
        for partition, windows in drained:
            mine = self._open.setdefault(partition, {})
            for start, tally in windows.items():
                self._count += start not in mine
                mine[start] = mine.get(start, RecordTally()) + tally

    def drain(self) -> Iterator[tuple[TopicPartition, Windows]]:
        """Yield the counts by partition. The counter is empty as soon as this is called."""
        taken, self._open, self._count = self._open, {}, 0
        return iter(sorted(taken.items()))
