"""Records that were read and are not safe yet: counted as far as they are, by how they ended. Pure.

A sink's records become safe up to an offset that it names, perhaps in the midst of what was put together. So each is
kept by itself until then, as a few numbers. Beyond PENDING_MAX the oldest of a partition are folded into one sum, which
is told as a whole or not at all: memory is bounded, and what is told stays true.
"""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from broker.audit.latency import Latency
from broker.audit.tally import NO_WINDOW, WINDOW_MS, CountedRecord, RecordTally, Windows, window_of
from broker.common.types import TopicPartition

PENDING_MAX = 200_000
#: How many are folded at once.
_FOLDED = 1_000
#: A record that came to its end, beside the kinds of `Increment.aside`.
ARRIVED = ""


class _Record(NamedTuple):
    timestamp_ms: int
    offset: int
    size: int
    checksum: int
    kind: str


class AuditReport(NamedTuple):
    """`end`: the offset behind all of it."""

    end: int
    windows: Windows
    aside: dict[str, Windows]
    latencies: dict[int, Latency]


class _PendingSum:
    """Sums records in the order of their offsets. Latencies are those at the time of reporting."""

    def __init__(self, window_ms: int) -> None:
        self._window_ms = window_ms
        self.end = 0
        self.kinds: dict[str, Windows] = {}
        self.times: list[tuple[int, int]] = []

    def add(self, record: _Record) -> None:
        window = window_of(record.timestamp_ms, self._window_ms)
        windows = self.kinds.setdefault(record.kind, {})
        tally = RecordTally(1, record.size, record.checksum, record.offset, record.offset)
        windows[window] = windows.get(window, RecordTally()) + tally
        self.end = record.offset + 1
        if record.kind == ARRIVED and window != NO_WINDOW:
            self.times.append((window, record.timestamp_ms))

    def merge(self, other: "_PendingSum") -> None:
        for kind, windows in other.kinds.items():
            mine = self.kinds.setdefault(kind, {})
            for window, tally in windows.items():
                mine[window] = mine.get(window, RecordTally()) + tally
        self.end = other.end
        self.times += other.times

    def report(self, end: int, now_ms: int) -> AuditReport:
        latencies: dict[int, Latency] = {}
        for window, timestamp_ms in self.times:
            latencies.setdefault(window, Latency()).add(now_ms - timestamp_ms)
        aside = {kind: windows for kind, windows in self.kinds.items() if kind != ARRIVED}
        return AuditReport(end, self.kinds.get(ARRIVED, {}), aside, latencies)


class _PendingPartition:
    """Increments that wait, of one partition."""

    def __init__(self) -> None:
        self.folded: deque[_PendingSum] = deque()
        self.records: deque[_Record] = deque()


class Pending:
    """Counts that are not reported yet, by partition. Offsets of a partition only go up, except after `rewind`."""

    def __init__(self, window_ms: int = WINDOW_MS, pending_max: int = PENDING_MAX):
        self._window_ms, self._max = window_ms, pending_max
        self._waiting: dict[TopicPartition, _PendingPartition] = {}
        self._count = 0

    def add(self, partition: TopicPartition, record: CountedRecord, kind: str = ARRIVED) -> None:
        tally = record.tally()
        waiting = self._waiting.setdefault(partition, _PendingPartition())
        waiting.records.append(_Record(record.timestamp_ms, record.offset, tally.bytes, tally.checksum, kind))
        self._count += 1
        if self._count > self._max:
            self._fold(max(self._waiting.values(), key=lambda waiting: len(waiting.records)))

    def _fold(self, waiting: _PendingPartition) -> None:
        whole = _PendingSum(self._window_ms)
        for _ in range(min(_FOLDED, len(waiting.records))):
            whole.add(waiting.records.popleft())
            self._count -= 1
        whole.times.clear()
        waiting.folded.append(whole)

    def mark(self, partition: TopicPartition, offset: int, kind: str) -> None:
        """Mark a record that still waits as ended differently than expected."""
        records = self._waiting[partition].records if partition in self._waiting else deque()
        for at in reversed(range(len(records))):
            if records[at].offset <= offset:
                if records[at].offset == offset:
                    records[at] = records[at]._replace(kind=kind)
                return

    def rewind(self, partition: TopicPartition, offset: int) -> None:
        """Forget everything from that offset on: it will be delivered again."""
        waiting = self._waiting.get(partition)
        if waiting is not None:
            self._drop_while(waiting, lambda record: record.offset >= offset)
            while waiting.folded and waiting.folded[-1].end > offset:
                waiting.folded.pop()

    def _drop_while(self, waiting: _PendingPartition, is_gone: Callable[[_Record], bool]) -> None:
        while waiting.records and is_gone(waiting.records[-1]):
            waiting.records.pop()
            self._count -= 1

    def forget(self, partition: TopicPartition) -> None:
        waiting = self._waiting.pop(partition, _PendingPartition())
        self._count -= len(waiting.records)

    def take(self, partition: TopicPartition, until: int, now_ms: int) -> AuditReport | None:
        """Return a report of everything before `until` that can be separated; None if nothing can."""
        waiting, whole = self._waiting.get(partition, _PendingPartition()), _PendingSum(self._window_ms)
        while waiting.folded and waiting.folded[0].end <= until:
            whole.merge(waiting.folded.popleft())
        if waiting.folded:
            return whole.report(whole.end, now_ms) if whole.end else None
        while waiting.records and waiting.records[0].offset < until:
            whole.add(waiting.records.popleft())
            self._count -= 1
        return whole.report(until, now_ms) if whole.end else None
