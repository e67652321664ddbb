"""Where a query begins and ends, and one page of records read within its budget."""

import heapq
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from console.cluster.records.matching import EVERY_RECORD, Matcher
from console.cluster.records.query import RecordQuery, write_cursor
from console.cluster.records.scan import Scan, ScanBudget, Stop
from console.kit.common.clock import now_ms
from console.kit.gateway.errors import GatewayError
from console.kit.gateway.records.interface import BatchView, OffsetSpan, RecordStream, RecordView

#: A page is drawn while somebody waits for it.
PAGE_MILLISECONDS = 4_000
PAGE_BYTES_MAX = 32 * 1024 * 1024
#: Up to this many partitions each may fill a page; with more each brings a smaller part.
FULL_PARTITIONS_MAX = 16


class RecordSource(Protocol):
    """What of a gateway (`gateway/interface.py`) reading asks."""

    def record_spans(self, topic: str, committed_only: bool) -> Mapping[int, OffsetSpan]: ...

    def offsets_at(self, topic: str, at_ms: int, partitions: Iterable[int]) -> Mapping[int, int | None]: ...

    def open_records(self, topic: str, starts: Mapping[int, int], committed_only: bool) -> RecordStream: ...

    def batches_at(self, topic: str, starts: Mapping[int, int]) -> list[BatchView]: ...


@dataclass(frozen=True, slots=True)
class ReadRanges:
    """What of each partition is read: from `starts` to below `ends`. `silent` did not answer."""

    starts: dict[int, int]
    ends: dict[int, int]
    spans: Mapping[int, OffsetSpan]
    silent: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordPage:
    records: tuple[RecordView, ...]
    stop: Stop
    silent: tuple[int, ...]
    #: The cursor of the page further on (newest: of the older one); empty without one.
    cursor: str = ""
    #: Why it broke off, where the budget of reading was used up.
    waits: str = ""
    #: Which batches could not be read, and why.
    note: str = ""


def find_range(gateway: RecordSource, topic: str, partition_count: int, query: RecordQuery) -> ReadRanges:
    """Return the offset ranges that `query` can read. Raises GatewayError."""
    spans = gateway.record_spans(topic, query.committed_only)
    silent = tuple(index for index in range(partition_count) if index not in spans)
    if query.partition is not None:
        spans = {item: span for item, span in spans.items() if item == query.partition}
        silent = tuple(number for number in silent if number == query.partition)
    starts = {item: span.first for item, span in spans.items()}
    ends = {item: span.next for item, span in spans.items()}
    if query.range.start_ms is not None:
        starts = _offsets_at(gateway, topic, query.range.start_ms, spans)
    if query.range.end_ms is not None:
        ends = _offsets_at(gateway, topic, query.range.end_ms, spans)
    cursor = {number: _within(spans[number], offset) for number, offset in query.cursor if number in spans}
    if query.place == "newest":
        ends |= {item: min(ends[item], offset) for item, offset in cursor.items()}
    elif cursor:
        starts |= cursor
    elif query.place == "offset":
        starts = {item: max(starts[item], _within(span, query.offset)) for item, span in spans.items()}
    ends = {item: max(end, starts[item]) for item, end in ends.items()}
    return ReadRanges(starts, ends, spans, silent)


def _offsets_at(gateway: RecordSource, topic: str, at_ms: int, spans: Mapping[int, OffsetSpan]) -> dict[int, int]:
    """Return the first offset of that time or later, by partition; the end where there is none.

    A time before 1970 is 1970: to a broker, -1 and other negative times are names of places in the log.
    """
    offsets = gateway.offsets_at(topic, max(0, at_ms), spans)
    return {item: _within(span, offsets.get(item, span.next)) for item, span in spans.items()}


