"""Records of many batches as columns of numbers, decoded in bulk: what is to be done is done for all of them at once.

Only where a record begins hangs on the one before it, so that is a loop; from there on each field of all records is
read by numpy. Keys and values stay where they are, as places in `payload`.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from broker.common.errors import ApiError, ErrorCode
from broker.records.batch import HEADER_BYTES, RECORD_BYTES_MIN, BatchHeader, TimestampType
from broker.records.compression import decompress
from broker.records.varint import read_varint

#: Records of one batch: each takes some 200 bytes while it is decoded, and seven in the batch.
BATCH_RECORDS_MAX = 1_000_000
#: Zeros behind the payload: a field cut off at its very end is read as zeros and found out, not out of the buffer.
_PADDING = bytes(16)
_VARINT_SHIFT_MAX = 63


#: A header, and the records behind it without compression.
Unpacked = tuple[BatchHeader, memoryview]


class RecordColumns(NamedTuple):
    """One row for each record. A length of -1 is null; `headers_at` is behind the count of headers."""

    payload: bytes
    offset: np.ndarray
    timestamp_ms: np.ndarray
    timestamp_type: np.ndarray
    key_at: np.ndarray
    key_length: np.ndarray
    value_at: np.ndarray
    value_length: np.ndarray
    headers_count: np.ndarray
    headers_at: np.ndarray
    end_at: np.ndarray

    def between(self, start: int, end: int) -> "RecordColumns":
        """Return the records with offsets from `start` up to, not including, `end`."""
        first, last = np.searchsorted(self.offset, (start, end))
        return self.rows(int(first), int(last))

    def rows(self, first: int, last: int) -> "RecordColumns":
        """Return the rows from `first` up to, not including, `last`."""
        if first == 0 and last == len(self.offset):
            return self
        return RecordColumns(self.payload, *(column[first:last] for column in self[1:]))


def unpack(header: BatchHeader, batch: memoryview) -> Unpacked:
    """Return the batch with its records unpacked. Raises ApiError(CORRUPT_MESSAGE) if they cannot be, or are too
    many.
    """
    payload = decompress(header.compression, batch[HEADER_BYTES : header.size_bytes])
    if header.records_count > BATCH_RECORDS_MAX:
        raise _corrupt(f"a batch of {header.records_count} records; {BATCH_RECORDS_MAX} are read of one")
    if header.records_count * RECORD_BYTES_MIN > len(payload):
        raise _corrupt(f"{header.records_count} whole records do not fit into {len(payload)} bytes")
    return header, payload


def decode_columns(batches: Iterable[Unpacked]) -> RecordColumns:
    """Decode all records of the batches, in order. Raises ApiError(CORRUPT_MESSAGE) for inconsistent records."""
    headers, payloads = [], []
    for header, unpacked in batches:
        headers.append(header)
        payloads.append(unpacked)
    payload = b"".join((*payloads, _PADDING))
    begins = _find_records(payload, headers, [len(payload) for payload in payloads])
    try:
        return _read_fields(payload, begins, headers)
    except IndexError:
        raise _corrupt("a record runs past the end of its batch") from None


def _find_records(payload: bytes, headers: list[BatchHeader], sizes: list[int]) -> np.ndarray:
    """Find where each record begins, its length first."""
    begins: list[int] = []
    at = 0
    for header, size in zip(headers, sizes, strict=True):
        end = at + size
        before = len(begins)
        for _ in range(header.records_count):
            if at >= end:
                break
            begins.append(at)
            first, second = payload[at], payload[at + 1]
            if first < 0x80:
                at += 1 + (first >> 1)
            elif second < 0x80:
                at += 2 + ((first & 0x7F | second << 7) >> 1)
            else:
                length, at = read_varint(payload, at)
                if length < 0:
                    raise _corrupt(f"a record says its length is {length}")
                at += length
        if at != end or len(begins) - before != header.records_count:
            raise _corrupt(
                f"the batch at offset {header.base_offset} does not hold {header.records_count} whole records"
            )
    return np.array(begins, np.int64)


def _read_fields(payload: bytes, begins: np.ndarray, headers: list[BatchHeader]) -> RecordColumns:
    buffer = np.frombuffer(payload, np.uint8)
    length, at = _read_varints(buffer, begins)
    end_at = at + length
    timestamp_delta, at = _read_varints(buffer, at + 1)
    offset_delta, at = _read_varints(buffer, at)
    key_length, key_at = _read_varints(buffer, at)
    value_length, value_at = _read_varints(buffer, key_at + np.maximum(key_length, 0))
    headers_count, headers_at = _read_varints(buffer, value_at + np.maximum(value_length, 0))
    counts = [header.records_count for header in headers]
    _check_lengths(key_length, value_length, headers_count)
    if np.any(headers_at > end_at) or np.any((headers_at != end_at) & (headers_count == 0)):
        raise _corrupt("the fields of a record are not as long as the record")
    offset = _of_batch(headers, counts, "base_offset") + offset_delta
    if np.any(offset[1:] <= offset[:-1]):
        raise _corrupt("the offsets of records do not ascend")
    return RecordColumns(
        payload=payload,
        offset=offset,
        timestamp_ms=_timestamps(headers, counts, timestamp_delta),
        timestamp_type=np.repeat(np.array([header.timestamp_type for header in headers], np.int32), counts),
        key_at=key_at,
        key_length=key_length,
        value_at=value_at,
        value_length=value_length,
        headers_count=headers_count,
        headers_at=headers_at,
        end_at=end_at,
    )


def _timestamps(headers: list[BatchHeader], counts: list[int], delta: np.ndarray) -> np.ndarray:
    created: np.ndarray = _of_batch(headers, counts, "base_timestamp") + delta
    appended = [header.timestamp_type is TimestampType.LOG_APPEND_TIME for header in headers]
    if not any(appended):
        return created
    times: np.ndarray = np.where(np.repeat(appended, counts), _of_batch(headers, counts, "max_timestamp"), created)
    return times


def _of_batch(headers: list[BatchHeader], counts: list[int], name: str) -> np.ndarray:
    return np.repeat(np.array([getattr(header, name) for header in headers], np.int64), counts)


def _check_lengths(key_length: np.ndarray, value_length: np.ndarray, headers_count: np.ndarray) -> None:
    if len(key_length) and min(key_length.min(), value_length.min(), headers_count.min() - 1) < -1:
        raise _corrupt("a field of a record says its length is negative")


def _read_varints(buffer: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the zigzag number at each place, and the place behind it. Places must not be negative."""
    byte = buffer[at]
    after = at + 1
    raw = (byte & 0x7F).astype(np.uint64)
    longer = np.flatnonzero(byte & 0x80)
    shift = 7
    while longer.size:
        if shift > _VARINT_SHIFT_MAX:
            raise _corrupt("a variable-length integer is longer than ten bytes")
        byte = buffer[after[longer]]
        raw[longer] |= (byte & 0x7F).astype(np.uint64) << np.uint64(shift)
        after[longer] += 1
        longer = longer[byte >= 0x80]
        shift += 7
    return (raw >> np.uint64(1)).astype(np.int64) ^ -(raw & np.uint64(1)).astype(np.int64), after


def _corrupt(message: str) -> ApiError:
    return ApiError(ErrorCode.CORRUPT_MESSAGE, message)
