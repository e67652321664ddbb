"""The part of a log that knows its producers' transactions: which are open, which were aborted, who may end them."""

from pathlib import Path

from broker.common.logs import logger
from broker.log.log_reader import LogReader
from broker.log.log_slice import LogSlice
from broker.log.producer_snapshots import note_aborted, store_producers
from broker.log.producer_state import ProducerFacts, ProducerState
from broker.log.segment import Segment
from broker.log.transaction_index import AbortedTransaction, TransactionIndex
from broker.records.batch import BatchHeader
from broker.records.control import EndMarker, parse_marker

_log = logger(__name__)


class TransactionLog(LogReader):
    """What `Log` tells of transactions, and notes of what it has written."""

    directory: Path
    _producers: ProducerState
    _transactions: TransactionIndex

    @property
    def last_offsets_of_producers(self) -> frozenset[int]:
        """Raises ApiError(KAFKA_STORAGE_ERROR)."""
        self._refuse_if_offline()
        return self._producers.last_offsets

    def last_stable_offset(self, high_watermark: int) -> int:
        """Below it every transaction is decided for good (exclusive): the high watermark, or where the oldest one began
        that is open or whose marker is not committed. Not before the log's start, whatever was begun there.
        """
        undecided = self._producers.first_undecided_offset(high_watermark)
        return high_watermark if undecided is None else min(max(undecided, self.log_start_offset), high_watermark)

    def note_committed(self, high_watermark: int) -> None:
        """Forget ended transactions whose markers are below it, where perhaps nobody asks what is stable."""
        self._producers.first_undecided_offset(high_watermark)

    def has_open_transaction(self, producer_id: int, epoch: int) -> bool:
        """Whether the producer's next batch under `epoch` goes on with a transaction."""
        return self._producers.has_open_transaction(producer_id, epoch)

    def producers(self) -> list[ProducerFacts]:
        """Those it remembers. Raises ApiError(KAFKA_STORAGE_ERROR)."""
        self._refuse_if_offline()
        return self._producers.facts()

    def expire_producers(self, now_ms: int, silence_ms_max: int) -> int:
        """As `ProducerState.expire`; `now_ms` is monotonic. For the owner."""
        return self._producers.expire(now_ms, silence_ms_max)

    def aborted_transactions(self, from_offset: int, end_offset: int) -> list[AbortedTransaction]:
        """Those with records from `from_offset` to `end_offset` (exclusive). Raises ApiError(KAFKA_STORAGE_ERROR)."""
        self._refuse_if_offline()
        try:
            bases = [segment.base_offset for segment in self._segments.from_offset(from_offset)]
            return self._transactions.find(bases, from_offset, end_offset)
        except OSError as error:
            raise self._unreadable(error) from error

    def aborted_in(self, fetch_offset: int, found: LogSlice) -> list[AbortedTransaction]:
        """Those with records in `found`, just read from `fetch_offset` on. Raises ApiError."""
        if not (found.length and self._transactions.has_entries):
            return []
        return self.aborted_transactions(fetch_offset, self.offset_after(fetch_offset, found))

    def _check_marker(self, header: BatchHeader, batch: bytearray | memoryview) -> EndMarker | None:
        """What the control batch says, None if it ends no transaction. Raises ApiError: as `ProducerState.check_marker`
        (a marker has no sequence number, but a coordinator that may have been replaced), CORRUPT_MESSAGE.
        """
        marker = parse_marker(batch)
        if marker is not None:
            self._producers.check_marker(header, marker.coordinator_epoch)
        return marker

    def _note_aborted(self, header: BatchHeader, base_offset: int, marker: EndMarker) -> None:
        """Before the marker is written to the active segment: without the note, readers would take the records of an
        aborted transaction for committed. A note whose marker is not written has to be taken back; what a stop leaves
        is made anew at the next start. Raises OSError.
        """
        note_aborted(
            self._producers, self._transactions, self._segments.active.base_offset, header, base_offset, marker
        )

    def _note_producer(self, header: BatchHeader, base_offset: int, marker: EndMarker | None) -> None:
        """The batch was written at `base_offset`; `marker` is what it says if it is a control batch."""
        if not header.is_control:
            self._producers.note(header, base_offset)
        elif marker is not None:
            self._producers.note_marker(header, base_offset, marker.coordinator_epoch)

    def _store_producers(self, segment: Segment, log_end_offset: int) -> None:
        """Of what a snapshot covers nothing is noted again: aborted transactions are on disk before it."""
        try:
            self._transactions.flush(segment.base_offset)
        except OSError as error:
            _log.warning("producer snapshot not written", directory=str(self.directory), reason=str(error))
            return
        store_producers(self.directory, self._producers, log_end_offset)
