"""The tier `mirrored`: what the other cluster has acknowledged, told to the audit of the source by the source's names.

Offsets are those of the source, so that what a mirror tells lies beside what was appended there, range by range. What
came from the other cluster and does not go back is told aside. It is told before a position is remembered, by the rule
of consumers: whoever goes on from an older one tells the same offsets again, and that replaces this. Batches go as they
are packed; a mirror that takes part unpacks them besides, for a window and a checksum need each record.
"""

import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator

from broker.audit.increment import RETURNING, AuditTier, Increment
from broker.audit.latency import WindowLatencies
from broker.audit.reporter import SourceReporter
from broker.audit.tally import NO_WINDOW, WINDOW_MS, CountedRecord, WindowCounter, window_of
from broker.common.errors import ApiError
from broker.common.types import TopicPartition
from broker.mirror.batches import Copy
from broker.records.record import Record, decode_records

Send = Callable[[Iterable[Increment]], None]


class MirrorAudit:
    """The audit of one task's copies. `flow` names the mirror's tier."""

    def __init__(self, flow: str, send: Send, clock_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000):
        self._send, self._now_ms = send, clock_ms
        self._reporter = SourceReporter(AuditTier.MIRRORED, flow, uuid.uuid4().hex, WINDOW_MS)
        self._copied, self._returning = WindowCounter(), WindowCounter()
        self._latencies = WindowLatencies()
        #: Where the next increment begins, and what is behind all that was counted.
        self._starts: dict[TopicPartition, int] = {}
        self._ends: dict[TopicPartition, int] = {}
        self._counting = threading.Lock()

    def began(self, partition: TopicPartition, offset: int) -> None:
        """Begin at this offset; counts of the partition that were not reported are dropped."""
        with self._counting:
            self._drop(partition)
            self._starts[partition] = self._ends[partition] = offset

    def took(self, partition: TopicPartition, copy: Copy, *, is_returning: bool = False) -> None:
        """Note that a batch was copied, or skipped because it came from the other cluster."""
        with self._counting:
            self._take(partition, copy, is_returning=is_returning)

    def _take(self, partition: TopicPartition, copy: Copy, *, is_returning: bool) -> None:
        try:
            records = decode_records(copy.batch)
        except ApiError:
            # Nobody can say what it holds: a gap.
            self._send_counts({partition: self._ends.get(partition, -1)})
            self._starts[partition] = self._ends[partition] = copy.next_offset
            return
        self._starts.setdefault(partition, copy.stretches[0][0])
        at_ms, counter = self._now_ms(), self._returning if is_returning else self._copied
        for record, offset in zip(records, _offsets(copy), strict=False):
            if counter.is_full or self._latencies.is_full:
                self._send_counts(dict(self._ends))
            counter.add(partition, CountedRecord(record.timestamp_ms, offset, record.key, record.value))
            self._ends[partition] = offset + 1
            if not is_returning:
                self._time(partition, record, at_ms)
        self._ends[partition] = copy.next_offset

    def _time(self, partition: TopicPartition, record: Record, at_ms: int) -> None:
        window = window_of(record.timestamp_ms)
        if window != NO_WINDOW:
            self._latencies.add(partition, window, at_ms - record.timestamp_ms)

    def tell(self, ends: dict[TopicPartition, int]) -> None:
        """Report the mirror's position in these partitions."""
        with self._counting:
            self._send_counts(ends)

    def _send_counts(self, ends: dict[TopicPartition, int]) -> None:
        copied, returning = dict(self._copied.drain()), dict(self._returning.drain())
        increments = []
        for partition in ends.keys() & self._starts.keys():
            start, end = self._starts[partition], ends[partition]
            windows, back = copied.pop(partition, {}), returning.pop(partition, {})
            if end > start:
                increments.append(
                    self._reporter.tell(
                        partition,
                        windows,
                        self._now_ms(),
                        offsets=(start, end),
                        aside={RETURNING: back} if back else {},
                        latencies=self._latencies.take(partition),
                    )
                )
                self._starts[partition] = self._ends[partition] = end
        self._copied.take_back(copied.items())
        self._returning.take_back(returning.items())
        self._send(increments)

    def _drop(self, partition: TopicPartition) -> None:
        for counter in (self._copied, self._returning):
            counter.take_back([(item, windows) for item, windows in counter.drain() if item != partition])
        self._latencies.take(partition)


def _offsets(copy: Copy) -> Iterator[int]:
    """Yield the source offsets of the copied records."""
    for first, count in copy.stretches:
        yield from range(first, first + count)
