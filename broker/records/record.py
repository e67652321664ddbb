"""The records inside a batch, for those who must look: coordinators, timestamp look-ups, compaction.

A record is: length varint · attributes int8 (unused) · timestamp delta varlong · offset delta varint · key · value ·
header count varint · headers. Keys, values and header values are a varint length (-1 is null) and bytes. Record and
batch come from a peer through a broker that never looked inside, so each length is checked against what is there.
"""

from typing import NamedTuple

from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import DECOMPRESSED_BYTES_MAX, RECORDS_PER_BATCH_MAX
from broker.records.batch import (
    CURRENT_MAGIC,
    HEADER_BYTES,
    BatchHeader,
    TimestampType,
    crc_matches,
    parse_batch_header,
)
from broker.records.compression import decompress
from broker.records.varint import read_varint

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
    """All records of the batch `batch` starts with, in offset order; keys and values are copies.

    Raises ApiError(CORRUPT_MESSAGE) if the CRC fails, if the records do not add up to what the header says, or if
    they unpack to more than `decompressed_bytes_max`. Control batches decode like others.
    """
    header = parse_batch_header(batch)
    if header.magic != CURRENT_MAGIC or not HEADER_BYTES <= header.size_bytes <= len(batch):
        raise _corrupt(f"no whole record batch: magic {header.magic}, {header.size_bytes} of {len(batch)} bytes")
    if not crc_matches(batch, header):
        raise _corrupt("the CRC-32C of the record batch does not match its bytes")
    stored = memoryview(batch)[HEADER_BYTES : header.size_bytes]
    payload = decompress(header.compression, stored, decompressed_bytes_max)
    try:
        return _decode_all(header, payload)
    except IndexError:
        raise _corrupt("a record runs past the end of its batch") from None


def _decode_all(header: BatchHeader, payload: memoryview) -> list[Record]:
    check_records_count(header)
    records = []
    at, offset_before = 0, header.base_offset - 1
    while at < len(payload):
        record, at = _decode_one(header, payload, at)
        if not offset_before < record.offset <= header.last_offset:
            raise _corrupt(f"offset {record.offset} of a record does not fit between its neighbours")
        offset_before = record.offset
        records.append(record)
    if len(records) != header.records_count:
        raise _corrupt(f"the batch holds {len(records)} records and says {header.records_count}")
    return records


def check_records_count(header: BatchHeader) -> None:
    """Raise ApiError(CORRUPT_MESSAGE) if there are too many to look at one by one."""
    if header.records_count > RECORDS_PER_BATCH_MAX:
        raise _corrupt(f"a batch of {header.records_count} records; {RECORDS_PER_BATCH_MAX} are looked into")


def _decode_one(header: BatchHeader, payload: memoryview, at: int) -> tuple[Record, int]:
    length, at = read_varint(payload, at)
    end = at + length
    if length < 0 or end > len(payload):
        raise _corrupt(f"a record says its length is {length}")
    body = payload[:end]
    timestamp_delta, at = read_varint(body, at + 1)
    offset_delta, at = read_varint(body, at)
    key, at = _decode_bytes(body, at)
    value, at = _decode_bytes(body, at)
    headers, at = _decode_headers(body, at)
    if at != end:
        raise _corrupt(f"a record has {end - at} bytes more than its fields")
    if header.timestamp_type is TimestampType.LOG_APPEND_TIME:
        timestamp_ms = header.max_timestamp
    else:
        timestamp_ms = header.base_timestamp + timestamp_delta
        if not INT64_MIN <= timestamp_ms <= INT64_MAX:
            raise _corrupt(f"timestamp {timestamp_ms} of a record is no 64-bit number")
    return Record(header.base_offset + offset_delta, timestamp_ms, key, value, headers), end


def _decode_bytes(body: memoryview, at: int) -> tuple[bytes | None, int]:
    length, at = read_varint(body, at)
    if length == -1:
        return None, at
    if length < 0 or at + length > len(body):
        raise _corrupt(f"a field of a record says its length is {length}")
    return bytes(body[at : at + length]), at + length


def _decode_headers(body: memoryview, at: int) -> tuple[tuple[tuple[str, bytes | None], ...], int]:
    count, at = read_varint(body, at)
    if count < 0:
        raise _corrupt(f"a record says it has {count} headers")
    headers = []
    for _ in range(count):
        key, at = _decode_bytes(body, at)
        if key is None:
            raise _corrupt("the key of a record header is null")
        value, at = _decode_bytes(body, at)
        headers.append((key.decode("utf-8", "replace"), value))
    return tuple(headers), at


def _corrupt(message: str) -> ApiError:
    return ApiError(ErrorCode.CORRUPT_MESSAGE, message)
