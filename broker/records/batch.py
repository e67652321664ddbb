"""The header of a record batch, and the checks a batch from a client must pass before anything is written.

Format (magic 2, big endian, 61 bytes, then the records, compressed as a whole or not at all):

    base_offset int64 · batch_length int32 · partition_leader_epoch int32 · magic int8 · crc uint32 · attributes int16 ·
    last_offset_delta int32 · base_timestamp int64 · max_timestamp int64 · producer_id int64 · producer_epoch int16 ·
    base_sequence int32 · records_count int32

`batch_length` counts what follows it. The CRC-32C covers everything from `attributes` on, so a broker may set the base
offset and the leader epoch without touching it. Attributes: bits 0-2 compression, 3 timestamp type, 4 transactional,
5 control, 6 "base_timestamp is a delete horizon" (KIP-534, set by compaction only).

Only the header is judged here: a lie inside the (perhaps compressed) records is found by whoever decodes them. That is
what makes the check cost about a microsecond and no copy.
"""

import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from crc32c import crc32c

from broker.common.errors import ApiError, ErrorCode, RecordsRefused
from broker.common.types import new_tuple

HEADER_BYTES = 61
#: Bytes of a batch that `batch_length` does not count: base_offset and itself.
LENGTH_PREFIX_BYTES = 12
CURRENT_MAGIC = 2
NO_TIMESTAMP = -1
NO_PRODUCER_ID = -1
NO_SEQUENCE = -1

HEADER = struct.Struct(">qiibIhiqqqhii")
CRC = struct.Struct(">I")
CRC_AT = 17
CHECKED_FROM = 21

COMPRESSION_BITS = 0x07
LOG_APPEND_TIME_BIT = 0x08
TRANSACTIONAL_BIT = 0x10
CONTROL_BIT = 0x20
DELETE_HORIZON_BIT = 0x40

#: The smallest record there is: a length, attributes, two deltas, two nulls and no headers, a byte each.
RECORD_BYTES_MIN = 7

_MAGIC_AT = 16
_read_length = struct.Struct(">i").unpack_from
_write_place = struct.Struct(">qii").pack_into
_HEADER_LENGTH_MIN = HEADER_BYTES - LENGTH_PREFIX_BYTES
_RECORD_OVERHEAD = 14  #: of the oldest format, as Kafka names it

#: The byte of the attributes in which the bits are.
_ATTRIBUTES_LOW_AT = 22

assert HEADER.size == HEADER_BYTES


