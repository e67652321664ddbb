"""Cuts the end off a log: a follower lets go of what its leader does not have.

A stop at any moment leaves a log that opens and is a beginning of what it was, because things go in this order:

1. what is noted beside the logs (recovery point, high watermark, log start, how far it is clean) is lowered, durably:
   it must never speak of records that the next leader's will replace
2. a compacted segment that waits for its place (`.swap`) is removed, or the next start would put old records back;
   so are producer snapshots from beyond the new end
3. the segments beyond the new end get `.deleted` behind their names, the last one first
4. these names are made durable, if there were any
5. the segment with the new end is cut, and that made durable
6. the leader epochs are written anew; if the stop comes before that, opening the log leaves the surplus out

Could a power failure undo the cut and keep a later segment with the next leader's records, there would be old records
before new ones, which no leader epoch tells apart. Nor is it enough to look at what was fsynced: the system writes
back whatever it likes.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from broker.common.errors import ApiError, ErrorCode
from broker.common.logs import logger
from broker.log.config import LogConfig
from broker.log.cuts import Cuts
from broker.log.files import fsync_directory, read_at
from broker.log.leader_epoch_file import StoredEpochs
from broker.log.producer_search import forget_cut_batches
from broker.log.producer_snapshots import load_producers, remove_snapshots_beyond
from broker.log.producer_state import ProducerState
from broker.log.roll_timer import RollTimer
from broker.log.segment import Segment
from broker.log.segment_files import DELETED_SUFFIX, SWAP_SUFFIX
from broker.log.segment_list import SegmentList
from broker.log.transaction_index import TransactionIndex
from broker.records.batch import HEADER_BYTES, parse_batch_header

#: Told before a log is cut: it will end, and start, at most at these offsets. Raises OSError, then nothing is cut.
BeforeCut = Callable[[int, int], None]

_NOTHING_BEFORE = -1

_log = logger(__name__)


class Cut(NamedTuple):
    """What is to be done to a log: it ends at `offset`, or, if everything goes, starts there too."""

    offset: int
    is_of_all: bool = False


class LogExtent(NamedTuple):
    """Of a log, or at most; `end_offset` is exclusive."""

    start_offset: int
    end_offset: int


class Truncation:
    """What `Log` lets go of at its end. For the owner, or a worker thread it has lent the log to; a flush, a look-up or
    the cleaner may be at work meanwhile.
    """

    directory: Path
    config: LogConfig
    log_start_offset: int
    log_end_offset: int
    is_lent: bool
    recovery_point: int
    before_cut: BeforeCut
    _refusal: str | None
    _segments: SegmentList
    _cuts: Cuts
    _epochs: StoredEpochs
    _producers: ProducerState
    _transactions: TransactionIndex
    _roll_timer: RollTimer

    def cut(self, cut: Cut) -> None:
        """`truncate_to`, or `truncate_fully_and_start_at`."""
        if cut.is_of_all:
            self.truncate_fully_and_start_at(cut.offset)
        else:
            self.truncate_to(cut.offset)

    def extent_after(self, cut: Cut) -> LogExtent:
        """What must be noted before `cut`: the log will not be known to reach further. Raises ApiError."""
        first = self._segments.first.base_offset
        if cut.is_of_all or cut.offset < first:
            return LogExtent(min(self.log_start_offset, cut.offset), min(first, cut.offset))
        if cut.offset >= self.log_end_offset:
            return LogExtent(self.log_start_offset, self.log_end_offset)
        end_offset = self._find_cut(cut.offset)[2]
        return LogExtent(min(self.log_start_offset, end_offset), end_offset)

    def truncate_to(self, offset: int) -> None:
        """The log ends at `offset`, or where the batch begins that `offset` is inside of: a batch goes as a whole.

        At or beyond the log's end no record goes, but leader epochs under which nothing was written are forgotten: the
        next leader's may begin there. Before the first segment everything goes, as `truncate_fully_and_start_at`.
        What was read before stays readable only below the new end. Raises ApiError: CORRUPT_MESSAGE (damage on disk
        hides where the batch begins), OFFSET_OUT_OF_RANGE (no offset is negative, whatever a leader says),
        KAFKA_STORAGE_ERROR; if the disk fails in the middle, the log has failed.
        """
        self._check_cut(offset)
        if offset >= self.log_end_offset:
            self._epochs.truncate_from_end(self.log_end_offset)
            return
        if offset < self._segments.first.base_offset:
            self.truncate_fully_and_start_at(offset)
            return
        segment, position, end_offset = self._find_cut(offset)
        log_start_offset = min(self.log_start_offset, end_offset)
        with self._cutting(end_offset, log_start_offset):
            later = self._set_aside(self._segments.from_offset(segment.base_offset)[1:], end_offset)
            left = segment.shorten(position, end_offset)
            left.flush()
            self._segments.cut(left, later)
            self._epochs.truncate_from_end(end_offset)
            self.log_start_offset = log_start_offset
            self._forget_cut_batches(end_offset)
            self._roll_timer.forget()
        _log.info("log cut", directory=str(self.directory), asked=offset, log_end_offset=end_offset)

    def _forget_cut_batches(self, end_offset: int) -> None:
        """What was cut may have begun or ended transactions: then only reading again tells which are open now."""
        segments = list(self._segments)
        if self._producers.has_transactions_from(end_offset):
            self._producers = load_producers(self.directory, segments, end_offset, self._transactions)
        else:
            forget_cut_batches(self._producers, self.directory, segments, end_offset)

    def truncate_fully_and_start_at(self, offset: int) -> None:
        """Everything goes; the log starts and ends at `offset`. Raises ApiError as `truncate_to`.

        For a follower whose leader's log begins beyond its own end (or ends before its beginning). Stopped half-way,
        some of the oldest records may be left, or none, in a log that starts where nothing was noted: it is done again.
        """
        self._check_cut(offset)
        first = min(self._segments.first.base_offset, offset)
        with self._cutting(first, min(self.log_start_offset, offset)):
            gone = self._set_aside(list(self._segments), _NOTHING_BEFORE)
            fresh = Segment.create(self.directory, offset, self.config.index_interval_bytes)
            self._segments.restart(fresh, gone)
            self._epochs.truncate_from_end(_NOTHING_BEFORE)
            self.log_start_offset = self.recovery_point = offset
            self._producers = ProducerState()
            self._roll_timer.forget()
        _log.warning("log emptied", directory=str(self.directory), log_start_offset=offset)

    def _check_cut(self, offset: int) -> None:
        if not self.is_lent:
            self._refuse_if_unwritable()
        if offset < 0:
            raise ApiError(ErrorCode.OFFSET_OUT_OF_RANGE, f"a log cannot be cut at {offset}")

    def _find_cut(self, offset: int) -> tuple[Segment, int, int]:
        """The segment to be cut, from which byte on, and the new log end offset."""
        try:
            segment = self._segments.from_offset(offset)[0]
            position = segment.position_of(offset)
            if position == segment.size_bytes:
                return segment, position, offset
            header = parse_batch_header(read_at(segment.file, position, HEADER_BYTES))
        except OSError as error:
            raise self._unreadable(error) from error
        return segment, position, min(offset, header.base_offset)

    @contextmanager
    def _cutting(self, end_offset: int, log_start_offset: int) -> Iterator[None]:
        with self._cuts.cutting():
            self.recovery_point = min(self.recovery_point, end_offset)
            try:
                self.before_cut(end_offset, log_start_offset)
            except OSError as error:
                self._report(error)
                raise _storage_error(f"the cut could not be noted: {error.strerror}") from error
            try:
                yield
            except OSError as error:
                self._report_broken(error)
                self.fail(f"the log could not be cut: {error.strerror}")
                raise _storage_error(self._refusal) from error

    def _set_aside(self, segments: list[Segment], end_offset: int) -> list[Segment]:
        """Rename the files of `segments` and remove what else speaks of offsets from `end_offset` on."""
        swaps = list(self.directory.glob("*" + SWAP_SUFFIX))
        for swap in swaps:
            swap.unlink(missing_ok=True)
        has_removed = remove_snapshots_beyond(self.directory, end_offset) or bool(swaps)
        for segment in reversed(segments):
            segment.rename(DELETED_SUFFIX)
        if segments or has_removed:
            fsync_directory(self.directory)
        return segments


def _storage_error(reason: str) -> ApiError:
    return ApiError(ErrorCode.KAFKA_STORAGE_ERROR, reason)
