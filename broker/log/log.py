"""The log of one partition: append at the end, read from any offset, let go of the beginning.

Promises. An offset is given once: the next one is only moved when the bytes of a batch are in the file, and an append
that fails leaves neither bytes nor offsets behind. `append` returning means that the batch survives `kill -9` (it is in
the page cache); surviving a power failure is the business of replication, as in Kafka, unless flush.messages asks for
an fsync, which who appends has to wait for. Readers see whole batches only.

A disk that is full refuses, and takes batches again when there is room. Any other failure of the disk is reported to
`on_disk_error`, whose owner takes the whole directory offline (`fail`).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from broker.common.errors import ApiError, ErrorCode, InvariantViolation
from broker.common.logs import logger
from broker.common.types import NO_LEADER_EPOCH
from broker.log import truncation
from broker.log.cold_parts import ColdReadError
from broker.log.config import LogConfig
from broker.log.fetched_batches import check_fetched_batches
from broker.log.files import fsync_directory
from broker.log.leader_epochs import EpochEnd, LeaderEpochs
from broker.log.loader import LoadedLog, load_log
from broker.log.log_parts import LogParts
from broker.log.log_reader import LookedUp
from broker.log.log_slice import EMPTY_SLICE, LogSlice
from broker.log.log_writer import AppendResult
from broker.log.open_segments import OpenSegments
from broker.log.producer_state import ProducerFacts
from broker.log.producer_state_manager import ProducerStateManager
from broker.log.retention import RetainedSegment, RetentionPlan, still_oldest
from broker.log.segment import Segment
from broker.log.transaction_index import AbortedRange
from broker.log.truncation import BeforeCut, CutPlace, LogExtent, Truncation
from broker.log.validation import BatchValidation, check_batch, too_large
from broker.records.batch import HEADER_BYTES, LENGTH_PREFIX_BYTES, NO_PRODUCER_ID, BatchHeader, parse_batch_header

_log = logger(__name__)


class Log(LogParts):
    """One partition's: `log_start_offset` <= `log_end_offset` (exclusive, the next offset to be given).

    What it is made of owns its own state; only where it starts, and what must change together, is the log's.
    """

    def __init__(
        self,
        directory: Path,
        config: LogConfig,
        loaded: LoadedLog,
        producers: ProducerStateManager,
        *,
        recovery_point: int,
        log_start_offset: int,
        opened: OpenSegments,
    ):
        super().__init__(directory, config, loaded, producers, recovery_point=recovery_point, opened=opened)
        self.log_start_offset = log_start_offset
        #: When it was opened its end was damaged, and cut off.
        self.was_cut = loaded.was_cut
        #: More records than flush.messages are not fsynced; whoever has them fsynced says so.
        self.is_flush_due = False
        #: It is copied to another directory, and not compacted meanwhile: a tombstone could go before it was copied.
        self.is_being_copied = False
        self.before_cut: BeforeCut = lambda end_offset, log_start_offset: None

    @classmethod
    def open(
        cls,
        directory: Path,
        config: LogConfig,
        *,
        is_clean: bool = False,
        recovery_point: int = 0,
        log_start_offset: int = 0,
        opened: OpenSegments | None = None,
    ) -> "Log":
        """Open the log in `directory`, made if missing. Raises OSError. `opened`: shared with other logs.

        Unless the last stop `is_clean`, everything from `recovery_point` on is checked, and cut at the first damage.
        """
        directory.mkdir(parents=True, exist_ok=True)
        loaded = load_log(
            directory,
            config,
            is_clean=is_clean,
            recovery_point=recovery_point,
            log_start_offset=log_start_offset,
        )
        first, end = loaded.segments[0].base_offset, loaded.segments[-1].next_offset
        return cls(
            directory,
            config,
            loaded,
            ProducerStateManager(directory, loaded.segments, end, has_lost_indexes=loaded.has_lost_indexes),
            recovery_point=end if is_clean else max(first, min(recovery_point, end)),
            log_start_offset=max(first, log_start_offset),
            opened=OpenSegments() if opened is None else opened,
        )

    @property
    def config(self) -> LogConfig:
        """The log's configuration; a new one applies from the next append on."""
        return self._writer.config

    @config.setter
    def config(self, config: LogConfig) -> None:
        self._writer.go_by(config)

    @property
    def log_end_offset(self) -> int:
        return self._segments.active.next_offset

    @property
    def size_bytes(self) -> int:
        return self._segments.size_bytes

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The segments in offset order; the last one is active."""
        return tuple(self._segments)

    # --- writing

    def append(
        self,
        batch: bytearray | memoryview,
        leader_epoch: int,
        now_ms: int | None = None,
        header: BatchHeader | None = None,
        look: BatchValidation = BatchValidation.WHOLE,
    ) -> AppendResult:
        """Write one batch, which passed `check_produced_batch`, at the end; its offsets and epoch are set in `batch`.

        A batch an idempotent producer sends again is not written again. With LogAppendTime `now_ms`, by the wall clock,
        becomes the time of its records; without `now_ms` CreateTime has no bounds. `header` is what the check returned,
        for a caller who still has it; with `look` NeedsLook may be raised. Raises ApiError: MESSAGE_TOO_LARGE (no
        marker is), RECORD_LIST_TOO_LARGE (more than a segment), INVALID_TIMESTAMP, INVALID_RECORD (no key where
        compacted), OUT_OF_ORDER_SEQUENCE_NUMBER, INVALID_PRODUCER_EPOCH, INVALID_TXN_STATE,
        TRANSACTION_COORDINATOR_FENCED (of a marker), KAFKA_STORAGE_ERROR (the disk refused). Then `batch` and the log
        are as before; the log takes the next batch. If flush.messages asks for it, `is_flush_due` is set: nobody may be
        told of the batch before `flush`.
        """
        if self._availability.refusal is not None:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, self._availability.refusal)
        writer, producers = self._writer, self._producers
        config, size = writer.config, len(batch)
        if header is None:
            header = parse_batch_header(batch)
        if header.batch_length + LENGTH_PREFIX_BYTES != size or header.last_offset_delta < 0:
            raise InvariantViolation(f"an unchecked batch came to the log {self.directory.name}")
        if size > config.max_message_bytes and not header.is_control:
            raise too_large(size, config)
        max_timestamp = header.max_timestamp
        if writer.is_checking:
            max_timestamp = check_batch(batch, header, config, now_ms, look)
        is_idempotent = header.producer_id != NO_PRODUCER_ID
        marker = None
        if is_idempotent:
            if header.is_control:
                marker = producers.check_marker(header, batch)
            elif (sent := producers.state.check(header)) is not None:
                return AppendResult(sent.base_offset, sent.last_offset, sent.timestamp_ms)
        result = writer.write(batch, header, max_timestamp, leader_epoch, now_ms, marker)
        if is_idempotent:
            producers.note(header._replace(max_timestamp=result.max_timestamp), result.base_offset, marker)
        if result.last_offset + 1 - self._durability.recovery_point >= config.flush_messages:
            self.is_flush_due = True
        return result

    def append_as_follower(self, batches: bytes | bytearray | memoryview, now_ms: int | None = None) -> int:
        """Write what of `batches`, fetched from the leader, is not in the log yet; the new log end offset.

        `batches` are whole batches in offset order, perhaps with the beginning of one more, which is ignored. Those
        wholly below the log's end are skipped: a fetch may be repeated. Offsets may leave gaps. Neither
        max.message.bytes nor segment.bytes can refuse a batch that the leader took. `now_ms`, by the wall clock, ages
        segments whose records have no times.

        Raises ApiError, and nothing is written: CORRUPT_MESSAGE (see `check_fetched_batches`). KAFKA_STORAGE_ERROR: as
        `append`, but of several segments' batches those of the first may be in the log, whole; `log_end_offset` says.
        """
        self._availability.refuse_if_unwritable()
        log_start_offset = self.log_start_offset
        view = memoryview(batches)
        self._reach_back(view)
        log_end_offset = self._segments.active.next_offset
        leader_epoch = self._epochs.cache.epoch_at(log_end_offset - 1)
        fetched = check_fetched_batches(view, log_end_offset, leader_epoch)
        if not fetched.headers:
            return log_end_offset
        self._follower_writer.write(view, fetched, now_ms)
        log_end_offset = self._segments.active.next_offset
        if self.log_start_offset < log_start_offset:
            self._start_at(log_start_offset)
        self.note_unflushed()
        return log_end_offset

    def note_unflushed(self) -> None:
        """Set `is_flush_due` if it is: also of what an earlier life wrote, or what was written by other settings."""
        if self.log_end_offset - self._durability.recovery_point >= self._writer.config.flush_messages:
            self.is_flush_due = True

    def _reach_back(self, batches: memoryview) -> None:
        """Move an empty log's start back into a batch: a leader's log may start inside one, which is sent whole."""
        log_end_offset = self._segments.active.next_offset
        if self.log_start_offset < log_end_offset or self._segments.size_bytes or len(batches) < HEADER_BYTES:
            return
        first = parse_batch_header(batches)
        if first.base_offset < log_end_offset <= first.last_offset:
            check_fetched_batches(batches, first.base_offset, NO_LEADER_EPOCH)
            self.truncate_fully_and_start_at(first.base_offset)

    # --- reading

    def read(self, fetch_offset: int, max_bytes: int, end_offset: int, *, at_least_one: bool = True) -> LogSlice:
        """Return whole batches from the one holding `fetch_offset` on, at most `max_bytes`, of one segment.

        No batch with an offset at or beyond `end_offset` (the high watermark, exclusive) is included. With
        `at_least_one` the first batch is, even if it alone is larger than `max_bytes` (KIP-74). Raises ApiError:
        OFFSET_OUT_OF_RANGE, CORRUPT_MESSAGE (damage on disk), KAFKA_STORAGE_ERROR.
        """
        self._availability.refuse_if_offline()
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
            return self._reader.find(fetch_offset, max(0, max_bytes), end_offset, at_least_one)
        except OSError as error:
            raise self._availability.unreadable(error) from error

    def refuse_if_cold(self, fetch_offset: int, max_bytes: int) -> None:
        """Raise ColdReadError if `read` of the same would have to wait for a disk, ApiError if that fails. Of the
        active segment nothing is old; what cannot be read at all is not cold.
        """
        if fetch_offset >= self._segments.active.base_offset or self._availability.read_refusal is not None:
            return
        if fetch_offset < self.log_start_offset:
            return
        try:
            part = self._reader.find_cold(fetch_offset, max_bytes)
        except OSError as error:
            raise self._availability.unreadable(error) from error
        if part is not None:
            raise ColdReadError(part)

    def offset_after(self, fetch_offset: int, log_slice: LogSlice) -> int:
        """Return the offset after the last batch of `log_slice`, read from `fetch_offset` on. Raises ApiError."""
        return self._reader.offset_after(fetch_offset, log_slice)

    def count_offsets(self, fetch_offset: int, log_slice: LogSlice) -> int:
        """Return how many offsets `log_slice` has, just read from `fetch_offset` on. Never looks into a file.

        Exact for what ends at the end of a segment or among the newest batches, elsewhere by the segment's mean; 0 if
        the segment has gone since: a statistic costs no reader its records.
        """
        return self._reader.count_offsets(fetch_offset, log_slice)

    def offset_for_timestamp(self, timestamp_ms: int) -> tuple[int, int] | None:
        """Return (offset, timestamp) of the first record with `timestamp_ms` or a later time, None if there is none.

        Looks beyond the high watermark: the caller compares. Reads indexes and some headers, so it is for a worker
        thread; it may run while the owner appends, reads and lets go of segments. Raises ApiError as `read` does.
        """
        return self._reader.find_timestamp(timestamp_ms, lambda: self.log_start_offset)

    def max_timestamp_offset(self) -> tuple[int, int] | None:
        """Return (offset, timestamp) of the first record with the largest timestamp (KIP-734), None without one.

        As in Kafka it may be one before the log's start, whose segment is still there: DeleteRecords makes nobody's
        newest time unknown. Otherwise as `offset_for_timestamp`.
        """
        return self._reader.find_max_timestamp(self.log_start_offset)

    def looked_up(self, timestamp_ms: int | None) -> LookedUp | None:
        """Return an earlier result of `offset_for_timestamp` (None: `max_timestamp_offset`) that still holds. Quick."""
        return self._reader.looked_up(timestamp_ms, self.log_start_offset)

    def retention_facts(self) -> tuple[RetainedSegment, ...]:
        """Return the input of `plan_retention`. May read indexes; call on a worker thread. Raises ApiError."""
        return self._reader.retention_facts()

    # --- producers and their transactions

    @property
    def last_offsets_of_producers(self) -> frozenset[int]:
        """Raises ApiError(KAFKA_STORAGE_ERROR)."""
        self._availability.refuse_if_offline()
        return self._producers.state.last_offsets

    def producers(self) -> list[ProducerFacts]:
        """Return the remembered producers. Raises ApiError(KAFKA_STORAGE_ERROR)."""
        self._availability.refuse_if_offline()
        return self._producers.state.facts()

    def expire_producers(self, now_ms: int, silence_ms_max: int) -> int:
        """Expire producers as `ProducerState.expire`; `now_ms` is monotonic. For the owner."""
        return self._producers.state.expire(now_ms, silence_ms_max)

    def knows_producer(self, producer_id: int) -> bool:
        return self._producers.state.knows(producer_id)

    def has_open_transaction(self, producer_id: int, epoch: int) -> bool:
        """Return whether the producer's next batch under `epoch` goes on with a transaction."""
        return self._producers.state.has_open_transaction(producer_id, epoch)

    def last_stable_offset(self, high_watermark: int) -> int:
        """Return where the oldest undecided transaction began, if above the log start and below the high watermark."""
        undecided = self._producers.state.first_undecided_offset(high_watermark)
        return high_watermark if undecided is None else min(max(undecided, self.log_start_offset), high_watermark)

    def note_committed(self, high_watermark: int) -> None:
        """Forget ended transactions whose markers are below the high watermark."""
        self._producers.state.first_undecided_offset(high_watermark)

    def aborted_transactions(self, from_offset: int, end_offset: int) -> list[AbortedRange]:
        """Return aborted transactions with records from `from_offset` up to `end_offset`. Raises ApiError."""
        self._availability.refuse_if_offline()
        try:
            return self._producers.aborted(self._segments.from_offset(from_offset), from_offset, end_offset)
        except OSError as error:
            raise self._availability.unreadable(error) from error

    def aborted_in(self, fetch_offset: int, log_slice: LogSlice) -> list[AbortedRange]:
        """Return aborted transactions in `log_slice`, just read from `fetch_offset` on. Raises ApiError."""
        has_any = log_slice.length and self._producers.has_aborted
        return self.aborted_transactions(fetch_offset, self.offset_after(fetch_offset, log_slice)) if has_any else []

    # --- leader epochs

    @property
    def leader_epochs(self) -> LeaderEpochs:
        """The leader epochs; read-only."""
        return self._epochs.cache

    def leader_epoch_at(self, offset: int) -> int:
        """Return the leader epoch of the record at `offset`, -1 if that is not known."""
        return self._epochs.cache.epoch_at(offset)

    def end_offset_for_epoch(self, epoch: int) -> EpochEnd:
        """Return the end offset for OffsetForLeaderEpoch, see `LeaderEpochs.end_offset_for`."""
        return self._epochs.cache.end_offset_for(epoch, self.log_end_offset)

    def begin_leader_epoch(self, epoch: int) -> None:
        """Note, before a leader serves, that what follows is written under `epoch`; in memory alone on a full disk.

        Raises ApiError(KAFKA_STORAGE_ERROR), then nothing is noted.
        """
        self._writer.begin_leader_epoch(epoch)

    # --- outliving a loss of power, and a stop

    @property
    def recovery_point(self) -> int:
        """Everything before this offset has been fsynced."""
        return self._durability.recovery_point

    def flush(self) -> None:
        """fsync all that was not yet. Raises ApiError(KAFKA_STORAGE_ERROR); the log then takes no more batches.

        May run on a worker thread, one at a time, while the owner appends: what was there when it began is safe then.
        """
        self._durability.flush()

    def flush_if_due(self, now_ms: int) -> bool:
        """Flush if a sealed segment is not fsynced yet, or flush.ms have passed since the first call that saw records
        that are not; whether it did. `now_ms` is monotonic. Threads and errors as with `flush`.
        """
        return self._durability.flush_if_due(now_ms, self.config.flush_ms)

    def store_clean_state(self) -> None:
        """Write what a start after a clean stop reads instead of the log: indexes and producers. For the owner."""
        self._durability.store_clean_state(self._producers)

    # --- letting go of the beginning

    def roll_expired(self, plan: RetentionPlan) -> bool:
        """Begin a new segment if `plan` lets go of the active one and nothing was written to it since; whether so.

        `flush` before `apply`: if the old segment's name went from the disk before the new one's came, offsets would
        begin anew. For the owner; quick. Raises ApiError(KAFKA_STORAGE_ERROR).
        """
        self._availability.refuse_if_unwritable()
        active = self._segments.active
        last = plan.segments[-1] if plan.segments else None
        if last is None or (last.serial, last.next_offset) != (active.serial, active.next_offset):
            return False
        self._writer.roll()
        self._writer.timer.set_segment_ms(self.config.segment_ms_max)
        return True

    def apply(self, plan: RetentionPlan) -> int:
        """Remove the segments of `plan` that are still the oldest; return the bytes `purge_segments` will free.

        For the owner; quick. Raises ApiError(KAFKA_STORAGE_ERROR), also if the log was closed since it was planned.
        """
        gone = still_oldest(plan, self.segments)
        if not gone:
            return 0
        self.replace_segments([segment for segment, _ in gone], [])
        self._start_at(gone[-1][1].next_offset)
        for segment, expired in gone:
            reason = expired.reason.value
            _log.info("segment deleted", directory=str(self.directory), segment=segment.base_offset, reason=reason)
        return sum(segment.size_bytes for segment, _ in gone)

    def delete_records(self, offset: int, high_watermark: int) -> int:
        """Move the log start to `deletion_offset(…)` and return it; files go when retention next looks. A kill undoes
        the move unless it was noted before (`HostedLogs.note_log_starts`).
        """
        self._start_at(self.deletion_offset(offset, high_watermark))
        return self.log_start_offset

    def follow_log_start(self, offset: int) -> None:
        """Move the log start to the leader's `offset`, as far as this log reaches.

        Only the start moves, never backwards: files go when retention next looks.
        """
        self._availability.refuse_if_offline()
        self._start_at(min(offset, self.log_end_offset))

    def _start_at(self, offset: int) -> None:
        """Move the log start. The epochs' file is not rewritten: opening the log skips what is before its start."""
        self.log_start_offset = max(self.log_start_offset, offset)
        self._epochs.cache.truncate_from_start(self.log_start_offset)

    def replace_segments(self, old: Sequence[Segment], new: Sequence[Segment]) -> None:
        """Let `new` stand where `old`, a run of sealed segments of this log, stood.

        `new` are sealed, flushed, named with a suffix (`.swap`), hold offsets from the range of `old` only, and may be
        none. The files of `old` get `.deleted` behind their names and go with `purge_segments`; those of `new` lose
        their suffix. `log_start_offset` stays. Slices and descriptors of `old` stay valid. For the owner; quick.

        Raises InvariantViolation if `old` is not such a run, ApiError(KAFKA_STORAGE_ERROR) if the disk refuses, were it
        for want of space: then the log has failed, and opening it has to finish what `.swap` files say.
        """
        # Files are renamed by path: once this log is closed, another one may have its directory.
        self._availability.refuse_if_offline()
        try:
            with self._cuts.renaming():
                self._segments.replace(old, new)
            self._producers.note_replaced(old, new)
            if new:
                fsync_directory(self.directory)
        except OSError as error:
            raise self._availability.broken(error, f"segments could not be renamed: {error.strerror}") from error

    def purge_segments(self, now_ms: int) -> int:
        """Remove the files of segments let go file.delete.delay.ms ago; the bytes that frees. Raises OSError.

        The delay runs from the first call that sees a segment. Safe on a thread while the owner goes on.
        """
        return self._segments.set_aside.purge(now_ms, self.config.file_delete_delay_ms)

    # --- letting go of the end: for the owner, or a worker thread it has lent the log to; see `truncation.py`

    @property
    def cuts_count(self) -> int:
        """How often the log was truncated since it was opened; earlier lookups may be invalid."""
        return self._cuts.count

    def cut(self, cut: Truncation) -> None:
        """Run `truncate_to` or `truncate_fully_and_start_at`."""
        if cut.is_of_all:
            self.truncate_fully_and_start_at(cut.offset)
        else:
            self.truncate_to(cut.offset)

    def extent_after(self, cut: Truncation) -> LogExtent:
        """Return the extent to note before truncating to `cut`. Raises ApiError."""
        first = self._segments.first.base_offset
        if cut.is_of_all or cut.offset < first:
            return LogExtent(None, min(first, cut.offset))
        if cut.offset >= self.log_end_offset:
            return LogExtent(self.log_start_offset, self.log_end_offset)
        end_offset = self._find_cut(cut.offset).end_offset
        return LogExtent(min(self.log_start_offset, end_offset), end_offset)

    def truncate_to(self, offset: int) -> None:
        """Truncate the log to `offset`, or to the start of the batch that contains it.

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
        place = self._find_cut(offset)
        end_offset = place.end_offset
        log_start_offset = min(self.log_start_offset, end_offset)
        with self._cutting(end_offset, log_start_offset):
            truncation.cut_segments(self.directory, self._segments, place)
            self._epochs.truncate_from_end(end_offset)
            self.log_start_offset = log_start_offset
            self._producers.forget_from(self.segments, end_offset)
            self._writer.timer.forget()
        _log.info("log cut", directory=str(self.directory), asked=offset, log_end_offset=end_offset)

    def truncate_fully_and_start_at(self, offset: int) -> None:
        """Delete all records; the log then starts and ends at `offset`. Raises ApiError as `truncate_to`.

        For a follower whose leader's log begins beyond its own end (or ends before its beginning). Stopped half-way,
        some of the oldest records may be left, or none, in a log that starts where nothing was noted: it is done again.
        """
        self._check_cut(offset)
        first = min(self._segments.first.base_offset, offset)
        with self._cutting(first, None):
            truncation.restart_segments(self.directory, self._segments, offset, self.config.index_interval_bytes)
            self._epochs.truncate_from_end(truncation.NOTHING_BEFORE)
            self.log_start_offset = self._durability.recovery_point = offset
            self._producers.forget_all()
            self._writer.timer.forget()
        _log.warning("log emptied", directory=str(self.directory), log_start_offset=offset)

    def _check_cut(self, offset: int) -> None:
        if not self.is_lent:
            self._availability.refuse_if_unwritable()
        if offset < 0:
            raise ApiError(ErrorCode.OFFSET_OUT_OF_RANGE, f"a log cannot be cut at {offset}")

    def _find_cut(self, offset: int) -> CutPlace:
        try:
            return truncation.find_cut(self._segments, offset)
        except OSError as error:
            raise self._availability.unreadable(error) from error

    @contextmanager
    def _cutting(self, end_offset: int, log_start_offset: int | None) -> Iterator[None]:
        with self._cuts.cutting():
            self._durability.lower(end_offset)
            try:
                self.before_cut(end_offset, log_start_offset)
            except OSError as error:
                raise self._availability.refused(error, f"the cut could not be noted: {error.strerror}") from error
            try:
                yield
            except OSError as error:
                raise self._availability.broken(error, f"the log could not be cut: {error.strerror}") from error

    # --- whose it is, and whether it is there at all

    @property
    def on_disk_error(self) -> Callable[[OSError], None]:
        """Told of failures of the disk that are not for want of space; perhaps on a worker thread."""
        return self._availability.on_disk_error

    @on_disk_error.setter
    def on_disk_error(self, listener: Callable[[OSError], None]) -> None:
        self._availability.on_disk_error = listener

    @property
    def is_offline(self) -> bool:
        """Whether it cannot even be read any more: its directory has failed, or it was closed."""
        return self._availability.read_refusal is not None

    @property
    def is_closed(self) -> bool:
        return self._availability.is_closed

    @property
    def is_lent(self) -> bool:
        """Whether a worker thread is at work on all of it: its owner only waits."""
        return self._availability.is_lent

    def lend(self) -> None:
        """Lend the log to a worker thread: until `take_back` it refuses everything else (KAFKA_STORAGE_ERROR).

        Slices that were read before stay valid. Raises ApiError if it cannot be written.
        """
        self._availability.refuse_if_unwritable()
        self._segments.release_sealed()
        self._availability.lend()

    def take_back(self) -> None:
        """Take the log back from the worker thread; a failure meanwhile stays. For the owner."""
        self._availability.take_back()

    def fail(self, reason: str) -> None:
        """Take the log offline: from now on every call is answered KAFKA_STORAGE_ERROR with `reason`."""
        self._availability.fail(reason)

    def close(self) -> None:
        """Close all descriptors without flushing. Everything but `close` is refused from now on."""
        self._availability.close()
        self._segments.release()