class Compression(IntEnum):
    """Codec ids as in the attributes of a batch."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


_CODEC_MAX = max(map(int, Compression))


class TimestampType(IntEnum):
    """Who set the timestamps of a batch."""

    CREATE_TIME = 0
    LOG_APPEND_TIME = 1


class BatchHeader(NamedTuple):
    """The 61 bytes in front of the records of a batch, as they stand; nothing has been checked."""

    base_offset: int
    batch_length: int
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records_count: int

    @property
    def size_bytes(self) -> int:
        """The whole batch, header included."""
        return LENGTH_PREFIX_BYTES + self.batch_length

    @property
    def last_offset(self) -> int:
        """Return the offset of the last record, inclusive."""
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        """The first offset after the batch."""
        return self.base_offset + self.last_offset_delta + 1

    @property
    def compression(self) -> Compression:
        """Raises ApiError(UNSUPPORTED_COMPRESSION_TYPE) for an id that is no codec."""
        codec = self.attributes & COMPRESSION_BITS
        if codec > Compression.ZSTD:
            raise ApiError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"compression codec {codec} does not exist")
        return Compression(codec)

    @property
    def timestamp_type(self) -> TimestampType:
        return TimestampType.LOG_APPEND_TIME if self.attributes & LOG_APPEND_TIME_BIT else TimestampType.CREATE_TIME

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & TRANSACTIONAL_BIT)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & CONTROL_BIT)


def is_transactional(batch: bytes | bytearray | memoryview) -> bool:
    """Return whether whoever sent the batch says so; of what is too short for one, no."""
    return len(batch) >= HEADER_BYTES and bool(batch[_ATTRIBUTES_LOW_AT] & TRANSACTIONAL_BIT)


def uses_zstd(batch: bytes | bytearray | memoryview) -> bool:
    """Whether the batch says that it is packed by ZStandard; of what is too short for one, no."""
    return len(batch) >= HEADER_BYTES and batch[_ATTRIBUTES_LOW_AT] & COMPRESSION_BITS == Compression.ZSTD


def parse_batch_header(buffer: bytes | bytearray | memoryview, at: int = 0) -> BatchHeader:
    """Return the header that starts at `at`. Raises ApiError(CORRUPT_MESSAGE) if fewer than 61 bytes are left there."""
    try:
        return new_tuple(BatchHeader, HEADER.unpack_from(buffer, at))
    except struct.error:
        raise _corrupt(f"{max(0, len(buffer) - at)} bytes are too few for the header of a record batch") from None


def iterate_headers(buffer: bytes | bytearray | memoryview) -> Iterator[tuple[int, BatchHeader]]:
    """Yield (position, header) of each whole batch in `buffer`; a batch that is cut off at the end is left out.

    Raises ApiError(CORRUPT_MESSAGE) for a length no batch can have. Magic and CRC are not looked at.
    """
    at = 0
    while at + HEADER_BYTES <= len(buffer):
        header = parse_batch_header(buffer, at)
        if header.batch_length < _HEADER_LENGTH_MIN:
            raise _corrupt(f"a batch at byte {at} says its length is {header.batch_length}")
        if at + header.size_bytes > len(buffer):
            return
        yield at, header
        at += header.size_bytes


def patch_batch(buffer: bytearray | memoryview, at: int, base_offset: int, leader_epoch: int) -> None:
    """Give the batch at `at` its place in a log, in the buffer itself. Neither field is covered by the CRC."""
    _write_place(buffer, at, base_offset, *_read_length(buffer, at + 8), leader_epoch)


def crc_matches(batch: bytes | bytearray | memoryview, header: BatchHeader) -> bool:
    """Return whether the CRC-32C of the batch at the start of `batch`, read in place, is the one in its header."""
    return crc32c(memoryview(batch)[CHECKED_FROM : header.size_bytes]) == header.crc


def check_produced_batch(buffer: bytes | bytearray | memoryview) -> BatchHeader:
    """Return the header of `buffer`, which a client wants to append, if it is exactly one intact batch a client may
    send.

    Raises ApiError with the code Kafka answers: CORRUPT_MESSAGE (damaged, cut off, CRC), INVALID_RECORD (none or
    several batches, old format, contradictions, things only a broker may write), INVALID_TIMESTAMP,
    UNSUPPORTED_COMPRESSION_TYPE. How far a timestamp may be from now is for the caller, who has a clock; so are
    sequence numbers, and the size limit of the topic.
    """
    size = len(buffer)
    if size < HEADER_BYTES:
        _refuse_short(buffer)
    header = new_tuple(BatchHeader, HEADER.unpack_from(buffer))
    _, length, _, magic, crc, attributes, delta, base_timestamp, max_timestamp, producer_id, _, _, count = header
    if magic != CURRENT_MAGIC:
        _refuse_magic(magic)
    if length + LENGTH_PREFIX_BYTES != size:
        _refuse_size(header, size)
    if crc32c(memoryview(buffer)[CHECKED_FROM:]) != crc:
        raise _corrupt("the CRC-32C of the record batch does not match its bytes")
    if producer_id >= 0 or not 0 <= attributes <= _CODEC_MAX:
        _check_attributes(header)
    if count <= 0 or delta != count - 1:
        raise _of_content(f"{count} records cannot have a last offset delta of {delta}")
    if count * RECORD_BYTES_MIN > length - _HEADER_LENGTH_MIN and not attributes & COMPRESSION_BITS:
        raise _of_content(f"{count} records cannot fit into {length - _HEADER_LENGTH_MIN} bytes")
    if base_timestamp < NO_TIMESTAMP or max_timestamp < base_timestamp:
        reason = f"base timestamp {base_timestamp} and max timestamp {max_timestamp} are not a range of times"
        raise _of_content(reason, ErrorCode.INVALID_TIMESTAMP)
    return header


def _refuse_short(buffer: bytes | bytearray | memoryview) -> None:
    size = len(buffer)
    if size == 0:
        raise _invalid("the partition's data holds no record batch")
    if size > _MAGIC_AT and buffer[_MAGIC_AT] in (0, 1):
        _refuse_magic(buffer[_MAGIC_AT])
    raise _corrupt(f"{size} bytes are too few for a record batch")


def _refuse_magic(magic: int) -> None:
    if magic in (0, 1):
        raise _invalid(f"message format {magic} is too old; send record batches (magic 2)")
    raise _corrupt(f"Invalid magic found in record: {magic}")


def _refuse_size(header: BatchHeader, size: int) -> None:
    if _HEADER_LENGTH_MIN <= header.batch_length < size - LENGTH_PREFIX_BYTES:
        raise _invalid(f"a record batch of {header.size_bytes} bytes is followed by more; send exactly one")
    if header.batch_length < _RECORD_OVERHEAD:
        least = f"less than the minimum record overhead ({_RECORD_OVERHEAD})"
        raise _corrupt(f"Record size {header.batch_length} is {least}")
    raise _corrupt(f"the record batch says its length is {header.batch_length} but {size} bytes were sent")


def _check_attributes(header: BatchHeader) -> None:
    attributes = header.attributes
    if attributes & COMPRESSION_BITS > Compression.ZSTD:
        raise ApiError(
            ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
            f"compression codec {attributes & COMPRESSION_BITS} does not exist",
        )
    if attributes & (CONTROL_BIT | DELETE_HORIZON_BIT):
        raise _of_content("only a broker may write control batches or delete horizons")
    if attributes & LOG_APPEND_TIME_BIT:
        raise _of_content("only a broker may set the timestamp type to LogAppendTime", ErrorCode.INVALID_TIMESTAMP)
    if header.producer_id < 0:
        if attributes & TRANSACTIONAL_BIT:
            raise _of_content("a transactional batch needs a producer id")
    elif header.base_sequence < 0 or header.producer_epoch < 0:
        raise _of_content(
            f"producer id {header.producer_id} comes with epoch {header.producer_epoch}"
            f" and sequence number {header.base_sequence}"
        )


def _corrupt(message: str) -> ApiError:
    return ApiError(ErrorCode.CORRUPT_MESSAGE, message)


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_RECORD, message)


def _of_content(message: str, code: ErrorCode = ErrorCode.INVALID_RECORD) -> ApiError:
    """Return what Kafka finds only when it looks into a batch for the log, whose first offset is answered then."""
    return RecordsRefused(code, message, {})
