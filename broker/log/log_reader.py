"""The part of a log that only looks: where the batches lie that a reader asks for, what is known of the segments."""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

from broker.common.errors import ApiError, InvariantViolation
from broker.common.logs import logger
from broker.log.availability import LogAvailability
from broker.log.cold_parts import ColdPart, find_cold
from broker.log.cuts import Cuts
from broker.log.files import read_at
from broker.log.log_slice import EMPTY_SLICE, LogSlice
from broker.log.retention import RetainedSegment
from broker.log.segment import Segment
from broker.log.segment_list import SegmentList
from broker.log.timestamps import find_timestamp
from broker.records.batch import HEADER_BYTES, LENGTH_PREFIX_BYTES, NO_TIMESTAMP

T = TypeVar("T")

_log = logger(__name__)

_LOOK_UP_TRIES = 5

#: Of a batch that is a header only.
_EMPTY_LENGTH = HEADER_BYTES - LENGTH_PREFIX_BYTES
_BATCH_LENGTH = struct.Struct(">i")
#: Looked at in one piece: of the first of them, nearly always, the answer is no.
_EMPTY_BYTES = HEADER_BYTES * 64


class LookedUp(NamedTuple):
    """What a look-up by time came to, and of what log: how often it was cut, its end, its segments and its start."""

    state: tuple[object, ...]
    entry: tuple[int, int] | None


