"""What can be known of a segment from its files: its batches, and their times.

Everything here is safe on another thread than the owner's and leaves nothing open that was not.
"""

import os
from collections.abc import Iterable, Iterator
from itertools import count

from broker.common.errors import ApiError, ErrorCode
from broker.common.logs import logger
from broker.log.files import SharedFile, read_at
from broker.log.offset_index import OffsetIndex, last_position, load_index
from broker.log.scan import BadBatchError, scan_batches
from broker.log.segment_files import SegmentFiles
from broker.log.time_index import TimeEntry, TimeIndex, load_time_index, store_time_index
from broker.records.batch import NO_TIMESTAMP, BatchHeader

_serials = count(1)

_log = logger(__name__)


class StoredSegment:
    """Invariant: the bytes before `size_bytes` are whole batches with increasing offsets from `base_offset` on."""

    __slots__ = (
        "_file",
        "_first_timestamp",
        "_index",
        "_index_interval_bytes",
        "_is_active",
        "_max_timestamp",
        "_times",
        "base_offset",
        "files",
        "serial",
        "size_bytes",
    )

    def __init__(self, files: SegmentFiles, base_offset: int, size_bytes: int, index_interval_bytes: int):
        self.base_offset = base_offset
        #: No other has it in this process: not even the one that is written at the same offsets after a cut.
        self.serial = next(_serials)
        self.size_bytes = size_bytes
        self.files = files
        self._index_interval_bytes = index_interval_bytes
        self._is_active = False
        self._file: SharedFile | None = None
        self._index: OffsetIndex | None = None
        #: Of an active segment; of a sealed one at most while that one stays open.
        self._times: TimeIndex | None = None
        #: None while nobody has looked, or there is no batch.
        self._first_timestamp: int | None = None
        #: Of a sealed segment; None while nobody has looked.
        self._max_timestamp: int | None = None

    def rename(self, suffix: str) -> None:
        """Put another suffix behind the names of its files, see `SegmentFiles.rename`. Descriptors stay valid."""
        self.files.rename(suffix)

    def remove_files(self) -> None:
        """Free the disk; already gone is fine. Slices that were read before stay valid. Raises OSError."""
        self.files.remove()

    def _borrow_file(self) -> SharedFile:
        return self._file or SharedFile(self.files.log)

    def batches(self) -> Iterator[tuple[int, BatchHeader]]:
        """Yield (position, header) of all batches. Raises ApiError(CORRUPT_MESSAGE) where the file is damaged."""
        try:
            yield from scan_batches(self._borrow_file(), 0, self.size_bytes, self.base_offset)
        except BadBatchError as damage:
            raise self._corrupt(damage) from None

    def batches_backwards(self, piece_bytes: int) -> Iterator[list[BatchHeader]]:
        """Yield all batches in pieces of about `piece_bytes`, the last piece first. Raises
        ApiError(CORRUPT_MESSAGE).
        """
        index = self._index or load_index(
            self.files.index, self.base_offset, self._index_interval_bytes, self.size_bytes
        )
        stop = self.size_bytes
        while stop:
            _, start = index.entry_for_position(max(0, stop - piece_bytes))
            try:
                yield [header for _, header in scan_batches(self._borrow_file(), start, stop, self.base_offset)]
            except BadBatchError as damage:
                raise self._corrupt(damage) from None
            stop = start

    def end_offset(self) -> int:
        """Return one past the last offset, from the last entry of the offset index on; the base offset if there is no
        batch.

        Raises ApiError(CORRUPT_MESSAGE), OSError.
        """
        if not self.size_bytes:
            return self.base_offset
        position = last_position(self.files.index)
        try:
            return self._end_from(position if position < self.size_bytes else 0)
        except ApiError:
            # The index may have lied.
            return next(self.batches_backwards(1))[-1].next_offset

    def _end_from(self, position: int) -> int:
        end_offset = self.base_offset
        try:
            for _, header in scan_batches(self._borrow_file(), position, self.size_bytes, self.base_offset):
                end_offset = header.next_offset
        except BadBatchError as damage:
            raise self._corrupt(damage) from None
        return end_offset

    def read_batch(self, position: int, header: BatchHeader) -> bytes:
        return read_at(self._borrow_file(), position, header.size_bytes)

    @property
    def max_timestamp(self) -> int:
        """The largest timestamp, -1 if the segment has none. The first time, it is read from the time index."""
        times = self._times
        if self._is_active and times is not None:
            return times.max_timestamp
        if self._max_timestamp is None:
            self._max_timestamp = self._sound_times().max_timestamp
        return self._max_timestamp

    @property
    def first_timestamp(self) -> int:
        """The largest timestamp of the first batch, which segment.ms counts from; -1 if it has none. Cached."""
        if self._first_timestamp is None and self.size_bytes:
            self._first_timestamp = next((header.max_timestamp for _, header in self.batches()), None)
        return NO_TIMESTAMP if self._first_timestamp is None else self._first_timestamp

    @property
    def modified_ms(self) -> int:
        """When its file was last modified, by the machine's clock."""
        return self.files.log.stat().st_mtime_ns // 1_000_000

    def take_age_of(self, others: Iterable["StoredSegment"]) -> None:
        """Count as last written when the youngest of `others` was. Raises OSError."""
        modified_ns = max(other.files.log.stat().st_mtime_ns for other in others)
        os.utime(self.files.log, ns=(modified_ns, modified_ns))

    def batches_from_timestamp(self, timestamp_ms: int) -> Iterator[tuple[int, BatchHeader]]:
        """Yield batches as `batches`, skipping most that the time index rules out."""
        entry = self._sound_times().entry_before(timestamp_ms)
        start = None if entry is None else self._position_of_time(entry)
        if start is None:
            yield from self.batches()
            return
        try:
            yield from scan_batches(self._borrow_file(), start, self.size_bytes, self.base_offset)
        except BadBatchError as damage:
            raise self._corrupt(damage) from None

    def _sound_times(self) -> TimeIndex:
        """Return the time index as it is in memory or in its file, or rebuilt from all headers if the file is not
        right.
        """
        times = self._times
        if times is not None:
            return times
        times = load_time_index(self.files.time_index, self.base_offset)
        last = times.last_entry() if times is not None else None
        if times is not None and last is not None and self._position_of_time(last) is not None:
            return times
        times, index = TimeIndex(self.base_offset), OffsetIndex(self.base_offset, self._index_interval_bytes)
        for position, header in self.batches():
            note_batch(header, position, index, times)
        times.add_entry()
        try:
            store_time_index(self.files.time_index, times)
        except OSError as error:
            _log.warning("time index not written", path=str(self.files.time_index), reason=str(error))
        return times

    def _position_of_time(self, entry: TimeEntry) -> int | None:
        """Return where the batch starts that a time index entry refers to; None if the entry is wrong."""
        index = self._index or load_index(
            self.files.index, self.base_offset, self._index_interval_bytes, self.size_bytes
        )
        _, start = index.entry_for_offset(entry.offset)
        try:
            for position, header in scan_batches(self._borrow_file(), start, self.size_bytes, self.base_offset):
                if header.last_offset >= entry.offset:
                    is_true = header.base_offset <= entry.offset and header.max_timestamp == entry.timestamp_ms
                    return position if is_true else None
        except BadBatchError:
            pass
        return None

    def _corrupt(self, damage: BadBatchError) -> ApiError:
        return ApiError(ErrorCode.CORRUPT_MESSAGE, f"{self.files.log.name} is damaged: {damage}")


def note_batch(header: BatchHeader, position: int, index: OffsetIndex, times: TimeIndex | None) -> None:
    """Note that a batch at `position` follows the last one noted."""
    is_indexed = index.note_batch(header.last_offset, position, header.size_bytes)
    if times is not None:
        times.note_batch(header.max_timestamp, header.last_offset)
        if is_indexed:
            times.add_entry()
