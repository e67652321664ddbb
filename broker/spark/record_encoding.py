"""Rows of Arrow columns become record batches in bulk; the mirror of record_columns.py.

A record is pieces of bytes one behind the other, so the records of a batch are what Arrow gets when it joins, row by
row, columns of such pieces: the numbers in front of a field, looked up in a table, and the field.
"""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from crc32c import crc32c

from broker.common.types import NO_LEADER_EPOCH
from broker.records.batch import (
    CHECKED_FROM,
    CRC,
    CRC_AT,
    CURRENT_MAGIC,
    HEADER,
    HEADER_BYTES,
    LENGTH_PREFIX_BYTES,
    TRANSACTIONAL_BIT,
    Compression,
)
from broker.records.compression import compress
from broker.records.varint import varint

#: Bytes of records in one batch, before compression; below message.max.bytes.
BATCH_BYTES = 768 * 1024
#: Records in one batch.
BATCH_RECORDS = 50_000
#: Numbers whose encoding is kept.
_TABLE = 1 << 16
_NO_HEADERS = b"\0"
_NOTHING = pa.scalar(b"", pa.binary())


class Writer(NamedTuple):
    """The producer's part of a batch header."""

    producer_id: int
    epoch: int
    compression: Compression


class EncodedRows(NamedTuple):
    """Records for one partition: binary arrays of one length; `headers` are encoded, count included, or None."""

    key: pa.Array
    value: pa.Array
    headers: pa.Array | None

    def slice(self, start: int, stop: int) -> "EncodedRows":
        return EncodedRows(*(column if column is None else column.slice(start, stop - start) for column in self))


def in_batches(rows: EncodedRows, bytes_max: int = BATCH_BYTES) -> Iterator[EncodedRows]:
    """Yield the rows in order, in parts that make one batch each; a record larger than `bytes_max` is one of its
    own.
    """
    ends = np.cumsum(_sizes(rows))
    start = 0
    while start < len(ends):
        before = ends[start - 1] if start else 0
        stop = int(np.searchsorted(ends, before + bytes_max, "right"))
        stop = min(max(stop, start + 1), start + BATCH_RECORDS)
        yield rows.slice(start, stop)
        start = stop


def size_of(rows: EncodedRows) -> int:
    """Return the bytes that `in_batches` counts for the rows."""
    return int(_sizes(rows).sum())


def encode_batch(rows: EncodedRows, writer: Writer, base_sequence: int, now_ms: int) -> bytearray:
    """Encode one transactional batch; every record has the time `now_ms`."""
    count = len(rows.key)
    payload = compress(writer.compression, _payload(rows))
    after_crc = (
        writer.compression | TRANSACTIONAL_BIT, count - 1, now_ms, now_ms, writer.producer_id, writer.epoch,
        base_sequence, count,
    )  # fmt: skip
    batch = bytearray(HEADER_BYTES)
    length = HEADER_BYTES - LENGTH_PREFIX_BYTES + len(payload)
    HEADER.pack_into(batch, 0, 0, length, NO_LEADER_EPOCH, CURRENT_MAGIC, 0, *after_crc)
    batch += payload
    CRC.pack_into(batch, CRC_AT, crc32c(memoryview(batch)[CHECKED_FROM:]))
    return batch


def encode_headers(headers: list[list[tuple[str, bytes | None]] | None]) -> pa.Array:
    """Return the headers of each record with their count in front."""
    return pa.array([_encode_headers(header) if header else _NO_HEADERS for header in headers], pa.binary())


def _payload(rows: EncodedRows) -> memoryview:
    count = len(rows.key)
    offset_delta = _varints(np.arange(count))
    key_length, value_length = _lengths(rows.key), _lengths(rows.value)
    key_prefix, value_prefix = _varints(key_length), _varints(value_length)
    headers = rows.headers if rows.headers is not None else pa.repeat(pa.scalar(_NO_HEADERS, pa.binary()), count)
    # An attributes byte and a timestamp delta of 0 are two zeros.
    size = 2 + key_length.clip(0) + value_length.clip(0)
    for column in (offset_delta, key_prefix, value_prefix, headers):
        size = size + _lengths(column)
    fields = (
        _varints(size),
        pa.repeat(pa.scalar(b"\0\0", pa.binary()), count),
        offset_delta,
        key_prefix,
        pc.fill_null(rows.key, _NOTHING),
        value_prefix,
        pc.fill_null(rows.value, _NOTHING),
        headers,
    )
    joined = pc.binary_join_element_wise(*fields, b"")
    _, offsets, data = joined.buffers()
    edges = np.frombuffer(offsets, np.int32)[joined.offset : joined.offset + count + 1]
    return memoryview(data)[edges[0] : edges[-1]]


def _sizes(rows: EncodedRows) -> np.ndarray:
    sizes: np.ndarray = _lengths(rows.key).clip(0) + _lengths(rows.value).clip(0) + 32
    return sizes if rows.headers is None else sizes + _lengths(rows.headers)


def _lengths(column: pa.Array) -> np.ndarray:
    """Return the lengths; -1 stands for null."""
    lengths: np.ndarray = pc.fill_null(pc.binary_length(column), -1).to_numpy(zero_copy_only=False)
    return lengths.astype(np.int64)


def _varints(numbers: np.ndarray) -> pa.Array:
    if len(numbers) and numbers.max() >= _TABLE:
        return pa.array([varint(int(number)) for number in numbers], pa.binary())
    return _table().take(pa.array(numbers + 1))


@cache
def _table() -> pa.Array:
    """Of -1, 0, 1 …"""
    return pa.array([varint(number) for number in range(-1, _TABLE)], pa.binary())


def _encode_headers(headers: list[tuple[str, bytes | None]]) -> bytes:
    pieces = [varint(len(headers))]
    for key, value in headers:
        name = key.encode()
        pieces += (varint(len(name)), name)
        pieces += (varint(-1),) if value is None else (varint(len(value)), value)
    return b"".join(pieces)
