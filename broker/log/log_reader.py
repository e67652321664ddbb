"""The half of a log that only looks: where the batches lie that a reader asks for, and what is known of the log."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from broker.common.errors import ApiError, ErrorCode, InvariantViolation
from broker.common.logs import logger
from broker.log.cold_parts import ColdReadError, find_cold
from broker.log.cuts import Cuts
from broker.log.files import is_full
from broker.log.log_slice import EMPTY_SLICE, LogSlice
from broker.log.open_segments import OpenSegments
from broker.log.retention import SegmentFacts
from broker.log.segment import Segment
from broker.log.segment_list import SegmentList
from broker.log.timestamps import find_timestamp
from broker.records.batch import NO_TIMESTAMP

T = TypeVar("T")

_log = logger(__name__)

_CLOSED = "the log is closed"
_LENT = "the log is being cut"
_LOOK_UP_TRIES = 5


class LogReader:
    """`log_start_offset` <= `log_end_offset` (exclusive, the next offset to be given)."""

    def __init__(self, directory: Path, segments: list[Segment], log_start_offset: int, opened: OpenSegments):
        self.directory = directory
        self.log_start_offset = log_start_offset
        #: Told of failures of the disk that are not for want of space; perhaps on a worker thread.
        self.on_disk_error: Callable[[OSError], None] = lambda error: None
        self._segments = SegmentList(segments, opened)
        self._cuts = Cuts()
        #: Why nothing may be written, or not even read, any more; None while all is well.
        self._refusal: str | None = None
        self._read_refusal: str | None = None

    @property
    def log_end_offset(self) -> int:
        return self._segments.active.next_offset

    @property
    def cuts_count(self) -> int:
        """How often the end was cut off since the log was opened: what was looked up before may be gone."""
        return self._cuts.count

    @property
    def size_bytes(self) -> int:
        return self._segments.size_bytes

    @property
    def segments(self) -> tuple[Segment, ...]:
        """In offset order; the last one is active."""
        return tuple(self._segments)

    def read(self, fetch_offset: int, max_bytes: int, end_offset: int, *, at_least_one: bool = True) -> LogSlice:
        """Whole batches from the one holding `fetch_offset` on, at most `max_bytes`, of one segment.

        No batch with an offset at or beyond `end_offset` (the high watermark, exclusive) is included. With
        `at_least_one` the first batch is, even if it alone is larger than `max_bytes` (KIP-74). Raises ApiError:
        OFFSET_OUT_OF_RANGE, CORRUPT_MESSAGE (damage on disk), KAFKA_STORAGE_ERROR.
        """
        self._refuse_if_offline()
        log_end_offset = self._segments.active.next_offset
        if not self.log_start_offset <= fetch_offset <= log_end_offset:
            raise ApiError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"offset {fetch_offset} is not from {self.log_start_offset} to {log_end_offset}",
            )
        end_offset = min(end_offset, log_end_offset)
        if fetch_offset >= end_offset:
            return EMPTY_SLICE
        try:
            return self._find(fetch_offset, max(0, max_bytes), end_offset, at_least_one)
        except OSError as error:
            raise self._unreadable(error) from error

    def _find(self, fetch_offset: int, max_bytes: int, end_offset: int, at_least_one: bool) -> LogSlice:
        for segment in self._segments.opened_from(fetch_offset):
            start = segment.position_of(fetch_offset)
            if start < segment.size_bytes:
                stop = self._stop(segment, start, max_bytes, end_offset, at_least_one)
                return LogSlice(segment.file, start, stop - start) if stop > start else EMPTY_SLICE
        return EMPTY_SLICE

    def _stop(self, segment: Segment, start: int, max_bytes: int, end_offset: int, at_least_one: bool) -> int:
        active = self._segments.active
        stop = segment.size_bytes
        if segment is active or end_offset < active.base_offset:
            stop = segment.position_of(end_offset)
        if stop - start <= max_bytes:
            return stop
        boundary = segment.boundary_within(start, max_bytes)
        return segment.end_of_batch(start) if boundary == start and at_least_one else boundary

    def refuse_if_cold(self, fetch_offset: int, max_bytes: int) -> None:
        """Raise ColdReadError if `read` of the same would have to wait for a disk, ApiError if that fails. Of the
        active segment nothing is old; what cannot be read at all is not cold.
        """
        if fetch_offset >= self._segments.active.base_offset or self._read_refusal is not None:
            return
        if fetch_offset < self.log_start_offset:
            return
        segment = self._segments.from_offset(fetch_offset)[0]
        try:
            part = find_cold(segment, self.directory, fetch_offset, max_bytes)
        except OSError as error:
            raise self._unreadable(error) from error
        if part is not None:
            raise ColdReadError(part)

    def offset_after(self, fetch_offset: int, found: LogSlice) -> int:
        """The offset that follows the last batch of `found`, just read from `fetch_offset` on. Raises ApiError."""
        end = found.position + found.length
        for segment in self._segments.opened_from(fetch_offset):
            if segment.file is found.file:
                is_all = segment is self._segments.active and end == segment.size_bytes
                return self.log_end_offset if is_all else segment.last_offset_before(end) + 1
        raise InvariantViolation(f"the slice is not of the log {self.directory.name}")

    def offset_for_timestamp(self, timestamp_ms: int) -> tuple[int, int] | None:
        """(offset, timestamp) of the first record with `timestamp_ms` or a later time, None if there is none.

        Looks beyond the high watermark: the caller compares. Reads indexes and some headers, so it is for a worker
        thread; it may run while the owner appends, reads and lets go of segments. Raises ApiError as `read` does.
        """
        return self._look_up(lambda: find_timestamp(self._segments, timestamp_ms, self.log_start_offset))

    def max_timestamp_offset(self) -> tuple[int, int] | None:
        """(offset, timestamp) of the first record that has the largest timestamp (KIP-734), None if no record has one.

        As in Kafka it may be one before the log's start, whose segment is still there: DeleteRecords makes nobody's
        newest time unknown. Otherwise as `offset_for_timestamp`.
        """

        def look() -> tuple[int, int] | None:
            largest = max(segment.max_timestamp for segment in self._segments)
            return None if largest == NO_TIMESTAMP else find_timestamp(self._segments, largest, log_start_offset=0)

        return self._look_up(look)

    def retention_facts(self) -> tuple[SegmentFacts, ...]:
        """What `plan_retention` decides from. May read indexes, so it is for a worker thread. Raises ApiError."""

        def look() -> tuple[SegmentFacts, ...]:
            segments = tuple(self._segments)
            ends = [*(segment.base_offset for segment in segments[1:]), self.log_end_offset]
            return tuple(map(_facts, segments, ends))

        return self._look_up(look)

    def _look_up(self, look: Callable[[], T]) -> T:
        """Again if a file was not there: its segment may have been let go, or be getting its name, meanwhile.

        And again if the log was cut meanwhile, whatever came of it.
        """
        for tries_left in reversed(range(_LOOK_UP_TRIES)):
            self._refuse_if_offline()
            cuts = self._cuts.settled()
            try:
                found = look()
            except OSError as error:
                if not (isinstance(error, FileNotFoundError) and tries_left):
                    raise self._unreadable(error) from error
            except ApiError:
                if self._cuts.settled() == cuts or not tries_left:
                    raise
            else:
                if self._cuts.settled() == cuts or not tries_left:
                    return found
        raise InvariantViolation("the last try returns or raises")

    @property
    def is_offline(self) -> bool:
        """Whether it cannot even be read any more: its directory has failed, or it was closed."""
        return self._read_refusal is not None

    def _refuse_if_offline(self) -> None:
        if self._read_refusal is not None:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, self._read_refusal)

    def _refuse_if_unwritable(self) -> None:
        if self._refusal is not None:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, self._refusal)

    def _unreadable(self, error: OSError) -> ApiError:
        self._report(error)
        return ApiError(ErrorCode.KAFKA_STORAGE_ERROR, f"the log cannot be read: {error.strerror}")

    # --- lent to a worker thread

    @property
    def is_lent(self) -> bool:
        """Whether a worker thread is at work on all of it: its owner only waits."""
        return self._read_refusal is _LENT

    def lend(self) -> None:
        """For the owner: until `take_back` the log is a worker thread's, and refuses everybody (KAFKA_STORAGE_ERROR).

        Slices that were read before stay valid. Raises ApiError if it cannot be written.
        """
        self._refuse_if_unwritable()
        self._segments.release_sealed()
        self._refusal = self._read_refusal = _LENT

    def take_back(self) -> None:
        """For the owner, when the thread is done. A log that has failed meanwhile stays so."""
        if self._refusal is _LENT:
            self._refusal = None
        if self._read_refusal is _LENT:
            self._read_refusal = None

    def fail(self, reason: str) -> None:
        """The directory is offline: from now on everything is answered KAFKA_STORAGE_ERROR with `reason`."""
        self._refusal = self._read_refusal = reason

    def close(self) -> None:
        """Let go of all descriptors; nothing is flushed. Everything but `close` is refused from now on."""
        self.fail(_CLOSED)
        self._segments.release()

    def _report(self, error: OSError) -> None:
        if not is_full(error):
            self._report_broken(error)

    def _report_broken(self, error: OSError) -> None:
        """A file that is gone because the log was closed, and perhaps moved aside, says nothing of the disk."""
        if self._read_refusal is None or self.is_lent:
            self.on_disk_error(error)


def _facts(segment: Segment, next_offset: int) -> SegmentFacts:
    try:
        times = (segment.first_timestamp, segment.max_timestamp)
    except ApiError as damage:
        _log.warning("segment dated by its file", segment=segment.base_offset, reason=damage.message)
        times = (NO_TIMESTAMP, NO_TIMESTAMP)
    return SegmentFacts(
        segment.base_offset, next_offset, segment.size_bytes, *times, segment.modified_ms, segment.serial
    )
