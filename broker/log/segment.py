"""One piece of a log: `<base offset>.log` with whole batches back to back, and its sparse indexes by
offset (`.index`) and time (`.timeindex`).

The last segment of a log is active: open for writing, its indexes and its newest batches in memory. The others are
sealed and never change; they cost no descriptor and no memory until somebody reads them, and `release` gives both back.

Bytes beyond `size_bytes` do not exist for anybody: a write that failed half-way is overwritten by the next one, or cut
by recovery. Damage in the middle of a sealed segment is never skipped over: whoever reads there is told.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from broker.common.errors import ApiError
from broker.common.logs import logger
from broker.log.files import SharedFile, fsync_file, write_at
from broker.log.leader_epochs import LeaderEpochs
from broker.log.offset_index import ENTRY_BYTES, RELATIVE_OFFSET_MAX, OffsetIndex, load_index, store_index
from broker.log.recent_batches import RecentBatches
from broker.log.scan import BadBatchError, OldFormatError, scan_batches
from broker.log.segment_files import SegmentFiles
from broker.log.stored_segment import StoredSegment, note_batch
from broker.log.time_index import TIME_ENTRY_BYTES, TimeIndex, load_time_index, store_time_index
from broker.records.batch import LENGTH_PREFIX_BYTES, BatchHeader

_log = logger(__name__)


class SegmentExtent(NamedTuple):
    """How far the intact batches of a file reach, and what ended them if that was not the end of the file."""

    size_bytes: int
    next_offset: int
    damage: BadBatchError | None


class Segment(StoredSegment):
    """Invariant: the bytes before `size_bytes` are whole batches with increasing offsets from `base_offset` on."""

    __slots__ = ("next_offset", "recent")

    def __init__(self, directory: Path, base_offset: int, size_bytes: int, index_interval_bytes: int, suffix: str = ""):
        """Describe a sealed segment; nothing is opened. `suffix` stands behind the names of its files."""
        super().__init__(SegmentFiles(directory, base_offset, suffix), base_offset, size_bytes, index_interval_bytes)
        #: One past the last offset; meaningful while the segment is active.
        self.next_offset = base_offset
        self.recent = RecentBatches()

    @classmethod
    def create(cls, directory: Path, base_offset: int, index_interval_bytes: int, suffix: str = "") -> "Segment":
        """Create a new, empty, active segment. Raises OSError; then at most index files are left, which are ignored."""
        segment = cls(directory, base_offset, 0, index_interval_bytes, suffix)
        segment._index = OffsetIndex(base_offset, index_interval_bytes)
        segment._times = TimeIndex(base_offset)
        store_index(segment.files.index, segment._index)
        store_time_index(segment.files.time_index, segment._times)
        segment._file = SharedFile(segment.files.log, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        segment._is_active = True
        return segment

    # --- writing

    def has_room_for(self, size: int, last_offset: int, segment_bytes: int, segment_index_bytes: int) -> bool:
        """Return whether a batch may be added without file, indexes or relative offsets growing too large."""
        index = self._index
        assert index is not None
        return (
            self.size_bytes + size <= segment_bytes
            and last_offset - self.base_offset <= RELATIVE_OFFSET_MAX
            and (len(index.positions) + 1) * TIME_ENTRY_BYTES <= segment_index_bytes
        )

    def append(self, batch: bytes | bytearray | memoryview, last_offset: int, max_timestamp: int) -> None:
        """Write a batch that carries its final offsets at the end. Raises OSError, then readers see no change."""
        file, index, times = self._file, self._index, self._times
        assert file is not None
        assert index is not None
        assert times is not None
        position = self.size_bytes
        size = len(batch)
        write_at(file, batch, position)
        is_indexed = index.note_batch(last_offset, position, size)
        self.recent.append(last_offset, position)
        self.size_bytes = position + size
        self.next_offset = last_offset + 1
        if max_timestamp > times.max_timestamp:
            times.note_batch(max_timestamp, last_offset)
        if is_indexed:
            times.add_entry()

    def append_run(self, batches: memoryview, headers: Sequence[BatchHeader]) -> None:
        """Append the adjacent `batches` with these `headers` by one write, as `append`."""
        file, index, recent, times = self._file, self._index, self.recent, self._times
        assert file is not None
        assert index is not None
        assert times is not None
        position = self.size_bytes
        write_at(file, batches, position)
        for header in headers:
            size = header.batch_length + LENGTH_PREFIX_BYTES
            last_offset = header.base_offset + header.last_offset_delta
            recent.append(last_offset, position)
            is_indexed = index.note_batch(last_offset, position, size)
            times.note_batch(header.max_timestamp, last_offset)
            if is_indexed:
                times.add_entry()
            position += size
        self.size_bytes = position
        self.next_offset = last_offset + 1

    def cut_tail(self) -> None:
        """Remove from the file what is behind the last whole batch. Raises OSError."""
        file = self._file
        assert file is not None
        os.ftruncate(file.fd, self.size_bytes)

    def check_shortened(self, position: int) -> None:
        """Raise ApiError(CORRUPT_MESSAGE) if messages of an old format lie where `shorten` has to read batches.

        What was appended behind them could not be found, and the indexes would end in front of them.
        """
        index = self._index
        is_indexed = index is not None and self._times_to_shorten() is not None
        start = index.until(position).last_entry()[1] if index is not None and is_indexed else 0
        try:
            for _ in scan_batches(self.file, start, position, self.base_offset):
                pass
        except OldFormatError as error:
            raise self._corrupt(error) from None
        except BadBatchError:  # damage: `shorten` makes the indexes of what is in front of it
            return

    def shorten(self, position: int, next_offset: int) -> "Segment":
        """Cut the file at `position`, where a batch starts; the active segment that is left ends at `next_offset`.

        This one is of no more use then. Raises OSError; what is on disk then is whole batches still.
        """
        index, times = self._index, self._times_to_shorten()
        left = Segment(self.files.log.parent, self.base_offset, position, self._index_interval_bytes)
        os.ftruncate(left._open_active().fd, position)
        left.size_bytes = position
        left._take_indexes(index, times)
        left.size_bytes, left.next_offset = position, next_offset
        return left

    def _times_to_shorten(self) -> TimeIndex | None:
        try:
            return self._sound_times()
        except ApiError:
            return None

    def _take_indexes(self, index: OffsetIndex | None, times: TimeIndex | None) -> None:
        """Take over the part of `index` and `times` that the batches cover; rebuild them if it does not fit."""
        if index is None or times is None:
            self._rebuild_indexes()
            return
        self._index = index.until(self.size_bytes)
        self._times = times.until(self._index.last_entry()[0])
        if self._extend(self._index, self._times).damage is None:
            self.store_indexes()
        else:
            self._rebuild_indexes()

    def seal(self) -> None:
        """Refuse appends from now on."""
        times = self._times
        assert times is not None
        self.store_indexes()
        self._max_timestamp = times.max_timestamp
        self._is_active = False

    def flush(self) -> None:
        """Make the batches survive a power failure, and the indexes if this one is sealed: nobody who reads it later
        should have to make them anew.

        Raises OSError; what is safe is then unknown for good. Safe on another thread while the owner appends.
        """
        is_sealed = not self._is_active
        fsync_file(self._borrow_file())
        for path in (self.files.index, self.files.time_index) if is_sealed else ():
            if path.exists():
                fsync_file(SharedFile(path))

    def store_indexes(self) -> None:
        """Store the indexes. A failure does no harm: they are completed or rebuilt when they are next loaded."""
        index = self._index
        assert index is not None
        try:
            if self._times is not None:
                self._times.add_entry()
                store_time_index(self.files.time_index, self._times)
            store_index(self.files.index, index)
        except OSError as error:
            _log.warning("index not written", path=str(self.files.log), reason=str(error))

    def release(self) -> None:
        """Close the descriptor and drop the indexes; they are reopened when needed."""
        self._file = None
        self._index = None
        self._times = None
        self.recent = RecentBatches()

    # --- opening

    def recover(self, epochs: LeaderEpochs | None = None) -> BadBatchError | None:
        """Become active after an unclean stop: read every byte, keep what is intact, rebuild the indexes.

        `epochs` is made to agree with those of the batches.
        Returns what ended the intact part, None if that was the end of the file; `cut_tail` is next then. Raises
        OldFormatError, then no file has changed.
        """
        self._open_active()
        return self._rebuild_indexes(epochs, verify_crc=True)

    def resume(self) -> BadBatchError | None:
        """Become active after a clean stop, reading only what lies behind the last index entry.

        Returns damage if there is any; then only `recover` can tell where the intact part ends. Raises OldFormatError.
        """
        self._open_active()
        self._times = times = load_time_index(self.files.time_index, self.base_offset)
        if times is None or not len(times):
            return self._rebuild_indexes()
        _, extent = self._load_index(times)
        self.next_offset = extent.next_offset
        last = times.last_entry()
        if extent.damage is None and (last is None or self._position_of_time(last) is None):
            return self._rebuild_indexes()
        return extent.damage

    def _rebuild_indexes(self, epochs: LeaderEpochs | None = None, *, verify_crc: bool = False) -> BadBatchError | None:
        """Rebuild both indexes of the active segment from its intact batches, after which it then ends."""
        self._index = OffsetIndex(self.base_offset, self._index_interval_bytes)
        self._times = TimeIndex(self.base_offset)
        extent = self._extend(self._index, self._times, epochs, verify_crc=verify_crc)
        self.size_bytes, self.next_offset, damage = extent
        self.store_indexes()
        return damage

    def _open_active(self) -> SharedFile:
        self._is_active = True
        self._file = file = SharedFile(self.files.log, os.O_RDWR)
        self.size_bytes = file.size_bytes
        return file

    # --- reading

    @property
    def index_bytes(self) -> int:
        """The approximate size of its open index in memory."""
        return self.size_bytes // max(1, self._index_interval_bytes) * ENTRY_BYTES

    @property
    def index_interval_bytes(self) -> int:
        return self._index_interval_bytes

    def position_hint(self, offset: int) -> int | None:
        """Return where a search for `offset` would begin to read; None if the index would have to be read first."""
        return None if self._index is None else self._index.entry_for_offset(offset)[1]

    @property
    def file(self) -> SharedFile:
        """Opened when first asked for; whoever keeps it keeps it open."""
        if self._file is None:
            self._file = SharedFile(self.files.log, os.O_RDONLY)
        return self._file

    def position_of(self, offset: int) -> int:
        """Start of the first batch whose last offset is at least `offset`; `size_bytes` if there is none.

        Raises ApiError(CORRUPT_MESSAGE) if damage in the file is in the way.
        """
        if self._is_active and offset >= self.next_offset:
            return self.size_bytes
        position = self.recent.position_of(offset)
        if position is not None:
            return position
        return self._walk_with_sound_index(lambda index: self._walk_to_offset(index, offset))

    def headers_from(self, offset: int) -> Iterator[BatchHeader]:
        """Yield headers from the batch holding `offset`, or following it, on. Raises ApiError(CORRUPT_MESSAGE)."""
        try:
            for _, header in scan_batches(self.file, self.position_of(offset), self.size_bytes, self.base_offset):
                yield header
        except BadBatchError as damage:
            raise self._corrupt(damage) from None

    def boundary_within(self, start: int, max_bytes: int) -> int:
        """Return the end of the whole batches from `start` (a batch start) that fit into `max_bytes`; maybe `start`."""
        limit = start + max_bytes
        boundary = self.recent.boundary_not_above(limit)
        if boundary is not None and boundary >= start:
            return boundary
        return self._walk_with_sound_index(lambda index: self._walk_to_boundary(index, start, limit))

    def end_of_batch(self, start: int) -> int:
        """Return the end of the batch that begins at `start`."""
        try:
            _, header = next(scan_batches(self.file, start, self.size_bytes, self.base_offset))
        except BadBatchError as damage:
            raise self._corrupt(damage) from None
        return start + header.size_bytes

    def last_offset_before(self, end: int) -> int:
        """Return the last offset of the batch that ends at `end` (a batch boundary behind the segment's start)."""
        last_offset = self.recent.last_offset_before(end)
        if last_offset is not None:
            return last_offset
        return self._walk_with_sound_index(lambda index: self._walk_to_end(index, end))

    def _walk_to_end(self, index: OffsetIndex, end: int) -> int:
        last_offset = self.base_offset - 1
        for position, header in self._batches_from(*index.entry_for_position(end - 1)):
            if position >= end:
                break
            last_offset = header.last_offset
        return last_offset

    def _walk_to_offset(self, index: OffsetIndex, offset: int) -> int:
        for position, header in self._batches_from(*index.entry_for_offset(offset)):
            if header.last_offset >= offset:
                return position
        return self.size_bytes

    def _walk_to_boundary(self, index: OffsetIndex, start: int, limit: int) -> int:
        entry_offset: int | None
        entry_offset, first = index.entry_for_position(limit)
        if first <= start:
            entry_offset, first = None, start
        boundary = first
        try:
            for position, header in self._batches_from(entry_offset, first):
                if position + header.size_bytes > limit:
                    break
                boundary = position + header.size_bytes
        except BadBatchError as damage:
            if damage.position == first:
                raise
        return boundary

    def _batches_from(
        self, entry_offset: int | None, start: int, *, verify_crc: bool = False
    ) -> Iterator[tuple[int, BatchHeader]]:
        """Yield batches from an index entry on; BadBatchError also if the entry's batch is another one, or missing."""
        if start and entry_offset is not None and not 0 < start < self.size_bytes:
            raise BadBatchError(start, f"the index says {entry_offset} is there, the file has {self.size_bytes} bytes")
        batches = scan_batches(self.file, start, self.size_bytes, self.base_offset, verify_crc=verify_crc)
        for position, header in batches:
            if position == start > 0 and entry_offset is not None and header.last_offset != entry_offset:
                raise BadBatchError(position, f"offset {header.last_offset} where the index says {entry_offset}")
            yield position, header

    def _walk_with_sound_index(self, walk: Callable[[OffsetIndex], int]) -> int:
        """Walk by the index; if an entry is wrong, rebuild the index from the batches, once, and walk again."""
        try:
            index = self._index
            if index is None:
                index, _ = self._load_index()
            try:
                return walk(index)
            except BadBatchError as damage:
                if isinstance(damage, OldFormatError) or not index.is_read:
                    raise
                _log.warning("index rebuilt", path=str(self.files.index), reason=str(damage))
            index, _ = self._rebuild_index()
            return walk(index)
        except BadBatchError as damage:
            raise self._corrupt(damage) from None

    # --- the index

    def _load_index(self, times: TimeIndex | None = None) -> tuple[OffsetIndex, SegmentExtent]:
        """Load the index, completed from the batches behind its last entry; rebuilt if those do not fit it."""
        index = load_index(
            self.files.index, self.base_offset, self._index_interval_bytes, self.size_bytes, is_checked=False
        )
        entries = len(index)
        extent = self._extend(index, times)
        if extent.damage is not None and entries:
            return self._rebuild_index()
        self._index = index
        if len(index) > entries:
            self.store_indexes()
        return index, extent

    def _rebuild_index(self) -> tuple[OffsetIndex, SegmentExtent]:
        index = OffsetIndex(self.base_offset, self._index_interval_bytes)
        extent = self._extend(index)
        self._index = index
        self.store_indexes()
        return index, extent

    def _extend(
        self,
        index: OffsetIndex,
        times: TimeIndex | None = None,
        epochs: LeaderEpochs | None = None,
        *,
        verify_crc: bool = False,
    ) -> SegmentExtent:
        """Note in what is given all intact batches from the last entry of `index` on. Raises OldFormatError."""
        entry_offset, end = index.last_entry()
        next_offset = self.base_offset
        try:
            for position, header in self._batches_from(entry_offset, end, verify_crc=verify_crc):
                if header.last_offset - self.base_offset > RELATIVE_OFFSET_MAX:
                    raise BadBatchError(position, f"offset {header.last_offset} in the segment of {self.base_offset}")
                note_batch(header, position, index, times)
                if epochs is not None:
                    epochs.confirm(header.partition_leader_epoch, header.base_offset, header.last_offset)
                end, next_offset = position + header.size_bytes, header.next_offset
        except OldFormatError:
            raise
        except BadBatchError as damage:
            return SegmentExtent(end, next_offset, damage)
        return SegmentExtent(end, next_offset, None)
