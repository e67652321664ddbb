"""Where the records of a batch lie in its uncompressed bytes, and what compaction needs of each.

Values and headers are never copied: a record that stays is a slice of what was there.
"""

from collections.abc import Iterator
from math import inf
from typing import NamedTuple

from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import DECOMPRESSED_BYTES_MAX
from broker.records.batch import HEADER_BYTES, BatchHeader, TimestampType
from broker.records.compression import decompress
from broker.records.record import INT64_MAX, INT64_MIN, check_records_count
from broker.records.varint import read_varint


class RecordSpan(NamedTuple):
    """One record, `start` to `end`, its length field included; what follows the timestamp begins at `rest_at`."""

    start: int
    rest_at: int
    end: int
    timestamp_delta: int
    offset: int
    key: bytes | None
    is_tombstone: bool


def unpack_batch(header: BatchHeader, batch: bytes | bytearray | memoryview) -> tuple[bytes, list[RecordSpan]]:
    """Return the uncompressed records and the span of each. Raises ApiError if they cannot be decoded within the
    limits.

    INVALID_TIMESTAMP is for times that no header could tell.
    """
    payload = unpack_records(header, batch)
    return payload, list(record_spans(header, payload))


def unpack_records(
    header: BatchHeader, batch: bytes | bytearray | memoryview, decompressed_bytes_max: int = DECOMPRESSED_BYTES_MAX
) -> bytes:
    """Return the uncompressed records. Raises ApiError(CORRUPT_MESSAGE) if they cannot be had within the limits."""
    check_records_count(header)
    stored = memoryview(batch)[HEADER_BYTES : header.size_bytes]
    return bytes(decompress(header.compression, stored, decompressed_bytes_max))


def record_spans(header: BatchHeader, payload: bytes) -> Iterator[RecordSpan]:
    """Yield the span of each record, in offset order.

    Raises ApiError(CORRUPT_MESSAGE, INVALID_TIMESTAMP) for records that contradict the header.
    """
    at, offset_before, count = 0, header.base_offset - 1, 0
    lowest, highest = _times_told_by(header)
    try:
        while at < len(payload):
            span = _read_span(header, payload, at)
            if not offset_before < span.offset <= header.last_offset:
                raise _corrupt(f"offset {span.offset} of a record does not fit between its neighbours")
            if not lowest <= span.timestamp_delta <= highest:
                reason = f"timestamp {header.base_timestamp + span.timestamp_delta} of a record is no 64-bit number"
                raise ApiError(ErrorCode.INVALID_TIMESTAMP, reason)
            offset_before, at, count = span.offset, span.end, count + 1
            if count > header.records_count:
                break
            yield span
    except IndexError:
        raise _corrupt("a record runs past the end of its batch") from None
    if count != header.records_count:
        raise _corrupt(f"the batch holds {count} records and says {header.records_count}")


def _times_told_by(header: BatchHeader) -> tuple[float, float]:
    """Return the smallest and largest difference to the header's time; that of the append is for all records."""
    if header.timestamp_type is TimestampType.LOG_APPEND_TIME:
        return -inf, inf
    return INT64_MIN - header.base_timestamp, INT64_MAX - header.base_timestamp


def _read_span(header: BatchHeader, payload: bytes, start: int) -> RecordSpan:
    length, at = read_varint(payload, start)
    end = at + length
    if length < 0 or end > len(payload):
        raise _corrupt(f"a record says its length is {length}")
    timestamp_delta, rest_at = read_varint(payload, at + 1)
    offset_delta, at = read_varint(payload, rest_at)
    key_length, at = read_varint(payload, at)
    key = None
    if key_length >= 0:
        key = payload[at : at + key_length]
        at += key_length
    value_length, at = read_varint(payload, at)
    if key_length < -1 or value_length < -1 or at + max(0, value_length) >= end:
        raise _corrupt("a field of a record does not fit into it")
    return RecordSpan(start, rest_at, end, timestamp_delta, header.base_offset + offset_delta, key, value_length < 0)


def _corrupt(message: str) -> ApiError:
    return ApiError(ErrorCode.CORRUPT_MESSAGE, message)
