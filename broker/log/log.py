"""The log of one partition: append at the end, read from any offset.

Promises. An offset is given once: the next one is only moved when the bytes of a batch are in the file, and an append
that fails leaves neither bytes nor offsets behind. `append` returning means that the batch survives `kill -9` (it is in
the page cache); surviving a power failure is the business of replication, as in Kafka. Readers see whole batches only.

Retention moves `log_start_offset` and drops segments from the front; truncation and verbatim appends of a follower cut
and extend the active segment: each finds its place here when it comes.
"""

from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from broker.common.errors import ApiError, ErrorCode, InvariantViolation
from broker.common.logs import logger
from broker.log.config import LogConfig
from broker.log.loader import load_segments
from broker.log.log_slice import EMPTY_SLICE, LogSlice
from broker.log.producer_snapshots import load_producers, store_producers
from broker.log.producer_state import ProducerState
from broker.log.segment import Segment
from broker.log.timestamps import find_timestamp
from broker.records.batch import (
    LENGTH_PREFIX_BYTES,
    NO_PRODUCER_ID,
    NO_TIMESTAMP,
    BatchHeader,
    parse_batch_header,
    patch_batch,
)

_CLOSED = "the log is closed"

_log = logger(__name__)


class AppendResult(NamedTuple):
    """Where a batch went, or where the batch went that it repeats. Both offsets are inclusive."""

    base_offset: int
    last_offset: int
    max_timestamp: int


