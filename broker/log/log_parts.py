"""What a log is made of: parts that own their state, and that all lie in one directory, which may be renamed."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path

from broker.common.errors import ApiError, ErrorCode
from broker.log.availability import LogAvailability
from broker.log.config import LogConfig
from broker.log.cuts import Cuts
from broker.log.durability import Durability
from broker.log.follower_writer import FollowerWriter
from broker.log.leader_epoch_file import StoredEpochs
from broker.log.leader_epochs import EpochEntry
from broker.log.loader import LoadedLog
from broker.log.log_reader import LogReader
from broker.log.log_slice import LogSlice
from broker.log.log_writer import LogWriter
from broker.log.open_segments import OpenSegments
from broker.log.producer_state_manager import ProducerStateManager
from broker.log.segment_list import SegmentList
from broker.records.batch import HEADER_BYTES


class LogParts:
    """Parts of one log, which alone uses them."""

    def __init__(
        self,
        directory: Path,
        config: LogConfig,
        loaded: LoadedLog,
        producers: ProducerStateManager,
        *,
        recovery_point: int,
        opened: OpenSegments,
    ):
        self.directory = directory
        self._availability = LogAvailability()
        self._segments = SegmentList(loaded.segments, opened)
        self._cuts = Cuts()
        self._producers = producers
        self._epochs = StoredEpochs(directory, loaded.leader_epochs, is_synced=loaded.is_as_left)
        self._durability = Durability(directory, self._segments, self._epochs, self._cuts, self._availability)
        self._durability.begin(recovery_point, is_as_left=loaded.is_as_left)
        self._reader = LogReader(directory, self._segments, self._cuts, self._availability)
        self._writer = LogWriter(directory, config, self._segments, self._epochs, producers, self._availability)
        self._follower_writer = FollowerWriter(self._writer, self._segments, self._epochs, producers)

    @property
    def first_base_offset(self) -> int:
        """The first segment's base offset: the log starts there unless a later start is noted."""
        return self._segments.first.base_offset

    def deletion_offset(self, offset: int, high_watermark: int) -> int:
        """Return `offset`, the high watermark for -1. Raises ApiError: OFFSET_OUT_OF_RANGE, KAFKA_STORAGE_ERROR."""
        self._availability.refuse_if_offline()
        target = high_watermark if offset == -1 else offset
        if not 0 <= target <= high_watermark:
            raise ApiError(
                ErrorCode.OFFSET_OUT_OF_RANGE, f"offset {target} is not from 0 to the high watermark, {high_watermark}"
            )
        return target

    @property
    def on_disk_full(self) -> Callable[[], None]:
        """Called for each write that was refused because the disk or a quota is full; perhaps on a worker thread."""
        return self._availability.on_disk_full

    @on_disk_full.setter
    def on_disk_full(self, listener: Callable[[], None]) -> None:
        self._availability.on_disk_full = listener

    def take_over_epochs(self, entries: Iterable[EpochEntry]) -> None:
        """Take over the leader epochs of the log this is a copy of. Raises ApiError(KAFKA_STORAGE_ERROR)."""
        self._writer.take_over_epochs(entries)

    def flush_leader_epochs(self) -> None:
        """fsync the leader epochs, since compaction removes the batches that show them. Thread-safe. Raises OSError."""
        self._epochs.flush()

    def lie_in(self, directory: Path, opened: OpenSegments) -> None:
        """Rename the directory, which is not made durable, and share `opened`; what was read before stays valid.

        For the owner, while no thread is at work on it. Raises OSError, then all is as it was.
        """
        self.directory.rename(directory)
        self.directory = directory
        self._segments.lie_in(directory, opened)
        self._producers.lie_in(directory)
        for part in (self._epochs, self._durability, self._reader, self._writer):
            part.directory = directory

    def closing(self) -> AbstractContextManager[None]:
        """Return a context for the owner's last steps before `close`: everything is refused from then on, unless it
        raises.
        """
        return self._availability.closing()

    def pass_over_empty(
        self, log_slice: LogSlice, fetch_offset: int, max_bytes: int, end_offset: int, *, at_least_one: bool
    ) -> LogSlice:
        """Return what `log_slice`, just read with the same arguments, is to be answered a consumer with.

        That is what comes behind it if all its batches are without records, as compaction leaves the last one of a
        producer, and a batch with records follows: kafkajs stays for ever where it was answered with nothing else, and
        segmentio/kafka-go begins anew. At the log's end the batches stay, for other clients learn from them how far it
        reaches. Raises ApiError: CORRUPT_MESSAGE, KAFKA_STORAGE_ERROR.
        """
        if not log_slice.length or log_slice.length % HEADER_BYTES:
            return log_slice
        try:
            return self._reader.pass_over_empty(log_slice, fetch_offset, max_bytes, end_offset, at_least_one)
        except OSError as error:
            raise self._availability.unreadable(error) from error

    def end_at(self, offset: int) -> None:
        """Advance the log's end to `offset`, since the log it was copied from ends with deleted offsets.

        Raises ApiError(KAFKA_STORAGE_ERROR).
        """
        self._availability.refuse_if_unwritable()
        self._writer.roll(offset)
