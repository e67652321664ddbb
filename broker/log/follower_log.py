"""The half of a log that takes what a leader wrote: its batches, byte for byte, and where its log begins.

Offsets, leader epochs and CRCs stay as the leader set them. What belongs to one segment is one write, however many
batches it is: with acks=all every producer waits for it.
"""

from broker.common.types import NO_LEADER_EPOCH
from broker.log.config import LogConfig
from broker.log.fetched_batches import FetchedBatches, check_fetched_batches
from broker.log.leader_epoch_file import StoredEpochs
from broker.log.offset_index import RELATIVE_OFFSET_MAX
from broker.log.producer_state import ProducerState
from broker.log.roll_timer import RollTimer
from broker.log.segment_list import SegmentList
from broker.log.time_index import TIME_ENTRY_BYTES
from broker.records.batch import (
    CONTROL_BIT,
    HEADER_BYTES,
    LENGTH_PREFIX_BYTES,
    NO_PRODUCER_ID,
    BatchHeader,
    parse_batch_header,
)
from broker.records.control import EndMarker, MarkerType, parse_marker


class FollowerLog:
    """What `Log` can do as a follower; it writes with what the leader's half writes with."""

    config: LogConfig
    log_start_offset: int
    log_end_offset: int
    recovery_point: int
    is_flush_due: bool
    _segments: SegmentList
    _epochs: StoredEpochs
    _producers: ProducerState
    _roll_timer: RollTimer

    def append_as_follower(self, batches: memoryview, now_ms: int | None = None) -> int:
        """Write what of `batches`, fetched from the leader, is not in the log yet; the new log end offset.

        `batches` are whole batches in offset order, perhaps with the beginning of one more, which is ignored. Those
        wholly below the log's end are skipped: a fetch may be repeated. Offsets may leave gaps. Neither
        max.message.bytes nor segment.bytes can refuse a batch that the leader took. `now_ms`, by the wall clock, ages
        segments whose records have no times.

        Raises ApiError, and nothing is written: CORRUPT_MESSAGE (see `check_fetched_batches`). KAFKA_STORAGE_ERROR: as
        `append`, but of several segments' batches those of the first may be in the log, whole; `log_end_offset` says.
        """
        self._refuse_if_unwritable()
        log_start_offset = self.log_start_offset
        self._reach_back(memoryview(batches))
        log_end_offset = self._segments.active.next_offset
        leader_epoch = self._epochs.cache.epoch_at(log_end_offset - 1)
        fetched = check_fetched_batches(memoryview(batches), log_end_offset, leader_epoch)
        if not fetched.headers:
            return log_end_offset
        markers = _markers_in(memoryview(batches), fetched)
        self._write_runs(memoryview(batches), fetched, markers, now_ms)
        log_end_offset = self._segments.active.next_offset
        if self.log_start_offset < log_start_offset:
            self._start_at(log_start_offset)
        if log_end_offset - self.recovery_point >= self.config.flush_messages:
            self.is_flush_due = True
        return log_end_offset

    def _reach_back(self, batches: memoryview) -> None:
        """A leader's log may start inside a batch, which is sent whole: an empty log begins where that batch does."""
        log_end_offset = self._segments.active.next_offset
        if self.log_start_offset < log_end_offset or self._segments.size_bytes or len(batches) < HEADER_BYTES:
            return
        first = parse_batch_header(batches)
        if first.base_offset < log_end_offset <= first.last_offset:
            check_fetched_batches(batches, first.base_offset, NO_LEADER_EPOCH)
            self.truncate_fully_and_start_at(first.base_offset)

    def follow_log_start(self, offset: int) -> None:
        """The leader's log starts at `offset`: what is before is gone here too, as far as this log reaches.

        Only the start moves, never backwards: files go when retention next looks.
        """
        self._refuse_if_offline()
        self._start_at(min(offset, self.log_end_offset))

    def _write_runs(
        self, batches: memoryview, fetched: FetchedBatches, markers: dict[int, EndMarker], now_ms: int | None
    ) -> None:
        """A run ends where the segment does, or the leader's term, or before a marker that aborts: what it aborts must
        be noted before it is written, and is known when all before it was.
        """
        run: list[BatchHeader] = []
        start = at = fetched.start
        for header in fetched.headers:
            has_new_epoch = not self._epochs.is_noted(header.partition_leader_epoch)
            is_abort = header.base_offset in markers and markers[header.base_offset].type is MarkerType.ABORT
            if has_new_epoch or is_abort or not self._belongs_to_run(header, run, at - start):
                self._write_run(batches[start:at], run, markers)
                run, start = [], at
                self._room_for(header, now_ms)
                if has_new_epoch:
                    self._follow_epoch(header)
            run.append(header)
            at += header.batch_length + LENGTH_PREFIX_BYTES
        self._write_run(batches[start:at], run, markers)

    def _belongs_to_run(self, header: BatchHeader, run: list[BatchHeader], run_bytes: int) -> bool:
        """Whether there is certainly room behind the run in the active segment, and that one is young enough."""
        config = self.config
        return header.max_timestamp <= self._roll_timer.after_ms and self._segments.active.has_room_for(
            run_bytes + header.batch_length + LENGTH_PREFIX_BYTES,
            header.base_offset + header.last_offset_delta,
            config.segment_bytes,
            config.segment_index_bytes - len(run) * TIME_ENTRY_BYTES,
        )

    def _room_for(self, header: BatchHeader, now_ms: int | None) -> None:
        """Start a new segment if need be. A batch that none may hold gets one of its own."""
        size = min(header.size_bytes, self.config.segment_bytes)
        active = self._make_room(size, header.last_offset, header.max_timestamp, now_ms)
        if header.last_offset - active.base_offset > RELATIVE_OFFSET_MAX:
            self._roll(header.base_offset)

    def _follow_epoch(self, header: BatchHeader) -> None:
        try:
            self._epochs.follow(header.partition_leader_epoch, header.base_offset, self.log_end_offset)
        except OSError as error:
            raise self._append_failed(error) from error

    def _write_run(self, batches: memoryview, run: list[BatchHeader], markers: dict[int, EndMarker]) -> None:
        if not run:
            return
        first = run[0]
        try:
            if first.base_offset in markers:
                self._note_aborted(first, first.base_offset, markers[first.base_offset])
            self._segments.active.append_run(batches, run)
        except OSError as error:
            self._epochs.truncate_from_end(self.log_end_offset)
            raise self._append_failed(error) from error
        for header in run:
            if header.producer_id != NO_PRODUCER_ID:
                self._note_producer(header, header.base_offset, markers.get(header.base_offset))


def _markers_in(batches: memoryview, fetched: FetchedBatches) -> dict[int, EndMarker]:
    """Of the control batches, by their base offsets. Raises ApiError(CORRUPT_MESSAGE)."""
    markers = {}
    at = fetched.start
    for header in fetched.headers:
        size = header.batch_length + LENGTH_PREFIX_BYTES
        if header.attributes & CONTROL_BIT and header.producer_id != NO_PRODUCER_ID:
            marker = parse_marker(batches[at : at + size])
            if marker is not None:
                markers[header.base_offset] = marker
        at += size
    return markers
