"""A search that comes to an end. Blocking: for a thread of its own.

It reads window by window from where the query says, back in time for *Newest* and on in time else. Within a window the
hits of all partitions are put into the order of time. Each window is larger than the one before, so that hits near the
beginning come at once, and a long search opens few streams. A window counts offsets, and most of them may hold no
record (compacted, deleted, of transactions): so it grows by the records that were in it, and on in time the next one
begins at the next record. Back in time a window that was widened over a gap may reach into records behind it: it is
then given up after few of them, and tried again narrower.
"""

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from console.cluster.records.coverage import Coverage, SearchedPart
from console.cluster.records.key_partition import partition_of_key
from console.cluster.records.matching import matcher
from console.cluster.records.query import RecordQuery
from console.cluster.records.reading import ReadRanges, RecordSource, find_range, merged, open_scan
from console.cluster.records.scan import Scan, ScanBudget, ScanProgress, Stop
from console.cluster.records.turns import ReadTurn
from console.kit.common.clock import now_ms
from console.kit.gateway.records.interface import RecordView

#: What one search may read; it also ends with as many records as a page shows.
SEARCH_BYTES_MAX = 512 * 1024 * 1024
SEARCH_MILLISECONDS = 60_000
#: Records of the first window and of the largest, in all partitions of a part together.
WINDOW_FIRST, WINDOW_MAX = 2_000, 100_000
_WINDOW_GROWTH = 4
#: Of a window back in time that was given up.
_WINDOW_SHRINKING = 8
#: What a window is meant to cost.
_WINDOW_BYTES, _WINDOW_MILLISECONDS = 16 * 1024 * 1024, 2_000
#: Hits of one window that are held until it has been read.
HELD_BYTES_MAX = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """What ends a search; None: nothing of the kind."""

    hits: int | None
    read_bytes: int | None = SEARCH_BYTES_MAX
    milliseconds: int | None = SEARCH_MILLISECONDS


UNLIMITED = SearchLimits(None, None, None)


def next_window(size: int, read: int, read_bytes: int, milliseconds: int) -> int:
    """Return the offsets of the window after one of `size` offsets with `read` records of so many bytes, that took so
    many milliseconds: it is expected to hold WINDOW_MAX records at most."""
    growth = min(
        _WINDOW_GROWTH,
        WINDOW_MAX / max(1, read),
        _WINDOW_BYTES / max(1, read_bytes),
        _WINDOW_MILLISECONDS / max(1, milliseconds),
    )
    return max(1, round(size * growth))