def read_page(gateway: RecordSource, topic: str, partition_count: int, query: RecordQuery) -> RecordPage:
    """Return at most `query.limit` records, newest first for `newest`, else oldest first. Raises GatewayError."""
    whole = find_range(gateway, topic, partition_count, query)
    is_newest = query.place == "newest"
    quota = _quota(query.limit, len(whole.spans))
    starts, ends = dict(whole.starts), dict(whole.ends)
    for span in whole.spans:
        if is_newest:
            starts[span] = max(starts[span], ends[span] - quota)
        else:
            ends[span] = min(ends[span], starts[span] + quota)
    scan, records = _read_all(gateway, topic, query, ReadRanges(starts, ends, whole.spans))
    taken = merged(records, is_newest)[: query.limit]
    waits = scan.waits if scan.stopped == Stop.TIME else ""
    if waits and not taken:
        raise GatewayError(f"Nothing was read, {waits}. Ask again in a moment.")
    limits = dict(whole.ends if is_newest else whole.starts)
    if scan.stopped == Stop.END:
        barren = reading_of(starts, ends) - {record.partition for record in records}
        limits |= {number: starts[number] if is_newest else ends[number] for number in barren}
    following = _following(taken, limits, is_newest)
    is_more = any(
        following[span] > whole.starts[span] if is_newest else following[span] < whole.ends[span]
        for span in whole.spans
    )
    stop = scan.stopped or Stop.TIME
    # A page of the newest that broke off lacks its newest: an older page behind it would leave those out for good.
    is_more = is_more and (stop == Stop.END or not is_newest)
    if stop == Stop.END and is_more:
        stop = Stop.LIMIT
    cursor = write_cursor(following) if is_more else ""
    return RecordPage(tuple(taken), stop, whole.silent, cursor, waits, scan.note)


def open_scan(
    gateway: RecordSource,
    topic: str,
    committed_only: bool,
    offsets: ReadRanges,
    budget: ScanBudget,
    matches: Matcher,
    clock_ms: Callable[[], int] = now_ms,
) -> tuple[Scan, Callable[[], None]]:
    """Return a scan of `offsets`, and how to close its stream; `matches` stays open. Raises GatewayError."""
    reading = reading_of(offsets.starts, offsets.ends)
    stream = gateway.open_records(topic, {number: offsets.starts[number] for number in reading}, committed_only)
    return Scan(stream, {number: offsets.ends[number] for number in reading}, budget, matches, clock_ms), stream.close


def reading_of(starts: Mapping[int, int], ends: Mapping[int, int]) -> set[int]:
    """Return the partitions that hold an offset between their start and their end."""
    return {item for item, start in starts.items() if start < ends[item]}


def merged(records: Iterable[RecordView], is_newest_first: bool) -> list[RecordView]:
    """Merge by time across partitions, within a partition always by offset."""
    lanes: dict[int, list[RecordView]] = {}
    for record in records:
        lanes.setdefault(record.partition, []).append(record)
    sign = -1 if is_newest_first else 1
    ordered = [sorted(lane, key=lambda item: sign * item.offset) for lane in lanes.values()]
    return list(heapq.merge(*ordered, key=lambda view: (sign * (view.at_ms or 0), view.partition)))


def _read_all(
    gateway: RecordSource, topic: str, query: RecordQuery, offsets: ReadRanges
) -> tuple[Scan, list[RecordView]]:
    budget = ScanBudget(sum(offsets.ends.values()) + 1, PAGE_BYTES_MAX, PAGE_MILLISECONDS)
    scan, close = open_scan(gateway, topic, query.committed_only, offsets, budget, EVERY_RECORD)
    records: list[RecordView] = []
    try:
        while scan.stopped is None:
            records += scan.step()
    finally:
        close()
    return scan, records


def _following(taken: list[RecordView], limits: Mapping[int, int], is_newest: bool) -> dict[int, int]:
    """Return the limits of the next page: behind (newest: before) what was taken of each partition."""
    following = dict(limits)
    for view in taken:
        following[view.partition] = view.offset if is_newest else view.offset + 1
    return following


def _quota(limit: int, partitions: int) -> int:
    return limit if partitions <= FULL_PARTITIONS_MAX else max(1, limit * FULL_PARTITIONS_MAX // partitions)


def _within(span: OffsetSpan, offset: int | None) -> int:
    return span.next if offset is None else max(span.first, min(span.next, offset))
