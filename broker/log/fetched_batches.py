"""What a follower makes of the bytes a leader sent: which batches are new, and whether all of them are what they say.

Nothing here changes a batch. A follower must end up with the leader's bytes, so whatever does not fit is refused, and
the whole answer with it.
"""

from typing import NamedTuple

from crc32c import crc32c

from broker.common.errors import ApiError, ErrorCode
from broker.records.batch import (
    CHECKED_FROM,
    COMPRESSION_BITS,
    CURRENT_MAGIC,
    HEADER,
    HEADER_BYTES,
    LENGTH_PREFIX_BYTES,
    RECORD_BYTES_MIN,
    BatchHeader,
)


class FetchedBatches(NamedTuple):
    """The batches that a log does not have yet: `headers` of all that lie from byte `start` to byte `end`."""

    headers: list[BatchHeader]
    start: int
    end: int


def check_fetched_batches(buffer: memoryview, log_end_offset: int, leader_epoch: int) -> FetchedBatches:
    """Judge `buffer`, whole batches and perhaps the beginning of one more, for a log that ends at `log_end_offset`.

    Batches below that are left out, and so is the one that is cut off at the end. Offsets may leave gaps, as compaction
    does. Raises ApiError(CORRUPT_MESSAGE): damage, offsets that go back or begin below the log's end and reach beyond
    it, a leader epoch below `leader_epoch` (the log's last) or below the batch before, or not one whole batch.
    """
    headers: list[BatchHeader] = []
    size, at, start, next_offset = len(buffer), 0, 0, 0
    while size - at >= HEADER_BYTES:
        header = BatchHeader._make(HEADER.unpack_from(buffer, at))
        end = at + header.batch_length + LENGTH_PREFIX_BYTES
        if header.magic != CURRENT_MAGIC or header.base_offset < next_offset or not _has_possible_counts(header):
            raise _explain(header, next_offset)
        if end > size:
            break
        next_offset = header.base_offset + header.last_offset_delta + 1
        if next_offset <= log_end_offset:
            start = end
        else:
            if header.base_offset < log_end_offset:
                raise _corrupt(header, f"reaches over the end of the log, {log_end_offset}")
            if header.partition_leader_epoch < leader_epoch:
                raise _corrupt(header, f"has leader epoch {header.partition_leader_epoch} after {leader_epoch}")
            if crc32c(buffer[at + CHECKED_FROM : end]) != header.crc:
                raise _corrupt(header, "does not match its CRC-32C")
            leader_epoch = header.partition_leader_epoch
            headers.append(header)
        at = end
    if size and not at:
        raise ApiError(ErrorCode.CORRUPT_MESSAGE, f"the leader sent {size} bytes without one whole batch")
    return FetchedBatches(headers, start, at)


def _has_possible_counts(header: BatchHeader) -> bool:
    """Return whether the counts are possible: compaction removes records of a batch, perhaps all, and leaves its
    offsets.
    """
    room = header.batch_length - (HEADER_BYTES - LENGTH_PREFIX_BYTES)
    count = header.records_count
    if room < 0 or header.last_offset_delta < 0 or not 0 <= count <= header.last_offset_delta + 1:
        return False
    return bool(header.attributes & COMPRESSION_BITS) or count * RECORD_BYTES_MIN <= room


def _explain(header: BatchHeader, next_offset: int) -> ApiError:
    if header.magic != CURRENT_MAGIC:
        return _corrupt(header, f"has magic byte {header.magic}")
    if header.base_offset < next_offset:
        return _corrupt(header, f"follows offset {next_offset - 1}")
    return _corrupt(
        header,
        f"says it has {header.records_count} records, a last offset delta of {header.last_offset_delta}"
        f" and a length of {header.batch_length}",
    )


def _corrupt(header: BatchHeader, what: str) -> ApiError:
    return ApiError(ErrorCode.CORRUPT_MESSAGE, f"the fetched batch at offset {header.base_offset} {what}")
