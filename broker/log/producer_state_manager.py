"""A log's producers and their transactions, on disk and in memory: who they are, what is open, what was aborted.

What is remembered (`PartitionProducers`), its snapshots and the index of aborted transactions are kept in step with
what is written and what is cut off.
"""

from collections.abc import Sequence
from pathlib import Path

from broker.common.logs import logger
from broker.log.producer_search import forget_cut_batches
from broker.log.producer_snapshots import load_producers, note_aborted, open_producers, store_producers
from broker.log.producer_state import PartitionProducers
from broker.log.segment import Segment
from broker.log.transaction_index import AbortedRange, TransactionIndex
from broker.records.batch import BatchHeader
from broker.records.control import EndMarker, parse_marker

_log = logger(__name__)


class ProducerStateManager:
    """The producers of one log, for its owner. `state` is what is remembered now, and changed here only."""

    __slots__ = ("_aborted", "_directory", "is_noted", "state")

    def __init__(self, directory: Path, segments: Sequence[Segment], log_end_offset: int, *, has_lost_indexes: bool):
        """As of `log_end_offset`, where the log ends. Raises OSError. `has_lost_indexes`: see `open_producers`."""
        self._directory = directory
        self._aborted = TransactionIndex(directory)
        #: Whether the newest snapshot tells a start that it has the whole transaction index.
        self.state, self.is_noted = open_producers(
            directory, segments, log_end_offset, self._aborted, has_lost_indexes=has_lost_indexes
        )

    def lie_in(self, directory: Path) -> None:
        """Note the log's new directory after a rename."""
        self._directory = self._aborted.directory = directory

    # --- what is written

    def check_marker(self, header: BatchHeader, batch: bytearray | memoryview) -> EndMarker | None:
        """Return the marker in the control batch, None if it ends no transaction. Raises ApiError: as
        `PartitionProducers.check_marker` (a marker has no sequence number, but a coordinator that may have been
        replaced), CORRUPT_MESSAGE.
        """
        marker = parse_marker(batch)
        if marker is not None:
            self.state.check_marker(header, marker.coordinator_epoch)
        return marker

    def note_aborted(self, segment_base_offset: int, header: BatchHeader, base_offset: int, marker: EndMarker) -> None:
        """Note an aborted transaction before its marker is written to the segment. A note whose marker is not written
        has to be taken back; what a stop leaves is made anew at the next start. Raises OSError.
        """
        note_aborted(self.state, self._aborted, segment_base_offset, header, base_offset, marker)

    def take_back(self, segment: Segment) -> None:
        """Take back the last marker noted for `segment`, which was not written. Raises OSError."""
        self._aborted.take_back(segment.base_offset, segment.next_offset)

    def note(self, header: BatchHeader, base_offset: int, marker: EndMarker | None) -> None:
        """Note that the batch was written at `base_offset`; `marker` is what it says if it is a control batch."""
        if not header.is_control:
            self.state.note(header, base_offset)
        elif marker is not None:
            self.state.note_marker(header, base_offset, marker.coordinator_epoch)

    def store(self, segment: Segment, log_end_offset: int) -> None:
        """Write a snapshot; aborted transactions are on disk before it."""
        try:
            self._aborted.flush(segment.base_offset)
        except OSError as error:
            _log.warning("producer snapshot not written", directory=str(self._directory), reason=str(error))
            return
        self.is_noted = store_producers(self._directory, self.state, log_end_offset, self._aborted.noted)

    def note_replaced(self, old: Sequence[Segment], new: Sequence[Segment]) -> None:
        """Note that `new` segments replace `old` ones. Raises OSError."""
        has_lost_entries = self._aborted.note_replaced(
            [item.base_offset for item in old], [item.base_offset for item in new]
        )
        if has_lost_entries and new:
            # A start would find fewer entries than the snapshot notes, and rebuild the index for nothing.
            self.is_noted = False

    # --- what is cut off

    def forget_from(self, segments: Sequence[Segment], end_offset: int) -> None:
        """Forget from `end_offset` on, where the log, of `segments`, ends now. Truncated batches may have begun or
        ended transactions: then only reading again tells which are open. Raises OSError.
        """
        if self.state.has_transactions_from(end_offset):
            self.state = load_producers(self._directory, segments, end_offset, self._aborted)
        else:
            forget_cut_batches(self.state, self._directory, segments, end_offset)

    def forget_all(self) -> None:
        self.state = PartitionProducers()
        self._aborted.remove()

    # --- what readers of committed records ask

    @property
    def has_aborted(self) -> bool:
        """Whether any transaction was aborted, or may have been."""
        return self._aborted.has_entries

    def aborted(self, segments: Sequence[Segment], from_offset: int, end_offset: int) -> list[AbortedRange]:
        """Return the aborted transactions with records in [`from_offset`, `end_offset`); `segments` are those from
        `from_offset` on. Raises OSError.
        """
        return self._aborted.find([segment.base_offset for segment in segments], from_offset, end_offset)