class Log:
    """`log_start_offset` <= `recovery_point` <= `log_end_offset` (exclusive, the next offset to be given)."""

    def __init__(
        self,
        directory: Path,
        config: LogConfig,
        segments: list[Segment],
        recovery_point: int,
        producers: ProducerState,
    ):
        self.directory = directory
        #: May be replaced at any time; the next append goes by it.
        self.config = config
        self.log_start_offset = segments[0].base_offset
        #: Everything before it has been fsynced.
        self.recovery_point = recovery_point
        self._segments = segments
        self._base_offsets = [segment.base_offset for segment in segments]
        self._active = segments[-1]
        self._producers = producers
        #: The one sealed segment that is kept open, so that a log holds two descriptors at most.
        self._open_sealed: Segment | None = None
        #: Why nothing may be written any more; None while all is well.
        self._refusal: str | None = None
        self._is_closed = False

    @classmethod
    def open(cls, directory: Path, config: LogConfig, *, is_clean: bool = False) -> "Log":
        """Open the log in `directory`, made if missing, recovering unless the last stop `is_clean`. Raises OSError."""
        directory.mkdir(parents=True, exist_ok=True)
        segments = load_segments(directory, config, is_clean=is_clean)
        recovery_point = segments[-1].next_offset if is_clean else segments[0].base_offset
        producers = load_producers(directory, segments, segments[-1].next_offset)
        return cls(directory, config, segments, recovery_point, producers)

    @property
    def log_end_offset(self) -> int:
        return self._active.next_offset

    @property
    def size_bytes(self) -> int:
        return sum(segment.size_bytes for segment in self._segments)

    @property
    def segments(self) -> tuple[Segment, ...]:
        """In offset order; the last one is active."""
        return tuple(self._segments)

    # --- writing

    def append(self, batch: bytearray | memoryview, leader_epoch: int) -> AppendResult:
        """Write one batch, which passed `check_produced_batch`, at the end; its offsets and epoch are set in `batch`.

        A batch an idempotent producer sends again is not written again. Raises ApiError: MESSAGE_TOO_LARGE,
        RECORD_LIST_TOO_LARGE (more than a segment), OUT_OF_ORDER_SEQUENCE_NUMBER, INVALID_PRODUCER_EPOCH,
        KAFKA_STORAGE_ERROR (the disk refused). Then `batch` and the log are as before; the log takes the next batch.
        """
        if self._refusal is not None:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, self._refusal)
        header = parse_batch_header(batch)
        size = len(batch)
        self._check_size(header, size)
        if header.producer_id != NO_PRODUCER_ID:
            sent = self._producers.check(header)
            if sent is not None:
                return AppendResult(sent.base_offset, sent.last_offset, sent.timestamp_ms)
        base_offset = self._active.next_offset
        last_offset = base_offset + header.last_offset_delta
        if not self._active.has_room_for(size, last_offset, self.config.segment_bytes):
            self._roll()
        patch_batch(batch, 0, base_offset, leader_epoch)
        try:
            self._active.append(batch, last_offset, header.max_timestamp)
        except OSError as error:
            patch_batch(batch, 0, header.base_offset, header.partition_leader_epoch)
            raise self._append_failed(error) from error
        if header.producer_id != NO_PRODUCER_ID:
            self._producers.note(header, base_offset)
        return AppendResult(base_offset, last_offset, header.max_timestamp)

    def _check_size(self, header: BatchHeader, size: int) -> None:
        if header.batch_length + LENGTH_PREFIX_BYTES != size or header.last_offset_delta < 0:
            raise InvariantViolation(f"an unchecked batch came to the log {self.directory.name}")
        if size > self.config.max_message_bytes:
            raise ApiError(
                ErrorCode.MESSAGE_TOO_LARGE,
                f"the batch has {size} bytes, max.message.bytes is {self.config.max_message_bytes}",
            )
        if size > self.config.segment_bytes:
            raise ApiError(
                ErrorCode.RECORD_LIST_TOO_LARGE,
                f"the batch has {size} bytes, segment.bytes is {self.config.segment_bytes}",
            )

    def _roll(self) -> None:
        """Start a new active segment. If that cannot be created, the old one stays active and whole."""
        old = self._active
        old.store_index()
        try:
            new = Segment.create(self.directory, old.next_offset, self.config.index_interval_bytes)
        except OSError as error:
            raise self._append_failed(error) from error
        old.seal()
        store_producers(self.directory, self._producers, new.base_offset)
        self._segments.append(new)
        self._base_offsets.append(new.base_offset)
        self._active = new
        self._keep_open(old)

    def _append_failed(self, error: OSError) -> ApiError:
        """Take the partial write back; if even that fails, nothing may be written behind it."""
        _log.error("append failed", directory=str(self.directory), reason=str(error))
        try:
            self._active.cut_tail()
        except OSError as cut_error:
            self._refusal = f"a partial write could not be removed: {cut_error.strerror}"
        return ApiError(ErrorCode.KAFKA_STORAGE_ERROR, f"the batch could not be written: {error.strerror}")

    def flush(self) -> None:
        """fsync all that was not yet. Raises ApiError(KAFKA_STORAGE_ERROR); the log then takes no more batches."""
        if self._refusal is not None:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, self._refusal)
        log_end_offset = self.log_end_offset
        first = max(0, bisect_right(self._base_offsets, self.recovery_point) - 1)
        try:
            for segment in self._segments[first:]:
                segment.flush()
                self._keep_open(segment)
        except OSError as error:
            self._refusal = f"the log could not be flushed: {error.strerror}"
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, self._refusal) from error
        self.recovery_point = log_end_offset

    def take_producer_snapshot(self) -> None:
        """Before a clean stop, so that the next start need not read the log for its producers."""
        store_producers(self.directory, self._producers, self.log_end_offset)

    def close(self) -> None:
        """Let go of all files, without flushing; appends and reads are refused from now on. Slices stay valid."""
        self._refusal = _CLOSED
        self._is_closed = True
        for segment in self._segments:
            segment.release()

    # --- reading

    def read(self, fetch_offset: int, max_bytes: int, end_offset: int, *, at_least_one: bool = True) -> LogSlice:
        """Whole batches from the one holding `fetch_offset` on, at most `max_bytes`, of one segment.

        No batch with an offset at or beyond `end_offset` (the high watermark, exclusive) is included. With
        `at_least_one` the first batch is, even if it alone is larger than `max_bytes` (KIP-74). Raises ApiError:
        OFFSET_OUT_OF_RANGE, CORRUPT_MESSAGE (damage on disk), KAFKA_STORAGE_ERROR.
        """
        self._refuse_if_closed()
        log_end_offset = self._active.next_offset
        if not self.log_start_offset <= fetch_offset <= log_end_offset:
            raise ApiError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"offset {fetch_offset} is not from {self.log_start_offset} to {log_end_offset}",
            )
        end_offset = min(end_offset, log_end_offset)
        if fetch_offset >= end_offset:
            return EMPTY_SLICE
        try:
            return self._read(fetch_offset, max(0, max_bytes), end_offset, at_least_one)
        except OSError as error:
            raise _unreadable(error) from error

    def _read(self, fetch_offset: int, max_bytes: int, end_offset: int, at_least_one: bool) -> LogSlice:
        for segment in self._segments_holding(fetch_offset):
            start = segment.position_of(fetch_offset)
            if start < segment.size_bytes:
                stop = self._stop(segment, start, max_bytes, end_offset, at_least_one)
                return LogSlice(segment.file, start, stop - start) if stop > start else EMPTY_SLICE
        return EMPTY_SLICE

    def _stop(self, segment: Segment, start: int, max_bytes: int, end_offset: int, at_least_one: bool) -> int:
        stop = segment.size_bytes
        if segment is self._active or end_offset < self._active.base_offset:
            stop = segment.position_of(end_offset)
        if stop - start <= max_bytes:
            return stop
        boundary = segment.boundary_within(start, max_bytes)
        return segment.end_of_batch(start) if boundary == start and at_least_one else boundary

    def _segments_holding(self, offset: int) -> Iterator[Segment]:
        """The segment whose range `offset` is in, then later ones, in case compaction left nothing at its end."""
        if offset >= self._active.base_offset:
            yield self._active
            return
        for segment in self._segments[bisect_right(self._base_offsets, offset) - 1 :]:
            self._keep_open(segment)
            yield segment

    def _keep_open(self, segment: Segment) -> None:
        """Make `segment` the sealed one that stays open."""
        if segment is not self._active and segment is not self._open_sealed:
            if self._open_sealed is not None:
                self._open_sealed.release()
            self._open_sealed = segment

    def offset_for_timestamp(self, timestamp_ms: int) -> tuple[int, int] | None:
        """(offset, timestamp) of the first record with `timestamp_ms` or a later time, None if there is none.

        Looks beyond the high watermark: the caller compares. May read all headers of a segment, so it is for a worker
        thread; it may run while the owner appends and reads. Raises ApiError as `read` does.
        """
        self._refuse_if_closed()
        try:
            return find_timestamp(self.segments, timestamp_ms, self.log_start_offset)
        except OSError as error:
            raise _unreadable(error) from error

    def max_timestamp_offset(self) -> tuple[int, int] | None:
        """(offset, timestamp) of the first record that has the largest timestamp (KIP-734), None if no record has one.

        Otherwise as `offset_for_timestamp`.
        """
        self._refuse_if_closed()
        try:
            largest = max(segment.max_timestamp for segment in self.segments)
        except OSError as error:
            raise _unreadable(error) from error
        return None if largest == NO_TIMESTAMP else self.offset_for_timestamp(largest)

    def _refuse_if_closed(self) -> None:
        if self._is_closed:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, _CLOSED)


def _unreadable(error: OSError) -> ApiError:
    return ApiError(ErrorCode.KAFKA_STORAGE_ERROR, f"the log cannot be read: {error.strerror}")
