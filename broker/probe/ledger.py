"""What has become of each record of one partition: read, read twice, out of order, or lost. Pure.

A record is lost when it was acknowledged and the partition, read past its place, does not have it; or when the
partition has ended before its place for LOST_AFTER_MS. While nobody can read, nothing is lost. A record whose
acknowledgement never came may or may not be there, and is never called lost. One that comes after it was called lost
is taken back. Of an earlier life of the probe nothing is known, and nothing is said.
"""

from collections import OrderedDict
from dataclasses import dataclass
from enum import Enum, auto

#: The log ends before the place of a record: so long may that be a reader's view of a leader that has just changed.
LOST_AFTER_MS = 20_000
#: Records of a partition that are waited for; beyond it the oldest is not followed any more.
WAITING_MAX = 1_024
#: Records that a second copy is told by, and that may still come after they were called lost.
REMEMBERED_MAX = 1_024


class ReadFate(Enum):
    """What reading a record tells."""

    FIRST = auto()
    DUPLICATE = auto()
    REORDERED = auto()  #: for the first time, and behind one that was sent when it was acknowledged already
    FOUND = auto()  #: it had been called lost
    FORGOTTEN = auto()  #: so old that nothing is known of it


@dataclass(slots=True)
class _PendingRecord:
    sent_at_ms: float
    #: -1: not acknowledged.
    offset: int = -1


class ProbeLedger:
    def __init__(self) -> None:
        self._next = 0
        self._waiting: dict[int, _PendingRecord] = {}
        self._read: OrderedDict[int, None] = OrderedDict()
        self._lost: OrderedDict[int, None] = OrderedDict()
        self._highest_read = -1

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def send(self, at_ms: float) -> int:
        """Return the index of the record that is sent now."""
        index, self._next = self._next, self._next + 1
        self._waiting[index] = _PendingRecord(at_ms)
        if len(self._waiting) > WAITING_MAX:
            del self._waiting[next(iter(self._waiting))]
        return index

    def pass_by(self) -> None:
        """Note a record that was sent and will not be tracked."""
        self._next += 1

    def acknowledge(self, index: int, offset: int) -> None:
        if index in self._waiting:
            self._waiting[index].offset = offset

    def refuse(self, index: int) -> None:
        """Note that the record was not written."""
        self._waiting.pop(index, None)

    def read(self, index: int, at_ms: float) -> tuple[ReadFate, float | None]:
        """Note that the record was read. Return its fate, and the ms since it was sent if this is the first read."""
        waiting = self._waiting.pop(index, None)
        if waiting is None:
            if self._lost.pop(index, 0) is None:
                _remember(self._read, index)
                return ReadFate.FOUND, None
            return (ReadFate.DUPLICATE if index in self._read else ReadFate.FORGOTTEN), None
        _remember(self._read, index)
        if waiting.offset < 0:
            return ReadFate.FIRST, None
        is_behind = index < self._highest_read
        self._highest_read = max(self._highest_read, index)
        return (ReadFate.REORDERED if is_behind else ReadFate.FIRST), at_ms - waiting.sent_at_ms

    def judge(self, position: int, log_start: int, end: int, at_ms: float) -> int:
        """Return how many more records are lost, knowing that all before `position` has been read and readers see up to
        `end`.
        """
        gone = [index for index, item in self._waiting.items() if 0 <= item.offset < min(log_start, position)]
        for index in gone:  # deleted before it was read: nobody knows
            del self._waiting[index]
        lost = [index for index, item in self._waiting.items() if _is_lost(item, position, end, at_ms)]
        for index in lost:
            del self._waiting[index]
            _remember(self._lost, index)
        return len(lost)

    def judge_overtaken(self, at_ms: float) -> int:
        """Return how many more records are lost in a mirror, where offsets differ but the order is kept.

        What one that was read has overtaken for so long is lost; while nothing comes, nothing is.
        """
        lost = [
            index
            for index, item in self._waiting.items()
            if item.offset >= 0 and index < self._highest_read and at_ms - item.sent_at_ms > LOST_AFTER_MS
        ]
        for index in lost:
            del self._waiting[index]
            _remember(self._lost, index)
        return len(lost)

    def skip(self, age_ms: float, at_ms: float) -> None:
        """Give up on unacknowledged records of that age."""
        for index in [
            index for index, item in self._waiting.items() if item.offset < 0 and at_ms - item.sent_at_ms > age_ms
        ]:
            del self._waiting[index]


def _is_lost(waiting: _PendingRecord, position: int, end: int, at_ms: float) -> bool:
    if waiting.offset < 0:
        return False
    is_cut_off = 0 <= end <= waiting.offset and at_ms - waiting.sent_at_ms > LOST_AFTER_MS
    return waiting.offset < position or is_cut_off


def _remember(kept: OrderedDict[int, None], index: int) -> None:
    kept[index] = None
    if len(kept) > REMEMBERED_MAX:
        kept.popitem(last=False)
