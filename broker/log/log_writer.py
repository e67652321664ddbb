"""The writing end of a log: the active segment, when another is begun, and what becomes of a write that failed.

A batch is noted under its leader epoch, and a marker that aborts in the index of aborted transactions, before its bytes
are in the file; its producer after that.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from broker.common.errors import ApiError, ErrorCode
from broker.common.logs import logger
from broker.common.types import new_tuple
from broker.log.availability import LogAvailability
from broker.log.config import LogConfig
from broker.log.files import lacks_room
from broker.log.leader_epoch_file import StoredEpochs
from broker.log.leader_epochs import EpochEntry
from broker.log.producer_state_manager import ProducerStateManager
from broker.log.segment import Segment
from broker.log.segment_list import SegmentList
from broker.log.validation import asks_anything, stamp_append_time
from broker.records.batch import HEADER, NO_TIMESTAMP, BatchHeader, parse_batch_header, patch_batch
from broker.records.control import EndMarker

_log = logger(__name__)

#: Below every timestamp, so that each batch asks.
_UNKNOWN = -(2**63)


class AppendResult(NamedTuple):
    """Where a batch was written, or the batch that it repeats. Both offsets are inclusive."""

    base_offset: int
    last_offset: int
    max_timestamp: int


class LogWriter:
    """Writes one log, for its owner. The caller has checked that the log may be written."""

    __slots__ = (
        "_availability",
        "_epochs",
        "_producers",
        "_segments",
        "_trouble",
        "config",
        "directory",
        "is_checking",
        "timer",
    )

    def __init__(
        self,
        directory: Path,
        config: LogConfig,
        segments: SegmentList,
        epochs: StoredEpochs,
        producers: ProducerStateManager,
        availability: LogAvailability,
    ):
        self.directory = directory
        self._segments = segments
        self._epochs = epochs
        self._producers = producers
        self._availability = availability
        #: Why the last append failed that did, and where.
        self._trouble: tuple[str, int] | None = None
        #: When the active segment is too old.
        self.timer = RollTimer()
        self.go_by(config)

    def go_by(self, config: LogConfig) -> None:
        """Apply the configuration from the next batch on."""
        self.config = config
        #: Whether a leader has to look at what it is sent.
        self.is_checking = asks_anything(config)
        self.timer.set_segment_ms(config.segment_ms_max)

    def write(
        self,
        batch: bytearray | memoryview,
        header: BatchHeader,
        max_timestamp: int,
        leader_epoch: int,
        now_ms: int | None,
        marker: EndMarker | None,
    ) -> AppendResult:
        """Append as a leader: sets offsets, epoch and perhaps time in `batch`. Raises ApiError as `Log.append`; then
        `batch` and the log are as before.
        """
        config, active, size = self.config, self._segments.active, len(batch)
        base_offset = active.next_offset
        last_offset = base_offset + header.last_offset_delta
        if max_timestamp > self.timer.after_ms or not active.has_room_for(
            size, last_offset, config.segment_bytes, config.segment_index_bytes
        ):
            active = self.make_room(size, last_offset, max_timestamp, now_ms)
        if not self._epochs.is_noted(leader_epoch):
            self._note_epoch(leader_epoch)
        patch_batch(batch, 0, base_offset, leader_epoch)
        if self.is_checking and config.uses_append_time:
            stamp_append_time(batch, parse_batch_header(batch), max_timestamp)
        try:
            if marker is not None:
                self._producers.note_aborted(active.base_offset, header, base_offset, marker)
            active.append(batch, last_offset, max_timestamp)
        except OSError as error:
            HEADER.pack_into(batch, 0, *header)
            raise self.failed(error) from error
        return new_tuple(AppendResult, (base_offset, last_offset, max_timestamp))

    def begin_leader_epoch(self, epoch: int) -> None:
        """See `Log.begin_leader_epoch`."""
        start_offset = self._segments.active.next_offset
        try:
            self._epochs.assign(epoch, start_offset)
        except OSError as error:
            refusal = self.failed(error)
            if not lacks_room(error):
                raise refusal from error
            self._epochs.assign_in_memory(epoch, start_offset)

    def take_over_epochs(self, entries: Iterable[EpochEntry]) -> None:
        """See `LogParts.take_over_epochs`."""
        try:
            self._epochs.take_over(entries)
        except OSError as error:
            raise self.failed(error) from error

    def _note_epoch(self, epoch: int) -> None:
        """Note an epoch before its first record is written. Raises ApiError(KAFKA_STORAGE_ERROR)."""
        try:
            self._epochs.assign(epoch, self._segments.active.next_offset)
        except OSError as error:
            raise self.failed(error) from error

    def make_room(self, size: int, last_offset: int, max_timestamp: int, now_ms: int | None) -> Segment:
        """Return the segment the batch goes to: the active one, or a new one if that is full or old. Raises
        ApiError.
        """
        config, active = self.config, self._segments.active
        if size > config.segment_bytes:
            raise ApiError(
                ErrorCode.RECORD_LIST_TOO_LARGE,
                f"the batch has {size} bytes, segment.bytes is {config.segment_bytes}",
            )
        is_full = not active.has_room_for(size, last_offset, config.segment_bytes, config.segment_index_bytes)
        if active.size_bytes and (is_full or self.timer.is_due(active.first_timestamp, max_timestamp, now_ms)):
            active = self.roll()
        if not active.size_bytes:
            self.timer.restart(max_timestamp, now_ms)
        return active

    def roll(self, base_offset: int | None = None) -> Segment:
        """Start a new active segment. If that cannot be created, the old one stays active and whole: ApiError."""
        old = self._segments.active
        base_offset = old.next_offset if base_offset is None else base_offset
        try:
            new = Segment.create(self.directory, base_offset, self.config.index_interval_bytes)
        except OSError as error:
            raise self.failed(error) from error
        old.seal()
        self._producers.store(old, new.base_offset)
        self._segments.add(new)
        return new

    def failed(self, error: OSError) -> ApiError:
        """Take the partial write back; if even that fails, nothing may be written behind it, whatever the reason."""
        active = self._segments.active
        trouble = (str(error), active.next_offset)
        if trouble != self._trouble:
            # Not each time: who is refused tries again, as long as the disk is full.
            _log.error("append failed", directory=str(self.directory), reason=str(error))
        self._trouble = trouble
        try:
            active.cut_tail()
            self._producers.take_back(active)
        except OSError as cut_error:
            reason = f"a partial write could not be removed: {cut_error.strerror}"
            self._availability.broken_for_writing(cut_error, reason)
        self._availability.report(error)
        return ApiError(ErrorCode.KAFKA_STORAGE_ERROR, f"the batch could not be written: {error.strerror}")


class RollTimer:
    """Tells when the active segment is too old for one more batch (segment.ms).

    As in Kafka the age is counted in the time of the records, from the segment's first batch to the one that comes, so
    that a log replayed from elsewhere has the segments it would have had; only without timestamps is it the clock.
    """

    __slots__ = ("_segment_ms", "_since_ms", "after_ms")

    def __init__(self) -> None:
        #: Only a batch with a later timestamp than this needs to ask `is_due`.
        self.after_ms = _UNKNOWN
        self._segment_ms = 0
        self._since_ms: int | None = None

    def set_segment_ms(self, segment_ms: int) -> None:
        self._segment_ms = segment_ms
        self.after_ms = _UNKNOWN

    def forget(self) -> None:
        """Reset the timer: another segment is active."""
        self.after_ms, self._since_ms = _UNKNOWN, None

    def restart(self, first_timestamp: int, now_ms: int | None) -> None:
        """Restart the segment with this batch's timestamp."""
        self._since_ms = now_ms
        self.after_ms = _UNKNOWN if first_timestamp == NO_TIMESTAMP else first_timestamp + self._segment_ms

    def is_due(self, first_timestamp: int, max_timestamp: int, now_ms: int | None) -> bool:
        """Return whether a batch with `max_timestamp` is too young for a segment whose first has `first_timestamp`."""
        if first_timestamp != NO_TIMESTAMP:
            self.after_ms = first_timestamp + self._segment_ms
            return max_timestamp > self.after_ms
        if now_ms is None or self._since_ms is None:
            self._since_ms = now_ms
            return False
        return now_ms - self._since_ms > self._segment_ms
