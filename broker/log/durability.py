"""What makes a log survive a power failure, and a clean stop quick to start from.

Nothing is done twice: what was fsynced, or stored by the clean stop before this start, and not touched since, costs
neither an fsync nor a write. A broker that stops with thousands of idle partitions is done with them at once.
"""

from pathlib import Path
from typing import NamedTuple

from broker.log.availability import LogAvailability
from broker.log.cuts import Cuts
from broker.log.files import fsync_directory, lacks_descriptors
from broker.log.leader_epoch_file import StoredEpochs
from broker.log.producer_state_manager import ProducerStateManager
from broker.log.segment import Segment
from broker.log.segment_list import SegmentList

_FLUSH_TRIES = 5


class _Ending(NamedTuple):
    """The end of a log: if it is still the same, the log was not written to, truncated or rolled since."""

    offset: int
    active_serial: int


class Durability:
    """Durability of one log: up to where everything has been fsynced, the `recovery_point`, and what is still to be."""

    def __init__(
        self,
        directory: Path,
        segments: SegmentList,
        epochs: StoredEpochs,
        cuts: Cuts,
        availability: LogAvailability,
    ):
        self.directory = directory
        self._segments = segments
        self._epochs = epochs
        self._cuts = cuts
        self._availability = availability
        self.recovery_point = 0
        #: By the monotonic clock, since when something has been waiting for an fsync.
        self._unflushed_since_ms: int | None = None
        #: As `_ending` was when everything had been fsynced, and when what is beside the batches was stored.
        self._flushed_at: _Ending | None = None
        self._stored_at: _Ending | None = None

    def begin(self, recovery_point: int, *, is_as_left: bool) -> None:
        """Begin at the recovery point. `is_as_left`: the disk is as the last, clean stop left it."""
        self.recovery_point = recovery_point
        if is_as_left:
            self._flushed_at = self._stored_at = _ending(self._segments.active)

    def lower(self, end_offset: int) -> None:
        """Lower the recovery point before the log is truncated to `end_offset`."""
        self.recovery_point = min(self.recovery_point, end_offset)

    def flush(self) -> None:
        """See `Log.flush`."""
        self._availability.refuse_if_unwritable()
        cuts = self._cuts.settled()
        active = self._segments.active
        ending = _ending(active)
        if ending == self._flushed_at and self._epochs.is_synced:
            return
        try:
            for segment in self._segments.from_offset(self.recovery_point - 1):
                self._flush_segment(segment)
            if active.base_offset >= self.recovery_point:
                fsync_directory(self.directory)
            self._epochs.flush()
        except OSError as error:
            reason = f"the log could not be flushed: {error.strerror}"
            if lacks_descriptors(error):
                raise self._availability.refused(error, reason) from error
            raise self._availability.broken_for_writing(error, reason) from error
        with self._cuts.unless_cut_since(cuts) as is_uncut:
            if is_uncut:
                self.recovery_point = max(self.recovery_point, ending.offset)
                self._flushed_at = ending

    def _flush_segment(self, segment: Segment) -> None:
        """Flush a segment. One that no longer belongs to the log needs none; a file may just be getting its name."""
        for tries_left in reversed(range(_FLUSH_TRIES)):
            try:
                segment.flush()
                break
            except FileNotFoundError:
                self._cuts.settled()
                if segment not in self._segments:
                    break
                if not tries_left:
                    raise

    def flush_if_due(self, now_ms: int, flush_ms: int) -> bool:
        """See `Log.flush_if_due`."""
        active = self._segments.active
        if self._availability.refusal is not None or self.recovery_point >= active.next_offset:
            self._unflushed_since_ms = None
            return False
        if self._unflushed_since_ms is None:
            self._unflushed_since_ms = now_ms
        is_late = now_ms - self._unflushed_since_ms >= flush_ms
        if not is_late and self.recovery_point >= active.base_offset:
            return False
        self._unflushed_since_ms = None
        self.flush()
        return True

    def store_clean_state(self, producers: ProducerStateManager) -> None:
        """See `Log.store_clean_state`."""
        active = self._segments.active
        if _ending(active) != self._stored_at or not producers.is_noted:
            active.store_indexes()
            producers.store(active, active.next_offset)


def _ending(active: Segment) -> _Ending:
    return _Ending(active.next_offset, active.serial)
