"""Writes what a leader wrote: its batches, byte for byte.

Offsets, leader epochs and CRCs stay as the leader set them. What belongs to one segment is one write, however many
batches it is: with acks=all every producer waits for it.
"""

from broker.log.fetched_batches import FetchedBatches
from broker.log.leader_epoch_file import StoredEpochs
from broker.log.log_writer import LogWriter
from broker.log.offset_index import RELATIVE_OFFSET_MAX
from broker.log.producer_state_manager import ProducerStateManager
from broker.log.segment_list import SegmentList
from broker.log.time_index import TIME_ENTRY_BYTES
from broker.records.batch import CONTROL_BIT, LENGTH_PREFIX_BYTES, NO_PRODUCER_ID, BatchHeader
from broker.records.control import EndMarker, MarkerType, parse_marker


class FollowerWriter:
    """Writes where the leader's half, `writer`, writes."""

    __slots__ = ("_epochs", "_producers", "_segments", "_writer")

    def __init__(self, writer: LogWriter, segments: SegmentList, epochs: StoredEpochs, producers: ProducerStateManager):
        self._writer = writer
        self._segments = segments
        self._epochs = epochs
        self._producers = producers

    def write(self, batches: memoryview, fetched: FetchedBatches, now_ms: int | None) -> None:
        """Write those of `batches` that `fetched` names, already validated. Raises ApiError as
        `Log.append_as_follower`.

        A run ends where the segment does, or the leader's epoch, or before a marker that aborts: what it aborts must be
        noted before it is written, and is known when all before it was.
        """
        markers = _markers_in(batches, fetched)
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
        """Return whether there is certainly room behind the run in the active segment, and that one is young enough."""
        config = self._writer.config
        return header.max_timestamp <= self._writer.timer.after_ms and self._segments.active.has_room_for(
            run_bytes + header.batch_length + LENGTH_PREFIX_BYTES,
            header.base_offset + header.last_offset_delta,
            config.segment_bytes,
            config.segment_index_bytes - len(run) * TIME_ENTRY_BYTES,
        )

    def _room_for(self, header: BatchHeader, now_ms: int | None) -> None:
        """Start a new segment if need be. A batch that none may hold gets one of its own."""
        size = min(header.size_bytes, self._writer.config.segment_bytes)
        active = self._writer.make_room(size, header.last_offset, header.max_timestamp, now_ms)
        if header.last_offset - active.base_offset > RELATIVE_OFFSET_MAX:
            self._writer.roll(header.base_offset)

    def _follow_epoch(self, header: BatchHeader) -> None:
        try:
            self._epochs.follow(header.partition_leader_epoch, header.base_offset, self._segments.active.next_offset)
        except OSError as error:
            raise self._writer.failed(error) from error

    def _write_run(self, batches: memoryview, run: list[BatchHeader], markers: dict[int, EndMarker]) -> None:
        if not run:
            return
        first, active = run[0], self._segments.active
        try:
            if first.base_offset in markers:
                self._producers.note_aborted(active.base_offset, first, first.base_offset, markers[first.base_offset])
            active.append_run(batches, run)
        except OSError as error:
            self._epochs.truncate_from_end(active.next_offset)
            raise self._writer.failed(error) from error
        for header in run:
            if header.producer_id != NO_PRODUCER_ID:
                self._producers.note(header, header.base_offset, markers.get(header.base_offset))


def _markers_in(batches: memoryview, fetched: FetchedBatches) -> dict[int, EndMarker]:
    """Return the markers of control batches, by their base offsets. Raises ApiError(CORRUPT_MESSAGE)."""
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
