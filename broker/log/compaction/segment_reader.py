"""Reads the batches of sealed segments: checked, throttled, and one in memory at a time."""

from collections.abc import Iterator

from broker.common.errors import ApiError, ErrorCode
from broker.log.compaction.settings import CleanerSettings
from broker.log.compaction.throttle import Throttle
from broker.log.files import SharedFile, read_at
from broker.log.scan import BadBatchError, scan_batches
from broker.log.segment import Segment
from broker.records.batch import BatchHeader, crc_matches

#: No batch on disk is larger, because no request is (socket.request.max.bytes): more is damage, not worth reading.
BATCH_BYTES_MAX = 100 * 1024 * 1024


class SegmentReader:
    """Everything here raises ApiError(CORRUPT_MESSAGE), OSError, CleaningStopped."""

    def __init__(self, settings: CleanerSettings, throttle: Throttle):
        self.bytes_read = 0
        self._settings = settings
        self._throttle = throttle

    def batches(self, segment: Segment) -> Iterator[tuple[BatchHeader, bytes]]:
        """Yield all batches, each whole."""
        file = SharedFile(segment.files.log)
        for position, header in self._headers(segment, file):
            yield header, self._read(segment, file, position, header)

    def transactional_batches(self, segment: Segment) -> Iterator[tuple[BatchHeader, bytes | None]]:
        """Yield headers of transactional and control batches; the latter come with the batch."""
        file = SharedFile(segment.files.log)
        for position, header in self._headers(segment, file):
            if header.is_control:
                yield header, self._read(segment, file, position, header)
            elif header.is_transactional:
                yield header, None

    def _headers(self, segment: Segment, file: SharedFile) -> Iterator[tuple[int, BatchHeader]]:
        try:
            for position, header in scan_batches(file, 0, segment.size_bytes, segment.base_offset):
                self._settings.refuse_if_stopping()
                yield position, header
        except BadBatchError as damage:
            raise _corrupt(segment, str(damage)) from None

    def _read(self, segment: Segment, file: SharedFile, position: int, header: BatchHeader) -> bytes:
        if header.size_bytes > BATCH_BYTES_MAX:
            raise _corrupt(segment, f"a batch of {header.size_bytes} bytes at byte {position}")
        self._settings.pause(0)
        batch = read_at(file, position, header.size_bytes)
        self.bytes_read += len(batch)
        self._throttle.spend(len(batch))
        if len(batch) != header.size_bytes or not crc_matches(batch, header):
            raise _corrupt(segment, f"the CRC does not match at byte {position}")
        return batch


def _corrupt(segment: Segment, reason: str) -> ApiError:
    return ApiError(ErrorCode.CORRUPT_MESSAGE, f"{segment.files.log.name} is damaged: {reason}")


def count_records(segment: Segment, size_bytes: int, from_offset: int, settings: CleanerSettings) -> int:
    """Return the records in the first `size_bytes` of the segment, without batches that end before `from_offset`.

    Raises ApiError(CORRUPT_MESSAGE), OSError, CleaningStopped.
    """
    count = 0
    try:
        for _, header in scan_batches(SharedFile(segment.files.log), 0, size_bytes, segment.base_offset):
            settings.pause(0)
            count += header.records_count if header.next_offset > from_offset else 0
    except BadBatchError as damage:
        raise _corrupt(segment, str(damage)) from None
    return count
