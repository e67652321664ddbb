"""Walks the batches of a segment file from one known batch start, checking each, with bounded memory.

Two uses: recovery (with CRC, from the start, up to the first bad byte) and finding a batch between two index entries
(headers only). A length read from a file is never trusted further than the file's end, and a batch is never held in
memory whole unless it fits the window.
"""

import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from zlib import crc32

from crc32c import crc32c

from broker.common.errors import BarnabasError
from broker.log.files import SharedFile, read_at
from broker.records.batch import CHECKED_FROM, CURRENT_MAGIC, HEADER_BYTES, BatchHeader, parse_batch_header

_HEADERS_WINDOW_BYTES = 8 * 1024
_CRC_WINDOW_BYTES = 1024 * 1024

#: Of formats 0 and 1: offset int64, size int32 of what follows, CRC-32 uint32 of what follows it, magic int8.
_OLD_HEAD = struct.Struct(">qiIb")
_OLD_SIZE_PREFIX_BYTES = 12
_OLD_CHECKED_FROM = 16
#: CRC, magic, attributes, and the lengths of key and value.
_OLD_MESSAGE_BYTES_MIN = 14
_OLD_MAGICS = (0, 1)


class BadBatchError(BarnabasError):
    """There is no intact batch at `position` of a segment file that fits; the message says what is wrong."""

    def __init__(self, position: int, reason: str):
        super().__init__(f"{reason} at byte {position}")
        self.position = position
        self.reason = reason


class OldFormatError(BadBatchError):
    """There is an intact message of format 0 or 1 at `position`, as Kafka before 0.11 wrote them: no damage."""


def scan_batches(
    file: SharedFile, start: int, end: int, next_offset: int, *, verify_crc: bool = False
) -> Iterator[tuple[int, BatchHeader]]:
    """Yield (position, header) of every batch from `start` to `end`; the first must not begin before `next_offset`.

    Offsets must increase; they may leave gaps, as compaction does. Raises BadBatchError at the first bad byte,
    OldFormatError at a message of an old format; before the file, where an index may send us, there is none: asked for
    it, the system would speak of the disk.
    """
    if start < 0:
        raise BadBatchError(start, "an index says that a batch is there")
    window = _ScanWindow(file, end, _CRC_WINDOW_BYTES if verify_crc else _HEADERS_WINDOW_BYTES)
    position = start
    while position < end:
        header = _intact_header(window, position, next_offset)
        if verify_crc and window.checksum(position + CHECKED_FROM, position + header.size_bytes) != header.crc:
            raise BadBatchError(position, "the CRC does not match")
        yield position, header
        position += header.size_bytes
        next_offset = header.next_offset


def _intact_header(window: "_ScanWindow", position: int, next_offset: int) -> BatchHeader:
    if window.end - position < HEADER_BYTES:
        _refuse_old_format(window, position)
        raise BadBatchError(position, f"{window.end - position} bytes are too few for a header")
    header = parse_batch_header(window.bytes_from(position, HEADER_BYTES))
    if header.magic != CURRENT_MAGIC:
        _refuse_old_format(window, position)
        raise BadBatchError(position, f"magic byte {header.magic}")
    if header.size_bytes < HEADER_BYTES:
        raise BadBatchError(position, f"batch length {header.batch_length}")
    if position + header.size_bytes > window.end:
        raise BadBatchError(position, f"a batch of {header.size_bytes} bytes is cut off")
    if header.base_offset < next_offset or header.last_offset_delta < 0:
        raise BadBatchError(position, f"offsets {header.base_offset} to {header.last_offset} after {next_offset - 1}")
    return header


def _refuse_old_format(window: "_ScanWindow", position: int) -> None:
    """Raise OldFormatError if the message at `position` is of an old format, and its CRC matches."""
    if window.end - position < _OLD_HEAD.size:
        return
    _, size, crc, magic = _OLD_HEAD.unpack(window.bytes_from(position, _OLD_HEAD.size))
    stop = position + _OLD_SIZE_PREFIX_BYTES + size
    if magic not in _OLD_MAGICS or size < _OLD_MESSAGE_BYTES_MIN or stop > window.end:
        return
    if window.checksum(position + _OLD_CHECKED_FROM, stop, crc32) == crc:
        raise OldFormatError(position, f"a message of format {magic}, which Kafka before 0.11 wrote,")


def find_old_format(path: Path) -> OldFormatError | None:
    """Return the error of a file that begins with a message of an old format, None for any other. Raises OSError."""
    file = SharedFile(path)
    try:
        head = read_at(file, 0, _OLD_HEAD.size)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    if len(head) < _OLD_HEAD.size or head[-1] not in _OLD_MAGICS:
        return None
    try:
        _refuse_old_format(_ScanWindow(file, file.size_bytes, _HEADERS_WINDOW_BYTES), 0)
    except OldFormatError as error:
        return error
    return None


class _ScanWindow:
    """A piece of the file in memory, moved forward as needed; never reads beyond `end`."""

    def __init__(self, file: SharedFile, end: int, size_bytes: int):
        self.end = end
        self._file = file
        self._size_bytes = size_bytes
        self._start = 0
        self._data = memoryview(b"")

    def bytes_from(self, position: int, length: int) -> memoryview:
        """Return `length` bytes, at most the window's size. Raises BadBatchError if the file is shorter than
        expected.
        """
        at = position - self._start
        if at < 0 or at + length > len(self._data):
            self._start, at = position, 0
            wanted = min(self._size_bytes, self.end - position)
            self._data = memoryview(read_at(self._file, position, wanted))
            if length > len(self._data):
                raise BadBatchError(position, f"the file ends before byte {position + length}")
        return self._data[at : at + length]

    def checksum(self, start: int, stop: int, function: Callable[[memoryview, int], int] = crc32c) -> int:
        crc = 0
        while start < stop:
            length = min(stop - start, self._size_bytes)
            crc = function(self.bytes_from(start, length), crc)
            start += length
        return crc