class LogReader:
    """Log reader of one log. What reads indexes and headers (`look_up`) is for worker threads; the rest is for the
    owner.
    """

    __slots__ = ("_availability", "_cuts", "_looked_up", "_segments", "directory")

    def __init__(self, directory: Path, segments: SegmentList, cuts: Cuts, availability: LogAvailability):
        self.directory = directory
        self._segments = segments
        self._cuts = cuts
        self._availability = availability
        #: The last look-up for a time (False), and the last for the newest one.
        self._looked_up: dict[bool, tuple[int | None, LookedUp]] = {}

    def find(self, fetch_offset: int, max_bytes: int, end_offset: int, at_least_one: bool) -> LogSlice:
        """See `Log.read`; `fetch_offset` is below `end_offset`, which is in the log. Raises OSError."""
        for segment in self._segments.opened_from(fetch_offset):
            start = segment.position_of(fetch_offset)
            if start < segment.size_bytes:
                stop = self._stop(segment, start, max_bytes, end_offset, at_least_one)
                return LogSlice(segment.file, start, stop - start) if stop > start else EMPTY_SLICE
        return EMPTY_SLICE

    def pass_over_empty(
        self, log_slice: LogSlice, fetch_offset: int, max_bytes: int, end_offset: int, at_least_one: bool
    ) -> LogSlice:
        """See `Log.pass_over_empty`. Raises OSError, ApiError(CORRUPT_MESSAGE)."""
        if not _is_empty(log_slice):
            return log_slice
        next_offset = self._next_with_records(self.offset_after(fetch_offset, log_slice), end_offset)
        return log_slice if next_offset is None else self.find(next_offset, max_bytes, end_offset, at_least_one)

    def _next_with_records(self, offset: int, end_offset: int) -> int | None:
        for segment in self._segments.opened_from(offset):
            for header in segment.headers_from(offset):
                if header.base_offset >= end_offset:
                    return None
                if header.records_count:
                    return max(offset, header.base_offset)
        return None

    def _stop(self, segment: Segment, start: int, max_bytes: int, end_offset: int, at_least_one: bool) -> int:
        active = self._segments.active
        stop = segment.size_bytes
        if segment is active or end_offset < active.base_offset:
            stop = segment.position_of(end_offset)
        if stop - start <= max_bytes:
            return stop
        boundary = segment.boundary_within(start, max_bytes)
        return segment.end_of_batch(start) if boundary == start and at_least_one else boundary

    def find_cold(self, fetch_offset: int, max_bytes: int) -> ColdPart | None:
        """Return the part `find` would have to read from disk. Raises OSError."""
        return find_cold(self._segments.from_offset(fetch_offset)[0], self.directory, fetch_offset, max_bytes)

    def offset_after(self, fetch_offset: int, log_slice: LogSlice) -> int:
        """See `Log.offset_after`."""
        end = log_slice.position + log_slice.length
        for segment in self._segments.opened_from(fetch_offset):
            if segment.file is log_slice.file:
                is_all = segment is self._segments.active and end == segment.size_bytes
                return segment.next_offset if is_all else segment.last_offset_before(end) + 1
        raise InvariantViolation(f"the slice is not of the log {self.directory.name}")

    def count_offsets(self, fetch_offset: int, log_slice: LogSlice) -> int:
        """See `Log.count_offsets`."""
        segments, end = self._segments, log_slice.position + log_slice.length
        for segment in segments.opened_from(fetch_offset):
            if segment.file is log_slice.file:
                if end == segment.size_bytes:
                    return segments.end_of(segment) - fetch_offset
                last_offset = segment.recent.last_offset_before(end)
                if last_offset is not None:
                    return last_offset + 1 - fetch_offset
                return round((segments.end_of(segment) - segment.base_offset) * log_slice.length / segment.size_bytes)
        return 0

    def looked_up(self, timestamp_ms: int | None, log_start_offset: int) -> LookedUp | None:
        """See `Log.looked_up`."""
        self._availability.refuse_if_offline()
        timestamp, known = self._looked_up.get(timestamp_ms is None, (None, None))
        if known is None or timestamp != timestamp_ms or known.state != self._state(self._cuts.count, log_start_offset):
            return None
        return known

    def _state(self, cuts: int, log_start_offset: int) -> tuple[object, ...]:
        """Return a state; as long as it is the same, so are look-ups. `cuts` were counted before the rest is looked
        at.
        """
        segments = tuple(segment.serial for segment in self._segments)
        return cuts, self._segments.active.next_offset, segments, log_start_offset

    # --- for worker threads

    def find_timestamp(self, timestamp_ms: int, log_start_offset: Callable[[], int]) -> tuple[int, int] | None:
        """See `Log.offset_for_timestamp`."""
        state = self._state(self._cuts.settled(), log_start_offset())
        entry = self._look_up(lambda: find_timestamp(self._segments, timestamp_ms, log_start_offset()))
        self._looked_up[False] = timestamp_ms, LookedUp(state, entry)
        return entry

    def find_max_timestamp(self, log_start_offset: int) -> tuple[int, int] | None:
        """See `Log.max_timestamp_offset`."""

        def look() -> tuple[int, int] | None:
            largest = max(segment.max_timestamp for segment in self._segments)
            return None if largest == NO_TIMESTAMP else find_timestamp(self._segments, largest, log_start_offset=0)

        state = self._state(self._cuts.settled(), log_start_offset)
        entry = self._look_up(look)
        self._looked_up[True] = None, LookedUp(state, entry)
        return entry

    def retention_facts(self) -> tuple[RetainedSegment, ...]:
        """See `Log.retention_facts`."""

        def look() -> tuple[RetainedSegment, ...]:
            segments = tuple(self._segments)
            ends = [*(segment.base_offset for segment in segments[1:]), self._segments.active.next_offset]
            return tuple(map(_facts, segments, ends))

        return self._look_up(look)

    def _look_up(self, look: Callable[[], T]) -> T:
        """Look up, and again if a file was missing: its segment may be closed, or just getting its name.

        And again if the log was cut meanwhile, whatever came of it.
        """
        for tries_left in reversed(range(_LOOK_UP_TRIES)):
            self._availability.refuse_if_offline()
            cuts = self._cuts.settled()
            try:
                result = look()
            except OSError as error:
                if not (isinstance(error, FileNotFoundError) and tries_left):
                    raise self._availability.unreadable(error) from error
            except ApiError:
                if self._cuts.settled() == cuts or not tries_left:
                    raise
            else:
                if self._cuts.settled() == cuts or not tries_left:
                    return result
        raise InvariantViolation("the last try returns or raises")


def _is_empty(log_slice: LogSlice) -> bool:
    """Return whether `log_slice`, whose length is that of some headers, is batches without records only. Raises
    OSError.
    """
    if log_slice.file is None:
        return False
    for position in range(log_slice.position, log_slice.position + log_slice.length, _EMPTY_BYTES):
        length = min(_EMPTY_BYTES, log_slice.position + log_slice.length - position)
        data = read_at(log_slice.file, position, length)
        if any(_BATCH_LENGTH.unpack_from(data, at)[0] != _EMPTY_LENGTH for at in range(8, len(data), HEADER_BYTES)):
            return False
    return True


def _facts(segment: Segment, next_offset: int) -> RetainedSegment:
    try:
        times = (segment.first_timestamp, segment.max_timestamp)
    except ApiError as damage:
        _log.warning("segment dated by its file", segment=segment.base_offset, reason=damage.message)
        times = (NO_TIMESTAMP, NO_TIMESTAMP)
    return RetainedSegment(
        segment.base_offset, next_offset, segment.size_bytes, *times, segment.modified_ms, segment.serial
    )
