"""One piece of a log: `<base offset>.log` with whole batches back to back, and its sparse `<base offset>.index`.

The last segment of a log is active: open for writing, its index and its newest batches in memory. The others are sealed
and never change; they cost no descriptor and no memory until somebody reads them, and `release` gives both back.

Bytes beyond `size_bytes` do not exist for anybody: a write that failed half-way is overwritten by the next one, or cut
by recovery. Damage in the middle of a sealed segment is never skipped over: whoever reads there is told.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from broker.common.errors import ApiError, ErrorCode
from broker.common.logs import logger
from broker.log.files import OpenFile, fsync_file, read_at, write_at
from broker.log.offset_index import RELATIVE_OFFSET_MAX, OffsetIndex, load_index, store_index
from broker.log.recent_batches import RecentBatches
from broker.log.scan import BadBatchError, scan_batches
from broker.records.batch import NO_TIMESTAMP, BatchHeader

LOG_SUFFIX = ".log"
INDEX_SUFFIX = ".index"

_log = logger(__name__)


def segment_path(directory: Path, base_offset: int, suffix: str) -> Path:
    return directory / f"{base_offset:020d}{suffix}"


class Extent(NamedTuple):
    """How far the intact batches of a file reach, and what ended them if that was not the end of the file."""

    size_bytes: int
    next_offset: int
    max_timestamp: int
    damage: BadBatchError | None


class Segment:
    """Invariant: the bytes before `size_bytes` are whole batches with increasing offsets from `base_offset` on."""

    __slots__ = (
        "_file",
        "_index",
        "_index_interval_bytes",
        "_index_path",
        "_is_active",
        "_max_timestamp",
        "_path",
        "_recent",
        "base_offset",
        "next_offset",
        "size_bytes",
    )

    def __init__(self, directory: Path, base_offset: int, size_bytes: int, index_interval_bytes: int):
        """A sealed segment; nothing is opened."""
        self.base_offset = base_offset
        self.size_bytes = size_bytes
        #: One past the last offset; meaningful while the segment is active.
        self.next_offset = base_offset
        self._path = segment_path(directory, base_offset, LOG_SUFFIX)
        self._index_path = segment_path(directory, base_offset, INDEX_SUFFIX)
        self._index_interval_bytes = index_interval_bytes
        self._is_active = False
        self._file: OpenFile | None = None
        self._index: OffsetIndex | None = None
        self._recent = RecentBatches()
        #: None while nobody has looked.
        self._max_timestamp: int | None = None

    @classmethod
    def create(cls, directory: Path, base_offset: int, index_interval_bytes: int) -> "Segment":
        """A new, empty, active segment. Raises OSError, then at most an index file is left, which means nothing."""
        segment = cls(directory, base_offset, 0, index_interval_bytes)
        segment._index = OffsetIndex(base_offset, index_interval_bytes)
        segment._max_timestamp = NO_TIMESTAMP
        store_index(segment._index_path, segment._index)
        segment._file = OpenFile(segment._path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        segment._is_active = True
        return segment

    # --- writing

    def has_room_for(self, size: int, last_offset: int, segment_bytes: int) -> bool:
        return self.size_bytes + size <= segment_bytes and last_offset - self.base_offset <= RELATIVE_OFFSET_MAX

    def append(self, batch: bytes | bytearray | memoryview, last_offset: int, max_timestamp: int) -> None:
        """Write a batch that carries its final offsets at the end. Raises OSError, then readers see no change."""
        position = self.size_bytes
        size = len(batch)
        write_at(self._file, batch, position)
        self._index.note_batch(last_offset, position, size)
        self._recent.append(last_offset, position)
        self.size_bytes = position + size
        self.next_offset = last_offset + 1
        if self._max_timestamp is not None and max_timestamp > self._max_timestamp:
            self._max_timestamp = max_timestamp

    def cut_tail(self) -> None:
        """Remove from the file what is behind the last whole batch. Raises OSError."""
        os.ftruncate(self._file.fd, self.size_bytes)

    def seal(self) -> None:
        """No more appends; the index has been stored."""
        self._is_active = False

    def flush(self) -> None:
        """Make the batches survive a power failure. Raises OSError; what is safe is then unknown for good."""
        fsync_file(self.file)
        if self._is_active:
            self.store_index()

    def store_index(self) -> None:
        """An index that cannot be written is no harm: it is completed when it is next loaded."""
        try:
            store_index(self._index_path, self._index)
        except OSError as error:
            _log.warning("index not written", path=str(self._index_path), reason=str(error))

    def release(self) -> None:
        """Let go of the descriptor and the index; both come back when needed."""
        self._file = None
        self._index = None
        self._recent = RecentBatches()

    # --- opening

    def recover(self) -> BadBatchError | None:
        """Become active after an unclean stop: read every byte, keep what is intact, rebuild the index.

        Returns what ended the intact part, None if that was the end of the file. The file is cut there.
        """
        self._open_active()
        index = OffsetIndex(self.base_offset, self._index_interval_bytes)
        extent = self._extend(index, verify_crc=True)
        self._index = index
        self.size_bytes, self.next_offset, self._max_timestamp, damage = extent
        if damage is not None:
            self.cut_tail()
        self.store_index()
        return damage

    def resume(self) -> BadBatchError | None:
        """Become active after a clean stop, reading only what lies behind the last index entry.

        Returns damage if there is any; then only `recover` can tell where the intact part ends.
        """
        self._open_active()
        extent = self._load_index()
        self.next_offset = extent.next_offset
        return extent.damage

    def check_index(self) -> BadBatchError | None:
        """Read the index and the batches after its last entry, repair the index if needed; returns what is damaged."""
        damage = self._load_index().damage
        self.release()
        return damage

    def _open_active(self) -> None:
        self._is_active = True
        self._file = OpenFile(self._path, os.O_RDWR)
        self.size_bytes = self._file.size_bytes

    # --- reading

    @property
    def file(self) -> OpenFile:
        """Opened when first asked for; whoever keeps it keeps it open."""
        if self._file is None:
            self._file = OpenFile(self._path, os.O_RDONLY)
        return self._file

    def _borrow_file(self) -> OpenFile:
        return self._file or OpenFile(self._path)

    def position_of(self, offset: int) -> int:
        """Start of the first batch whose last offset is at least `offset`; `size_bytes` if there is none.

        Raises ApiError(CORRUPT_MESSAGE) if damage in the file is in the way.
        """
        if self._is_active and offset >= self.next_offset:
            return self.size_bytes
        position = self._recent.position_of(offset)
        if position is not None:
            return position
        return self._walk_with_sound_index(lambda: self._walk_to_offset(offset))

    def boundary_within(self, start: int, max_bytes: int) -> int:
        """Where the whole batches that begin at `start` (a batch start) and fit into `max_bytes` end; maybe `start`."""
        limit = start + max_bytes
        boundary = self._recent.boundary_not_above(limit)
        if boundary is not None and boundary >= start:
            return boundary
        return self._walk_with_sound_index(lambda: self._walk_to_boundary(start, limit))

    def end_of_batch(self, start: int) -> int:
        """Where the batch that begins at `start` ends."""
        try:
            _, header = next(scan_batches(self.file, start, self.size_bytes, self.base_offset))
        except BadBatchError as damage:
            raise self._corrupt(damage) from None
        return start + header.size_bytes

    def batches(self) -> Iterator[tuple[int, BatchHeader]]:
        """(position, header) of all batches. Raises ApiError(CORRUPT_MESSAGE) where the file is damaged.

        Like `max_timestamp` and `read_batch`, safe on another thread than the owner's, and leaves nothing open.
        """
        try:
            yield from scan_batches(self._borrow_file(), 0, self.size_bytes, self.base_offset)
        except BadBatchError as damage:
            raise self._corrupt(damage) from None

    def read_batch(self, position: int, header: BatchHeader) -> bytes:
        return read_at(self._borrow_file(), position, header.size_bytes)

    @property
    def max_timestamp(self) -> int:
        """The largest timestamp, -1 if the segment has none. Reads every header if nobody has asked before."""
        if self._max_timestamp is None:
            self._max_timestamp = max((header.max_timestamp for _, header in self.batches()), default=NO_TIMESTAMP)
        return self._max_timestamp

    def _walk_to_offset(self, offset: int) -> int:
        for position, header in self._batches_from(*self._index.entry_for_offset(offset)):
            if header.last_offset >= offset:
                return position
        return self.size_bytes

    def _walk_to_boundary(self, start: int, limit: int) -> int:
        entry_offset, first = self._index.entry_for_position(limit)
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
        """From an index entry on; BadBatchError also if the entry's batch is not the one that is there."""
        batches = scan_batches(self.file, start, self.size_bytes, self.base_offset, verify_crc=verify_crc)
        for position, header in batches:
            if position == start > 0 and entry_offset is not None and header.last_offset != entry_offset:
                raise BadBatchError(position, f"offset {header.last_offset} where the index says {entry_offset}")
            yield position, header

    def _walk_with_sound_index(self, walk: Callable[[], int]) -> int:
        """An entry of an index file may lie; then the index is rebuilt from the batches, once, and asked again."""
        if self._index is None:
            self._load_index()
        try:
            return walk()
        except BadBatchError as damage:
            if not self._index.is_read:
                raise self._corrupt(damage) from None
            _log.warning("index rebuilt", path=str(self._index_path), reason=str(damage))
        self._rebuild_index()
        try:
            return walk()
        except BadBatchError as damage:
            raise self._corrupt(damage) from None

    # --- the index

    def _load_index(self) -> Extent:
        """From its file, completed from the batches behind its last entry; rebuilt if those do not fit it."""
        index = load_index(self._index_path, self.base_offset, self._index_interval_bytes, self.size_bytes)
        entries = len(index)
        extent = self._extend(index)
        if extent.damage is not None and entries:
            return self._rebuild_index()
        self._index = index
        if len(index) > entries:
            self.store_index()
        return extent

    def _rebuild_index(self) -> Extent:
        index = OffsetIndex(self.base_offset, self._index_interval_bytes)
        extent = self._extend(index)
        self._index = index
        self.store_index()
        return extent

    def _extend(self, index: OffsetIndex, *, verify_crc: bool = False) -> Extent:
        """Note in `index` all intact batches from its last entry on."""
        entry_offset, end = index.last_entry()
        next_offset, max_timestamp = self.base_offset, NO_TIMESTAMP
        try:
            for position, header in self._batches_from(entry_offset, end, verify_crc=verify_crc):
                if header.last_offset - self.base_offset > RELATIVE_OFFSET_MAX:
                    raise BadBatchError(position, f"offset {header.last_offset} in the segment of {self.base_offset}")
                index.note_batch(header.last_offset, position, header.size_bytes)
                end, next_offset = position + header.size_bytes, header.next_offset
                max_timestamp = max(max_timestamp, header.max_timestamp)
        except BadBatchError as damage:
            return Extent(end, next_offset, max_timestamp, damage)
        return Extent(end, next_offset, max_timestamp, None)

    def _corrupt(self, damage: BadBatchError) -> ApiError:
        return ApiError(ErrorCode.CORRUPT_MESSAGE, f"{self._path.name} is damaged: {damage}")
