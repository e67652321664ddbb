"""What a stretch of a log holds by window: of most batches the header tells, of others the times of their records.
Pure.

Counted as readers of committed records see it: no markers, nothing of a transaction that was aborted.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from broker.audit.tally import WINDOW_MS, Tally, Windows, window_of
from broker.common.errors import ApiError
from broker.records.batch import HEADER_BYTES, BatchHeader, TimestampType, iterate_headers
from broker.records.compression import decompress
from broker.records.record import check_records_count
from broker.records.varint import read_varint

#: Windows of one increment, some 60 bytes each.
WINDOWS_MAX = 1_000
#: Records looked at in one walk, some 0.7 µs each; a batch that has begun is finished.
RECORDS_AT_ONCE = 20_000
#: What a batch that is looked into may unpack to.
_UNPACKED_BYTES_MAX = 16 * 1024 * 1024

Place = tuple[int, int]


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
    """What whole batches before `end` hold from offset `start` on, which `batches` begin with, as far as they go.

    A batch whose records nobody can read, or that has too many windows by itself, is not counted: the walk ends before
    it, and the next goes on behind it. Damage to headers ends it for good: nothing of it was served to anybody.
    """
    windows: Windows = {}
    at_offset, records_left = start, RECORDS_AT_ONCE
    for at, header in iterate_headers(batches):
        if header.last_offset < start:
            continue
        if header.last_offset >= end or records_left <= 0:
            break
        try:
            found = _windows_of(batches, at, header, start, aborted, window_ms)
        except (ApiError, IndexError):
            return Walked(windows, at_offset, header.next_offset)
        if len(found) > 1:
            records_left -= header.records_count
        if len(windows) + len(found) > WINDOWS_MAX:
            is_too_much_alone = not windows
            return Walked(windows, at_offset, header.next_offset if is_too_much_alone else at_offset)
        for window, tally in found.items():
            windows[window] = windows.get(window, Tally()) + tally
        at_offset = header.next_offset
    return Walked(windows, at_offset, at_offset)


def _windows_of(
    batches: bytes, at: int, header: BatchHeader, start: int, aborted: Sequence[Aborted], window_ms: int
) -> Windows:
    if header.is_control or not header.records_count or _is_aborted(header, aborted):
        return {}
    if header.base_offset >= start:
        last_ms = header.max_timestamp
        is_of_one_time = header.timestamp_type is TimestampType.LOG_APPEND_TIME
        first_ms = last_ms if is_of_one_time else header.base_timestamp
        if window_of(first_ms, window_ms) == window_of(last_ms, window_ms):
            tally = Tally(header.records_count, header.size_bytes, 0, header.base_offset, header.last_offset)
            return {window_of(last_ms, window_ms): tally}
    return _looked_into(batches, at, header, start, window_ms)


def _is_aborted(header: BatchHeader, aborted: Sequence[Aborted]) -> bool:
    return header.is_transactional and any(
        each.producer_id == header.producer_id and each.first_offset <= header.base_offset <= each.last_offset
        for each in aborted
    )


def _looked_into(batches: bytes, at: int, header: BatchHeader, start: int, window_ms: int) -> Windows:
    """The bytes of a batch are shared among its windows by records."""
    check_records_count(header)
    counts: dict[int, list[int]] = {}
    for offset, timestamp_ms in times_of(batches, at, header):
        if offset < start:
            continue
        place = counts.setdefault(window_of(timestamp_ms, window_ms), [0, offset, offset])
        place[0] += 1
        place[2] = offset
    size = header.size_bytes
    return {
        window: Tally(count, size * count // header.records_count, 0, first, last)
        for window, (count, first, last) in counts.items()
    }


def times_of(batches: bytes, at: int, header: BatchHeader) -> Iterator[Place]:
    """(offset, timestamp) of each record of the batch at `at`. Raises ApiError, IndexError."""
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
