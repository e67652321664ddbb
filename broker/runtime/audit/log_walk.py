"""What a stretch of a log holds by window: of most batches the header tells, of others the times of their records.
Pure.

Counted as readers of committed records see it: no markers, nothing of a transaction that was aborted.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from broker.audit.tally import NO_WINDOW, WINDOW_MS, RecordTally, Windows, window_of
from broker.common.errors import ApiError
from broker.records.batch import (
    CONTROL_BIT,
    HEADER_BYTES,
    LOG_APPEND_TIME_BIT,
    TRANSACTIONAL_BIT,
    BatchHeader,
    TimestampType,
    iterate_headers,
)
from broker.records.compression import decompress
from broker.records.record import check_records_count
from broker.records.varint import read_varint

#: Windows of one increment, some 60 bytes each.
WINDOWS_MAX = 1_000
#: Records looked at in one walk, some 0.7 µs each; a batch that has begun is finished.
RECORDS_AT_ONCE = 20_000
#: What a batch that is looked into may unpack to.
_UNPACKED_BYTES_MAX = 16 * 1024 * 1024

_NOT_PLAIN = TRANSACTIONAL_BIT | CONTROL_BIT | LOG_APPEND_TIME_BIT
_NEVER = 1 << 63

#: Window → [records, first offset, last offset].
Counts = dict[int, list[int]]


class Aborted(Protocol):
    """A transaction that counts for nothing; offsets are inclusive."""

    @property
    def producer_id(self) -> int: ...

    @property
    def first_offset(self) -> int: ...

    @property
    def last_offset(self) -> int: ...


class Walked(NamedTuple):
    """`windows` of all from where the walk began to `end`; `go_on_at` is further on where a batch cannot be counted."""

    windows: Windows
    end: int
    go_on_at: int


def walk(batches: bytes, start: int, end: int, aborted: Sequence[Aborted], window_ms: int = WINDOW_MS) -> Walked:
    """Count the records of whole batches in [`start`, `end`), as far as they can be read.

    A batch whose records nobody can read, or that has too many windows by itself, is not counted: the walk ends before
    it, and the next goes on behind it. Damage to headers raises ApiError.
    """
    counts: Counts = {}
    at_offset, records_left = start, RECORDS_AT_ONCE
    low, high, newest = _NEVER, 0, [0, 0, 0]
    for at, header in iterate_headers(batches):
        last_offset = header[0] + header[6]
        if last_offset < start:
            continue
        if last_offset >= end or records_left <= 0:
            break
        if low <= header[7] and header[8] < high and header[0] >= start and not header[5] & _NOT_PLAIN:
            # As nearly always: of the same window as the batch before.
            newest[0] += header[12]
            newest[2] = last_offset
            at_offset = last_offset + 1
            continue
        try:
            tallies = _counts_of(batches, at, header, start, aborted, window_ms)
        except (ApiError, IndexError):
            return _walked(counts, at_offset, header.next_offset)
        if len(tallies) > 1:
            records_left -= header.records_count
        if len(counts) + len(tallies) > WINDOWS_MAX:
            is_too_much_alone = not counts
            return _walked(counts, at_offset, header.next_offset if is_too_much_alone else at_offset)
        for window, tally in tallies.items():
            newest = _added(counts, window, tally)
            low, high = (window, window + window_ms) if window != NO_WINDOW else (_NEVER, 0)
        at_offset = header.next_offset
    return _walked(counts, at_offset, at_offset)


def _added(counts: Counts, window: int, tally: list[int]) -> list[int]:
    known = counts.setdefault(window, tally)
    if known is not tally:
        known[0] += tally[0]
        known[1], known[2] = min(known[1], tally[1]), max(known[2], tally[2])
    return known


def _walked(counts: Counts, end: int, go_on_at: int) -> Walked:
    windows = {window: RecordTally(count, 0, 0, *place) for window, (count, *place) in counts.items()}
    return Walked(windows, end, go_on_at)


def _counts_of(
    batches: bytes, at: int, header: BatchHeader, start: int, aborted: Sequence[Aborted], window_ms: int
) -> Counts:
    if header.is_control or not header.records_count or _is_aborted(header, aborted):
        return {}
    if header.base_offset >= start:
        last_ms = header.max_timestamp
        is_of_one_time = header.timestamp_type is TimestampType.LOG_APPEND_TIME
        first_ms = last_ms if is_of_one_time else header.base_timestamp
        if window_of(first_ms, window_ms) == window_of(last_ms, window_ms):
            tally = [header.records_count, header.base_offset, header.last_offset]
            return {window_of(last_ms, window_ms): tally}
    return _looked_into(batches, at, header, start, window_ms)


def _is_aborted(header: BatchHeader, aborted: Sequence[Aborted]) -> bool:
    return header.is_transactional and any(
        segment.producer_id == header.producer_id and segment.first_offset <= header.base_offset <= segment.last_offset
        for segment in aborted
    )


def _looked_into(batches: bytes, at: int, header: BatchHeader, start: int, window_ms: int) -> Counts:
    check_records_count(header)
    counts: Counts = {}
    for offset, timestamp_ms in times_of(batches, at, header):
        if offset >= start:
            _added(counts, window_of(timestamp_ms, window_ms), [1, offset, offset])
    return counts


def times_of(batches: bytes, at: int, header: BatchHeader) -> Iterator[tuple[int, int]]:
    """Yield (offset, timestamp) of each record of the batch at `at`. Raises ApiError, IndexError."""
    stored = memoryview(batches)[at + HEADER_BYTES : at + header.size_bytes]
    payload = decompress(header.compression, stored, _UNPACKED_BYTES_MAX)
    is_of_one_time = header.timestamp_type is TimestampType.LOG_APPEND_TIME
    base_offset, base_ms = header.base_offset, header.base_timestamp
    place = 0
    for _ in range(header.records_count):
        length, body = read_varint(payload, place)
        delta_ms, behind = read_varint(payload, body + 1)
        offset_delta, _ = read_varint(payload, behind)
        yield base_offset + offset_delta, header.max_timestamp if is_of_one_time else base_ms + delta_ms
        place = body + max(length, 0)