class SearchReader:
    """Up to `limits.found` records that match; the query's limit if no limits are given."""

    cursor = ""

    def __init__(
        self,
        gateway: RecordSource,
        topic: str,
        partition_count: int,
        query: RecordQuery,
        limits: SearchLimits | None = None,
        clock_ms: Callable[[], int] = now_ms,
    ):
        self._gateway, self._topic, self._query, self._now_ms = gateway, topic, query, clock_ms
        self._limits = limits or SearchLimits(query.limit)
        self._is_newest_first = query.place == "newest"
        self._range = find_range(gateway, topic, partition_count, query)
        self._uncommitted = _uncommitted(gateway, topic, query, self._range)
        self._parts = _parts_of(self._range, query, partition_count)
        begin = self._range.ends if self._is_newest_first else self._range.starts
        self._low, self._high = dict(begin), dict(begin)
        self._size = WINDOW_FIRST
        #: Records that the window is expected to hold.
        self._expected = float(WINDOW_FIRST)
        self._read = self._read_bytes = self._hits = 0
        self._began_ms = clock_ms()
        self._notes: dict[str, None] = {}
        self._scan: Scan | None = None
        self._close_scan: Callable[[], None] = lambda: None
        self._window: ReadRanges = replace(self._range, starts={}, ends={})
        self._window_began_ms = self._began_ms
        self._kept: list[RecordView] = []
        #: Of hits that are held though their number has no limit: they are handed out when they are too many.
        self._held_bytes = 0
        #: Partitions of the window whose hits were cut off.
        self._cut: set[int] = set()
        self._matches = matcher(topic, query.search, query.searched)

    @property
    def total(self) -> int:
        """Offsets of the range: as many records at most."""
        return sum(self._range.ends[item] - start for item, start in self._range.starts.items())

    @property
    def outlook(self) -> str:
        limits, first = self._limits, self._parts[0][0] if len(self._parts) > 1 else ""
        ends = f" It ends at {limits.hits:,} found, " if limits.hits else ""
        if ends and limits.read_bytes and limits.milliseconds:
            ends += f"{limits.read_bytes // 1024**2} MB read or {limits.milliseconds // 1000} s."
        return f"Searching {self.total:,} records at most{f', {first} first' if first else ''}.{ends}"

    def turn(self) -> ReadTurn:
        if self._scan is None and not self._open_window():
            return self._end(Stop.END)
        assert self._scan is not None
        self._keep(self._scan.step())
        progress, waits = self._progress(self._scan), self._scan.waits
        if self._scan.stopped is not None:
            return self._end_window(self._scan)
        if self._held_bytes > HELD_BYTES_MAX:
            return ReadTurn(self._take_kept(), progress, waits=waits)
        return ReadTurn((), progress, note=self._note, waits=waits)

    def close(self) -> None:
        self._close_scan()
        self._matches.close()

    # -- windows

    def _open_window(self) -> bool:
        """Begin with what comes next; False if nothing is left of the range."""
        for _, partitions in self._parts:
            left = [partition for partition in partitions if self._left_of(partition)]
            if left:
                break
        else:
            return False
        share = max(1, self._size // len(left))
        if self._is_newest_first:
            ends = {number: self._low[number] for number in left}
            starts = {item: max(self._range.starts[item], end - share) for item, end in ends.items()}
        else:
            starts = {number: self._high[number] for number in left}
            ends = {item: min(self._range.ends[item], start + share) for item, start in starts.items()}
        self._window = ReadRanges(starts, ends, self._range.spans)
        spent_ms = self._now_ms() - self._began_ms
        budget = ScanBudget(
            sys.maxsize,
            sys.maxsize if self._limits.read_bytes is None else self._limits.read_bytes - self._read_bytes,
            sys.maxsize if self._limits.milliseconds is None else self._limits.milliseconds - spent_ms,
            self._read_max,
        )
        self._scan, self._close_scan = open_scan(
            self._gateway, self._topic, self._query.committed_only, self._window, budget, self._matches, self._now_ms
        )
        self._window_began_ms = self._now_ms()
        return True

    @property
    def _read_max(self) -> int:
        """Records after which a window over a gap is given up; one without a gap is read to its end."""
        return sys.maxsize if self._size <= WINDOW_MAX else WINDOW_FIRST + round(2 * self._expected)

    def _left_of(self, partition: int) -> int:
        if self._is_newest_first:
            return self._low[partition] - self._range.starts[partition]
        return self._range.ends[partition] - self._high[partition]

    def _end_window(self, scan: Scan) -> ReadTurn:
        self._close_scan()
        self._close_scan, self._scan = lambda: None, None
        progress = scan.progress
        self._read_bytes += progress.read_bytes
        if scan.stopped == Stop.RECORDS and self._is_newest_first:
            return self._give_up_window(scan)
        self._read += progress.read
        if scan.stream_note:
            self._notes.setdefault(scan.stream_note)
        took_ms = self._now_ms() - self._window_began_ms
        passed = self._size if scan.stopped != Stop.RECORDS else self._passed(scan)
        self._size = next_window(passed, progress.read, progress.read_bytes, took_ms)
        self._expected = progress.read * self._size / passed
        self._move_on(scan)
        is_cut, records = bool(self._cut), self._take_kept()
        is_full = self._limits.hits is not None and self._hits >= self._limits.hits
        is_all = not any(self._left_of(start) for start in self._range.starts)
        stop = Stop.END if is_all else Stop.LIMIT if is_full else Stop.BYTES if is_cut else scan.stopped
        if is_all or stop not in (Stop.END, Stop.RECORDS):
            return replace(self._end(stop or Stop.END), records=records)
        return ReadTurn(records, self._progress(None), note=self._note, waits=scan.waits)

    def _passed(self, scan: Scan) -> int:
        """Return the searched offsets of the window, in order of time."""
        starts, ends = self._window.starts, self._window.ends
        return max(1, sum(min(ends[item], scan.positions[item]) - start for item, start in starts.items()))

    def _give_up_window(self, scan: Scan) -> ReadTurn:
        """Give up a window with more records than the gap before it suggested; its hits are found again later."""
        self._size = max(WINDOW_FIRST, self._size // _WINDOW_SHRINKING)
        self._kept, self._cut, self._held_bytes = [], set(), 0
        return ReadTurn((), self._progress(None), note=self._note, waits=scan.waits)

    def _move_on(self, scan: Scan) -> None:
        """Note how far each partition of the window was searched. Hits that were cut off are searched again."""
        for item, end in self._window.ends.items():
            start, position = self._window.starts[item], scan.resumes[item]
            kept = [record.offset for record in self._kept if record.partition == item]
            if self._is_newest_first:
                if position >= end:  # else what lies behind it was not looked at
                    self._low[item] = start if item not in self._cut else min(kept, default=end)
            else:
                position = min(position, self._range.ends[item])
                self._high[item] = position if item not in self._cut else max(kept, default=start - 1) + 1

    # -- hits

    def _keep(self, records: list[RecordView]) -> None:
        """Hold what was found, but no more than the search may still show, and than fits."""
        if not records:
            return
        if self._limits.hits is None:
            self._kept += records
            self._held_bytes += sum(view.held_bytes for view in records)
            return
        ordered = merged([*self._kept, *records], self._is_newest_first)
        fits = fitting(ordered[: self._limits.hits - self._hits], HELD_BYTES_MAX)
        self._cut |= {record.partition for record in ordered[fits:]}
        self._kept = ordered[:fits]

    def _take_kept(self) -> tuple[RecordView, ...]:
        records = tuple(merged(self._kept, self._is_newest_first))
        self._kept, self._cut, self._held_bytes = [], set(), 0
        self._hits += len(records)
        return records

    # -- what is told

    @property
    def left_out(self) -> str:
        """What of the range was not read or not decoded; empty if nothing."""
        silent = ", ".join(map(str, self._range.silent))
        without_leader = f"Partitions without a leader: {silent}." if silent else ""
        return " ".join(filter(None, (*self._notes, self._matches.undecoded, without_leader)))

    @property
    def _note(self) -> str:
        return " ".join(filter(None, (*self._notes, self._matches.note)))

    def _progress(self, scan: Scan | None) -> ScanProgress:
        now = scan.progress if scan is not None else ScanProgress(0, 0, 0, 0, 0)
        in_window = sum(self._window.ends[item] - at for item, at in self._window.starts.items()) if scan else 0
        left = sum(self._left_of(start) for start in self._range.starts) - in_window + now.left
        share = 100 if not self.total else round(100 * (self.total - left) / self.total)
        return ScanProgress(
            self._read + now.read,
            self._read_bytes + now.read_bytes,
            self._hits + len(self._kept),
            left,
            share,
            self.total,
        )

    def _end(self, stop: Stop) -> ReadTurn:
        coverage = self.coverage
        return ReadTurn(
            (), self._progress(None), ended=str(stop), note=self._note, summary=coverage.summary, offers=coverage.offers
        )

    @property
    def coverage(self) -> Coverage:
        spans = self._range.spans
        parts = [
            SearchedPart(
                name if len(self._parts) > 1 or self._query.partition is not None else "",
                {partition: spans[partition] for partition in partitions},
                {partition: self._low[partition] for partition in partitions},
                {partition: self._high[partition] for partition in partitions},
            )
            for name, partitions in self._parts
        ]
        left = sum(self._left_of(start) for start in self._range.starts)
        return Coverage(
            parts,
            self._read,
            self._hits,
            self._is_newest_first,
            self._range.silent,
            self._query.is_continued,
            self._uncommitted,
            left,
        )


def _uncommitted(gateway: RecordSource, topic: str, query: RecordQuery, offsets: ReadRanges) -> int:
    """Return how many offsets lie behind the last stable ones; 0 for a query that reads them, and for an older end.

    A topic grows between two requests: only what lies behind a stable offset that is read after the end is held back.
    """
    if not query.committed_only or query.range.end is not None:
        return 0
    ends = {item: span.next for item, span in gateway.record_spans(topic, False).items()}
    if all(ends.get(item, 0) <= span.next for item, span in offsets.spans.items()):
        return 0
    stable = gateway.record_spans(topic, True)
    return sum(max(0, ends[item] - stable[item].next) for item in offsets.spans if item in ends and item in stable)


def fitting(records: Iterable[RecordView], bytes_max: int) -> int:
    """Return how many of the first records are held within `bytes_max`; one always is."""
    count = held = 0
    for record in records:
        held += record.held_bytes
        if count and held > bytes_max:
            break
        count += 1
    return count


def _parts_of(offsets: ReadRanges, query: RecordQuery, partition_count: int) -> list[tuple[str, list[int]]]:
    """Return the partitions in the order in which they are searched, with their name: of a key its own partition
    first.
    """
    partitions = sorted(offsets.starts)
    if query.partition is not None:
        return [(f"partition {query.partition}", partitions)]
    own = partition_of_key(query.search, partition_count) if query.search and query.searched == "key" else None
    if own not in offsets.starts or len(partitions) < 2:
        return [("every partition", partitions)]
    where = f"partition {own} (where the Java client's default partitioner puts this key)"
    return [(where, [own]), ("the other partitions", [partition for partition in partitions if partition != own])]
