"""Reading on until something says stop: enough found, the end as it was at the start, or a budget used up.

Works over any RecordStream, one `step` at a time, so that whoever drives it can show progress or give up between.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from console.cluster.records.matching import Matcher
from console.kit.gateway.records.interface import RecordStream, RecordView

READ_TIMEOUT_SECONDS = 0.25
RECORDS_PER_READ = 1_000


class Stop(StrEnum):
    """Why reading ended, as the page says it."""

    LIMIT = "limit reached"
    END = "end reached"
    TIME = "time budget used"
    BYTES = "byte budget used"
    RECORDS = "more records than expected"


@dataclass(frozen=True, slots=True)
class ScanBudget:
    """What one scan may cost. `found_max` counts records that match, `bytes_max` what all that were read hold."""

    found_max: int
    bytes_max: int
    milliseconds: int
    read_max: int = sys.maxsize


@dataclass(frozen=True, slots=True)
class ScanProgress:
    read: int
    read_bytes: int
    hits: int
    #: Offsets between the positions and the ends; an upper bound of the records left.
    left: int
    share: int
    #: Offsets of the whole range.
    total: int = 0

    @property
    def searched(self) -> int:
        """Offsets that were looked at, or stepped over where they hold no record."""
        return self.total - self.left


def waits_of(stream: RecordStream) -> str:
    """Return what a metered stream waits for; empty if it may read on."""
    return str(getattr(stream, "waits", ""))


def note_of(stream: RecordStream) -> str:
    """Return what a stream could not read, for the page; empty if it has read everything."""
    return str(getattr(stream, "note", ""))


class Scan:
    """Reads `stream` up to `ends`, keeping what `matches`."""

    def __init__(
        self,
        stream: RecordStream,
        ends: Mapping[int, int],
        budget: ScanBudget,
        matches: Matcher,
        now_ms: Callable[[], int],
    ):
        self._stream, self._budget, self._matches, self._now_ms = stream, budget, matches, now_ms
        self._ends, self._next = dict(ends), dict(stream.positions)
        #: The first record at or behind the end of each partition that showed one: nothing lies before it.
        self._beyond: dict[int, int] = {}
        self._reading = set(self._ends)
        self._offsets = self._left()
        self._began_ms = now_ms()
        self._read = self._read_bytes = self._hits = 0
        self.stopped: Stop | None = None
        self._settle()

    @property
    def progress(self) -> ScanProgress:
        left = self._left()
        share = 100 if not self._offsets else round(100 * (self._offsets - left) / self._offsets)
        return ScanProgress(self._read, self._read_bytes, self._hits, left, share, self._offsets)

    @property
    def note(self) -> str:
        """What was searched and what could not be, for the page."""
        return " ".join(filter(None, (note_of(self._stream), self._matches.note)))

    @property
    def stream_note(self) -> str:
        """What the stream could not read."""
        return note_of(self._stream)

    @property
    def waits(self) -> str:
        return waits_of(self._stream)

    @property
    def positions(self) -> Mapping[int, int]:
        """Where to continue: the offset after the last record searched, by partition."""
        return self._next

    @property
    def resumes(self) -> Mapping[int, int]:
        """Where to resume, as `positions`; behind a gap, the first unsearched record after it."""
        return self._next | self._beyond

    def step(self) -> list[RecordView]:
        """Read once, and return the matches. `stopped` says afterwards whether that was the last read."""
        records: list[RecordView] = []
        self._matches.renew()
        for record in self._stream.read(READ_TIMEOUT_SECONDS, RECORDS_PER_READ):
            if self._hits == self._budget.found_max or self._is_late():
                break
            self._next[record.partition] = record.offset + 1
            if record.offset >= self._ends[record.partition]:
                self._beyond.setdefault(record.partition, record.offset)
                continue
            self._read += 1
            self._read_bytes += record.held_bytes
            if self._matches(record):
                self._hits += 1
                records.append(record)
        else:
            self._next.update(self._stream.positions)
        self._settle()
        return records

    def _settle(self) -> None:
        """Drop partitions that are through, and note the reason to stop, if there is one."""
        for partition in [item for item in self._reading if self._next[item] >= self._ends[item]]:
            self._reading.remove(partition)
            self._stream.drop(partition)
        if self._hits >= self._budget.found_max:
            self.stopped = Stop.LIMIT
        elif not self._reading:
            self.stopped = Stop.END
        elif self._read_bytes >= self._budget.bytes_max:
            self.stopped = Stop.BYTES
        elif self._is_late():
            self.stopped = Stop.TIME
        elif self._read >= self._budget.read_max:
            self.stopped = Stop.RECORDS

    def _is_late(self) -> bool:
        return self._now_ms() - self._began_ms >= self._budget.milliseconds

    def _left(self) -> int:
        return sum(max(0, end - self._next[partition]) for partition, end in self._ends.items())
