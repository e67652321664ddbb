"""Old parts of a log that lie on the disk only: who would read them would wait for it.

`find_cold` asks the page cache without waiting; `ColdPart.fetch` does on a worker thread all the reading that a reader
will do, so that the reader then finds everything in memory. It shares nothing with the log but its files: the owner
goes on, and should files go meanwhile, the reader meets that as ever.
"""

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from broker.common.errors import ApiError, BarnabasError
from broker.log.files import SharedFile
from broker.log.segment import Segment

#: Between two looks into the page cache; the kernel reads ahead by as much.
_PROBE_BYTES = 128 * 1024
_READ_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True, eq=False)
class ColdPart:
    """About `length` bytes of a sealed segment, from the batch with `offset` on."""

    directory: Path
    base_offset: int
    size_bytes: int
    index_interval_bytes: int
    offset: int
    length: int

    def fetch(self) -> None:
        """Read the part into the page cache, and report errors to the reader. An index that is missing or does
        not fit the batches is made anew by the way.
        """
        segment = Segment(self.directory, self.base_offset, self.size_bytes, self.index_interval_bytes)
        with contextlib.suppress(OSError, ApiError):
            position = segment.position_of(self.offset)
            _read(segment.file, position, min(self.length, self.size_bytes - position))


class ColdReadError(BarnabasError):
    """Raised for a read from disk: `part` is to be fetched first, by a worker thread."""

    def __init__(self, part: ColdPart):
        super().__init__("the records lie on the disk only")
        self.part = part


def find_cold(segment: Segment, directory: Path, offset: int, length: int) -> ColdPart | None:
    """Return the part of the sealed `segment` that is not in the page cache as far as is known; None if all of
    it is.
    """
    start = segment.position_hint(offset)
    if start is not None and _is_resident(segment.file, start, min(start + length, segment.size_bytes)):
        return None
    return ColdPart(directory, segment.base_offset, segment.size_bytes, segment.index_interval_bytes, offset, length)


def _is_resident(file: SharedFile, start: int, end: int) -> bool:
    """Return whether the bytes are in the page cache, by samples; True where the file system does not say (tmpfs, for
    one).
    """
    page = [bytearray(1)]
    try:
        for position in range(start, end, _PROBE_BYTES):
            os.preadv(file.fd, page, position, os.RWF_NOWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _read(file: SharedFile, position: int, length: int) -> None:
    os.posix_fadvise(file.fd, position, length, os.POSIX_FADV_WILLNEED)
    piece = [bytearray(min(_READ_BYTES, max(1, length)))]
    end = position + length
    while position < end and (count := os.preadv(file.fd, piece, position)):
        position += count
