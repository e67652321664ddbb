"""The records inside a batch, for those who must look: coordinators, timestamp look-ups, compaction.

A record is: length varint · attributes int8 (unused) · timestamp delta varlong · offset delta varint · key · value ·
header count varint · headers. Keys, values and header values are a varint length (-1 is null) and bytes. Record and
batch come from a peer through a broker that never looked inside, so each length is checked against what is there.
"""

from collections.abc import Iterator
from typing import NamedTuple

from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import DECOMPRESSED_BYTES_MAX, HEADERS_PER_BATCH_MAX, RECORDS_PER_BATCH_MAX
from broker.common.types import new_tuple
from broker.records.batch import (
    CURRENT_MAGIC,
    HEADER_BYTES,
    LOG_APPEND_TIME_BIT,
    BatchHeader,
    crc_matches,
    parse_batch_header,
)
from broker.records.compression import decompress
from broker.records.varint import read_varint

#: A byte of a variable-length integer from here on is followed by another one.
_LONGER = 0x80
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1


class Record(NamedTuple):
    """One record. `headers` are (key, value) pairs in order; a key may come twice."""

    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


def decode_records(
    batch: bytes | bytearray | memoryview, *, decompressed_bytes_max: int = DECOMPRESSED_BYTES_MAX
) -> list[Record]:
    """Return all records of the batch, in offset order; keys and values are copies.

    Raises ApiError(CORRUPT_MESSAGE) if the CRC fails, if the records do not add up to what the header says, if they
    unpack to more than `decompressed_bytes_max`, or have more than HEADERS_PER_BATCH_MAX headers. Control batches
    decode like others.
    """
    header = parse_batch_header(batch)
    if header.magic != CURRENT_MAGIC or not HEADER_BYTES <= header.size_bytes <= len(batch):
        raise _corrupt(f"no whole record batch: magic {header.magic}, {header.size_bytes} of {len(batch)} bytes")
    if not crc_matches(batch, header):
        raise _corrupt("the CRC-32C of the record batch does not match its bytes")
    check_records_count(header)
    stored = memoryview(batch)[HEADER_BYTES : header.size_bytes]
    return list(iterate_records(header, decompress(header.compression, stored, decompressed_bytes_max)))


def iterate_records(header: BatchHeader, payload: memoryview) -> Iterator[Record]:
    """Return the records of an unpacked `payload`, one by one, without what `decode_records` checks before it unpacks.

    Raises ApiError(CORRUPT_MESSAGE) behind the last record that is sound. The payload is let go of as soon as it is
    copied. Integers of one byte, nearly all, are read in place.
    """
    return _iterate(header, bytes(payload))


def _iterate(header: BatchHeader, data: bytes) -> Iterator[Record]:
    at, size, offset_before = 0, len(data), header.base_offset - 1
    base_offset, last_offset = header.base_offset, header.last_offset
    base_timestamp, appended_at = header.base_timestamp, header.attributes & LOG_APPEND_TIME_BIT
    records_left, headers_left = header.records_count, HEADERS_PER_BATCH_MAX
    try:
        while at < size:
            raw, at = data[at], at + 1
            if raw >= _LONGER:
                raw, at = _rest_of(raw, data, at)
            end = at + ((raw >> 1) ^ -(raw & 1))
            if end < at or end > size:
                raise _corrupt(f"a record says its length is {end - at}")
            raw, at = data[at + 1], at + 2  # behind the attributes
            if raw >= _LONGER:
                raw, at = _rest_of(raw, data, at)
            timestamp_ms = header.max_timestamp if appended_at else base_timestamp + ((raw >> 1) ^ -(raw & 1))
            if not INT64_MIN <= timestamp_ms <= INT64_MAX:
                raise _corrupt(f"timestamp {timestamp_ms} of a record is no 64-bit number")
            raw, at = data[at], at + 1
            if raw >= _LONGER:
                raw, at = _rest_of(raw, data, at)
            offset = base_offset + ((raw >> 1) ^ -(raw & 1))
            raw = data[at]
            if raw >= _LONGER or raw & 1:
                key, at = _decode_bytes(data, at, end)
            else:
                key, at = data[at + 1 : at + 1 + (raw >> 1)], at + 1 + (raw >> 1)
            value, at = _decode_bytes(data, at, end)
            headers, at = _decode_headers(data, at, end, headers_left) if data[at] else ((), at + 1)
            headers_left -= len(headers)
            if at != end:
                raise _corrupt(f"a record has {end - at} bytes more than its fields")
            if not offset_before < offset <= last_offset:
                raise _corrupt(f"offset {offset} of a record does not fit between its neighbours")
            offset_before = offset
            records_left -= 1
            if records_left < 0:
                raise _corrupt(f"the batch holds more records than the {header.records_count} it says")
            yield new_tuple(Record, (offset, timestamp_ms, key, value, headers))
    except IndexError:
        raise _corrupt("a record runs past the end of its batch") from None
    if records_left:
        raise _corrupt(f"the batch holds {header.records_count - records_left} records and says {header.records_count}")


def _rest_of(first: int, data: bytes, at: int) -> tuple[int, int]:
    """Read a longer varint, its sign in the lowest bit, and the position behind it; `at` is its second byte."""
    byte = data[at]
    if byte < _LONGER:
        return first & 0x7F | byte << 7, at + 1
    value, at = read_varint(data, at - 1)
    return (value << 1) ^ (value >> 63), at


def check_records_count(header: BatchHeader) -> None:
    """Raise ApiError(CORRUPT_MESSAGE) if there are too many to look at one by one."""
    if header.records_count > RECORDS_PER_BATCH_MAX:
        raise _corrupt(f"a batch of {header.records_count} records; {RECORDS_PER_BATCH_MAX} are looked into")


def _decode_bytes(data: bytes, at: int, end: int) -> tuple[bytes | None, int]:
    raw, at = data[at], at + 1
    if raw >= _LONGER:
        byte = data[at]
        raw, at = (raw & 0x7F | byte << 7, at + 1) if byte < _LONGER else _rest_of(raw, data, at)
    if raw & 1:
        if raw == 1:
            return None, at
        raise _corrupt(f"a field of a record says its length is {-(raw + 1 >> 1)}")
    behind = at + (raw >> 1)
    if behind > end:
        raise _corrupt(f"a field of a record says its length is {raw >> 1}")
    return data[at:behind], behind


def _decode_headers(data: bytes, at: int, end: int, count_max: int) -> tuple[tuple[tuple[str, bytes | None], ...], int]:
    count, at = read_varint(data, at)
    if count < 0:
        raise _corrupt(f"a record says it has {count} headers")
    if count > count_max:
        raise _corrupt(f"its records have more than the {HEADERS_PER_BATCH_MAX} headers that are read of a batch")
    headers = []
    for _ in range(count):
        key, at = _decode_bytes(data, at, end)
        if key is None:
            raise _corrupt("the key of a record header is null")
        value, at = _decode_bytes(data, at, end)
        headers.append((key.decode("utf-8", "replace"), value))
    return tuple(headers), at


def _corrupt(message: str) -> ApiError:
    return ApiError(ErrorCode.CORRUPT_MESSAGE, message)
