"""The log of one partition: append at the end, read from any offset, let go of the beginning.

Promises. An offset is given once: the next one is only moved when the bytes of a batch are in the file, and an append
that fails leaves neither bytes nor offsets behind. `append` returning means that the batch survives `kill -9` (it is in
the page cache); surviving a power failure is the business of replication, as in Kafka, unless flush.messages asks for
an fsync, which who appends has to wait for. Readers see whole batches only.

A disk that is full refuses, and takes batches again when there is room. Any other failure of the disk is reported to
`on_disk_error`, whose owner takes the whole directory offline (`fail`).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from broker.common.errors import ApiError, ErrorCode, InvariantViolation
from broker.common.logs import logger
from broker.common.types import new_tuple
from broker.log.config import LogConfig
from broker.log.durability import Durability
from broker.log.files import fsync_directory
from broker.log.follower_log import FollowerLog
from broker.log.leader_epoch_file import StoredEpochs
from broker.log.leader_epochs import EpochEnd, LeaderEpochs
from broker.log.loader import LoadedLog, load_log
from broker.log.log_reader import LogReader
from broker.log.open_segments import OpenSegments
from broker.log.producer_snapshots import load_producers
from broker.log.producer_state import ProducerState
from broker.log.retention import ExpiredSegment, RetentionPlan
from broker.log.roll_timer import RollTimer
from broker.log.segment import Segment
from broker.log.transaction_index import TransactionIndex
from broker.log.transaction_log import TransactionLog
from broker.log.truncation import BeforeCut, Truncation
from broker.log.validation import Look, asks_anything, check_batch, stamp_append_time
from broker.records.batch import (
    HEADER,
    LENGTH_PREFIX_BYTES,
    NO_PRODUCER_ID,
    BatchHeader,
    parse_batch_header,
    patch_batch,
)
from broker.records.control import EndMarker

_log = logger(__name__)


class AppendResult(NamedTuple):
    """Where a batch went, or where the batch went that it repeats. Both offsets are inclusive."""

    base_offset: int
    last_offset: int
    max_timestamp: int


class Log(FollowerLog, Truncation, TransactionLog, Durability, LogReader):
    """One partition's. `on_disk_error` is told when an append or a flush finds the disk broken."""

    def __init__(
        self,
        directory: Path,
        config: LogConfig,
        loaded: LoadedLog,
        producers: ProducerState,
        transactions: TransactionIndex,
        *,
        recovery_point: int,
        log_start_offset: int,
        opened: OpenSegments,
    ):
        super().__init__(directory, loaded.segments, log_start_offset, opened)
        self._producers = producers
        self._transactions = transactions
        self._epochs = StoredEpochs(directory, loaded.leader_epochs, is_synced=loaded.is_as_left)
        self._begin_durability(recovery_point, is_as_left=loaded.is_as_left)
        #: When it was opened its end was damaged, and cut off.
        self.was_cut = loaded.was_cut
        #: More records than flush.messages are not fsynced; whoever has them fsynced says so.
        self.is_flush_due = False
        self._roll_timer = RollTimer()
        #: Why the last append failed that did, and where.
        self._append_trouble: tuple[str, int] | None = None
        self.before_cut: BeforeCut = lambda end_offset, log_start_offset: None
        self.config = config

    @classmethod
    def open(
        cls,
        directory: Path,
        config: LogConfig,
        *,
        is_clean: bool = False,
        lost_page_cache: bool = False,
        recovery_point: int = 0,
        log_start_offset: int = 0,
        opened: OpenSegments | None = None,
    ) -> "Log":
        """Open the log in `directory`, made if missing. Raises OSError. `opened`: shared with other logs.

        Unless the last stop `is_clean`, everything from `recovery_point` on is checked, and cut at the first damage;
        after the machine `lost_page_cache` also where offsets are missing between two segments.
        """
        directory.mkdir(parents=True, exist_ok=True)
        loaded = load_log(
            directory,
            config,
            is_clean=is_clean,
            lost_page_cache=lost_page_cache,
            recovery_point=recovery_point,
            log_start_offset=log_start_offset,
        )
        first, end = loaded.segments[0].base_offset, loaded.segments[-1].next_offset
        transactions = TransactionIndex(directory)
        return cls(
            directory,
            config,
            loaded,
            load_producers(directory, loaded.segments, end, transactions),
            transactions,
            recovery_point=end if is_clean else max(first, min(recovery_point, end)),
            log_start_offset=max(first, log_start_offset),
            opened=OpenSegments() if opened is None else opened,
        )

    @property
    def config(self) -> LogConfig:
        """May be replaced at any time; the next append goes by it."""
        return self._config

    @config.setter
    def config(self, config: LogConfig) -> None:
        self._config = config
        self._is_checking = asks_anything(config)
        self._roll_timer.set_segment_ms(config.segment_ms_max)

    # --- writing

    def append(
        self,
        batch: bytearray | memoryview,
        leader_epoch: int,
        now_ms: int | None = None,
        header: BatchHeader | None = None,
        look: Look = Look.WHOLE,
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
        if self._refusal is not None:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, self._refusal)
        if header is None:
            header = parse_batch_header(batch)
        size = len(batch)
        if header.batch_length + LENGTH_PREFIX_BYTES != size or header.last_offset_delta < 0:
            raise InvariantViolation(f"an unchecked batch came to the log {self.directory.name}")
        if size > self._config.max_message_bytes and not header.is_control:
            self._refuse_size(size)
        max_timestamp = header.max_timestamp
        if self._is_checking:
            max_timestamp = check_batch(batch, header, self._config, now_ms, look)
        is_idempotent = header.producer_id != NO_PRODUCER_ID
        marker = None
        if is_idempotent:
            if header.is_control:
                marker = self._check_marker(header, batch)
            elif (sent := self._producers.check(header)) is not None:
                return AppendResult(sent.base_offset, sent.last_offset, sent.timestamp_ms)
        result = self._write(batch, header, max_timestamp, leader_epoch, now_ms, marker)
        if is_idempotent:
            self._note_producer(header, result.base_offset, marker)
        if result.last_offset + 1 - self.recovery_point >= self._config.flush_messages:
            self.is_flush_due = True
        return result

    def _write(
        self,
        batch: bytearray | memoryview,
        header: BatchHeader,
        max_timestamp: int,
        leader_epoch: int,
        now_ms: int | None,
        marker: EndMarker | None,
    ) -> AppendResult:
        config, active, size = self._config, self._segments.active, len(batch)
        base_offset = active.next_offset
        last_offset = base_offset + header.last_offset_delta
        if max_timestamp > self._roll_timer.after_ms or not active.has_room_for(
            size, last_offset, config.segment_bytes, config.segment_index_bytes
        ):
            active = self._make_room(size, last_offset, max_timestamp, now_ms)
        if leader_epoch > self._epochs.cache.latest_epoch:
            self.begin_leader_epoch(leader_epoch)
        patch_batch(batch, 0, base_offset, leader_epoch)
        if self._is_checking and config.uses_append_time:
            stamp_append_time(batch, parse_batch_header(batch), max_timestamp)
        try:
            if marker is not None:
                self._note_aborted(header, base_offset, marker)
            active.append(batch, last_offset, max_timestamp)
        except OSError as error:
            HEADER.pack_into(batch, 0, *header)
            raise self._append_failed(error) from error
        return new_tuple(AppendResult, (base_offset, last_offset, max_timestamp))

    def _refuse_size(self, size: int) -> None:
        raise ApiError(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"the batch has {size} bytes, max.message.bytes is {self._config.max_message_bytes}",
        )

    def _make_room(self, size: int, last_offset: int, max_timestamp: int, now_ms: int | None) -> Segment:
        """The segment the batch goes to: the active one, or a new one if that is full or old."""
        config, active = self._config, self._segments.active
        if size > config.segment_bytes:
            raise ApiError(
                ErrorCode.RECORD_LIST_TOO_LARGE,
                f"the batch has {size} bytes, segment.bytes is {config.segment_bytes}",
            )
        is_full = not active.has_room_for(size, last_offset, config.segment_bytes, config.segment_index_bytes)
        if active.size_bytes and (is_full or self._roll_timer.is_due(active.first_timestamp, max_timestamp, now_ms)):
            active = self._roll()
        if not active.size_bytes:
            self._roll_timer.restart(max_timestamp, now_ms)
        return active

    def _roll(self, base_offset: int | None = None) -> Segment:
        """Start a new active segment. If that cannot be created, the old one stays active and whole."""
        old = self._segments.active
        base_offset = old.next_offset if base_offset is None else base_offset
        try:
            new = Segment.create(self.directory, base_offset, self._config.index_interval_bytes)
        except OSError as error:
            raise self._append_failed(error) from error
        old.seal()
        self._store_producers(old, new.base_offset)
        self._segments.add(new)
        return new

    def _append_failed(self, error: OSError) -> ApiError:
        """Take the partial write back; if even that fails, nothing may be written behind it, whatever the reason."""
        trouble = (str(error), self.log_end_offset)
        if trouble != self._append_trouble:
            # Not each time: who is refused tries again, as long as the disk is full.
            _log.error("append failed", directory=str(self.directory), reason=str(error))
        self._append_trouble = trouble
        active = self._segments.active
        try:
            active.cut_tail()
            self._transactions.take_back(active.base_offset, active.next_offset)
        except OSError as cut_error:
            self._refusal = f"a partial write could not be removed: {cut_error.strerror}"
            self._report_broken(cut_error)
        self._report(error)
        return ApiError(ErrorCode.KAFKA_STORAGE_ERROR, f"the batch could not be written: {error.strerror}")

    # --- leader epochs

    @property
    def leader_epochs(self) -> LeaderEpochs:
        """For looking, not for changing."""
        return self._epochs.cache

    def leader_epoch_at(self, offset: int) -> int:
        """The leader epoch of the record at `offset`, -1 if that is not known."""
        return self._epochs.cache.epoch_at(offset)

    def end_offset_for_epoch(self, epoch: int) -> EpochEnd:
        """What OffsetForLeaderEpoch answers, see `LeaderEpochs.end_offset_for`."""
        return self._epochs.cache.end_offset_for(epoch, self.log_end_offset)

    def begin_leader_epoch(self, epoch: int) -> None:
        """Note that what follows is written under `epoch`, if that is new: for a leader, before it serves.

        Raises ApiError(KAFKA_STORAGE_ERROR), then nothing is noted.
        """
        try:
            self._epochs.assign(epoch, self.log_end_offset)
        except OSError as error:
            raise self._append_failed(error) from error

    # --- letting go

    def roll_expired(self, plan: RetentionPlan) -> bool:
        """Begin a new segment if `plan` lets go of the active one and nothing was written to it since; whether so.

        `flush` before `apply`: if the old segment's name went from the disk before the new one's came, offsets would
        begin anew. For the owner; quick. Raises ApiError(KAFKA_STORAGE_ERROR).
        """
        self._refuse_if_unwritable()
        active = self._segments.active
        last = plan.segments[-1] if plan.segments else None
        if last is None or (last.serial, last.next_offset) != (active.serial, active.next_offset):
            return False
        self._roll()
        self._roll_timer.set_segment_ms(self._config.segment_ms_max)
        return True

    def apply(self, plan: RetentionPlan) -> int:
        """Let go of the segments of `plan`, as far as they still are the oldest; the bytes `purge_segments` will free.

        For the owner; quick. Raises ApiError(KAFKA_STORAGE_ERROR), also if the log was closed since it was planned.
        """
        gone = self._still_oldest(plan)
        if not gone:
            return 0
        self._replace([segment for segment, _ in gone], [])
        self._start_at(gone[-1][1].next_offset)
        for segment, expired in gone:
            reason = expired.reason.value
            _log.info("segment deleted", directory=str(self.directory), segment=segment.base_offset, reason=reason)
        return sum(segment.size_bytes for segment, _ in gone)

    def _still_oldest(self, plan: RetentionPlan) -> list[tuple[Segment, ExpiredSegment]]:
        """The beginning of `plan` that still is what was planned: the cleaner may have been at work since, or the log
        cut and grown again.
        """
        *sealed, _ = self._segments
        ends = [*(segment.base_offset for segment in sealed[1:]), self._segments.active.base_offset]
        gone = []
        for segment, end, expired in zip(sealed, ends, plan.segments, strict=False):
            if (segment.serial, end) != (expired.serial, expired.next_offset):
                break
            gone.append((segment, expired))
        return gone

    def delete_records(self, offset: int, high_watermark: int) -> int:
        """Records before `offset` are gone (-1: all below the high watermark); the new log start offset.

        Only the start moves: files go when retention next looks. Raises ApiError(OFFSET_OUT_OF_RANGE).
        """
        self._refuse_if_offline()
        target = high_watermark if offset == -1 else offset
        if not 0 <= target <= high_watermark:
            raise ApiError(
                ErrorCode.OFFSET_OUT_OF_RANGE, f"offset {target} is not from 0 to the high watermark, {high_watermark}"
            )
        self._start_at(target)
        return self.log_start_offset

    def _start_at(self, offset: int) -> None:
        """The epochs' file is not rewritten: opening the log leaves out what is before its start."""
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
        self._replace(old, new)

    def _replace(self, old: Sequence[Segment], new: Sequence[Segment]) -> None:
        """Files are renamed by path: once this log is closed, another one may have its directory."""
        self._refuse_if_offline()
        try:
            self._segments.replace(old, new)
            if new:
                fsync_directory(self.directory)
        except OSError as error:
            self._report_broken(error)
            self.fail(f"segments could not be renamed: {error.strerror}")
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, self._refusal) from error

    def purge_segments(self, now_ms: int) -> int:
        """Remove the files of segments let go file.delete.delay.ms ago; the bytes that frees. Raises OSError.

        The delay runs from the first call that sees a segment. Safe on a thread while the owner goes on.
        """
        return self._segments.set_aside.purge(now_ms, self._config.file_delete_delay_ms)
