"""What makes a log survive a power failure, and a clean stop quick to start from.

Nothing is done twice: what was fsynced, or stored by the clean stop before this start, and not touched since, costs
neither an fsync nor a write. A broker that stops with thousands of idle partitions is done with them at once.
"""

from pathlib import Path
from typing import NamedTuple

from broker.common.errors import ApiError, ErrorCode
from broker.log.config import LogConfig
from broker.log.cuts import Cuts
from broker.log.files import fsync_directory
from broker.log.leader_epoch_file import StoredEpochs
from broker.log.segment import Segment
from broker.log.segment_list import SegmentList

_FLUSH_TRIES = 5


class _Ending(NamedTuple):
    """Where a log ended: it has not been written to since, nor cut, nor rolled, if it still does."""

    offset: int
    active_serial: int


class Durability:
    """The part of `Log` that speaks of disks losing power."""

    directory: Path
    log_end_offset: int
    #: Everything before it has been fsynced.
    recovery_point: int
    _config: LogConfig
    _refusal: str | None
    _segments: SegmentList
    _cuts: Cuts
    _epochs: StoredEpochs

    def _begin_durability(self, recovery_point: int, *, is_as_left: bool) -> None:
        """`is_as_left`: all that is on disk is as the last stop, a clean one, left it."""
        self.recovery_point = recovery_point
        #: By the monotonic clock, since when something has been waiting for an fsync.
        self._unflushed_since_ms: int | None = None
        #: As `_ending` was when everything had been fsynced, and when what is beside the batches was stored.
        self._flushed_at = self._stored_at = _ending(self._segments.active) if is_as_left else None

    def flush(self) -> None:
        """fsync all that was not yet. Raises ApiError(KAFKA_STORAGE_ERROR); the log then takes no more batches.

        May run on a worker thread, one at a time, while the owner appends: what was there when it began is safe then.
        """
        self._refuse_if_unwritable()
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
            self._refusal = f"the log could not be flushed: {error.strerror}"
            self._report_broken(error)
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, self._refusal) from error
        with self._cuts.unless_cut_since(cuts) as is_uncut:
            if is_uncut:
                self.recovery_point = max(self.recovery_point, ending.offset)
                self._flushed_at = ending

    def _flush_segment(self, segment: Segment) -> None:
        """One that is no longer the log's needs none; one that is may just be getting its name."""
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

    def flush_if_due(self, now_ms: int) -> bool:
        """Flush if a sealed segment is not fsynced yet, or flush.ms have passed since the first call that saw records
        that are not; whether it did. `now_ms` is monotonic. Threads and errors as with `flush`.
        """
        if self._refusal is not None or self.recovery_point >= self.log_end_offset:
            self._unflushed_since_ms = None
            return False
        if self._unflushed_since_ms is None:
            self._unflushed_since_ms = now_ms
        is_late = now_ms - self._unflushed_since_ms >= self._config.flush_ms
        if not is_late and self.recovery_point >= self._segments.active.base_offset:
            return False
        self._unflushed_since_ms = None
        self.flush()
        return True

    def store_clean_state(self) -> None:
        """Write what a start after a clean stop reads instead of the log: indexes and producers. For the owner."""
        active = self._segments.active
        if _ending(active) != self._stored_at:
            active.store_indexes()
            self._store_producers(active, self.log_end_offset)


def _ending(active: Segment) -> _Ending:
    return _Ending(active.next_offset, active.serial)
