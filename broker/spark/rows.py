"""The columns of the source, as Spark and as Arrow name them, and how decoded records become Arrow batches."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from broker.client.visible_batches import Batch
from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import HEADERS_PER_BATCH_MAX
from broker.common.types import TopicPartition
from broker.records.varint import read_varint
from broker.spark.record_columns import RecordColumns, Unpacked, decode_columns, unpack

#: Unpacked bytes and number of records one Arrow batch is made of, one record batch more at most.
ARROW_BATCH_BYTES = 16 * 1024 * 1024
ARROW_BATCH_RECORDS = 500_000
#: Headers of one Arrow batch, of more than one record: each is a dict for a moment.
ARROW_BATCH_HEADERS = 100_000

#: Some 290,000 years: what is beyond it in microseconds would come out as any time, the present perhaps.
_TIME_MS_MAX = 2**63 // 1000 - 1

_HEADER = pa.struct([("key", pa.string()), ("value", pa.binary())])
#: Spark refuses a batch whose schema is another.
_FIELDS = (
    pa.field("key", pa.binary()),
    pa.field("value", pa.binary()),
    pa.field("topic", pa.string()),
    pa.field("partition", pa.int32()),
    pa.field("offset", pa.int64()),
    pa.field("timestamp", pa.timestamp("us", tz="UTC")),
    pa.field("timestampType", pa.int32()),
)
_HEADERS_FIELD = pa.field("headers", pa.list_(pa.field("element", _HEADER)))


def in_portions(batches: Iterator[Batch]) -> Iterator[list[Unpacked]]:
    """Yield the batches, unpacked, in lists of some ARROW_BATCH_BYTES each. Raises ApiError(CORRUPT_MESSAGE)."""
    portion: list[Unpacked] = []
    size = count = 0
    for header, batch in batches:
        portion.append(unpack(header, batch))
        size += len(portion[-1][1])
        count += header.records_count
        if size >= ARROW_BATCH_BYTES or count >= ARROW_BATCH_RECORDS:
            yield portion
            portion = []
            size = count = 0
    if portion:
        yield portion


def to_arrow(
    batches: list[Unpacked], partition: TopicPartition, start: int, end: int, with_headers: bool
) -> Iterator[pa.RecordBatch]:
    """Yield the records of `batches` with offsets in [start, end) as rows: in one Arrow batch, or in more if they have
    many headers. Raises ApiError(CORRUPT_MESSAGE).
    """
    columns = decode_columns(batches).between(start, end)
    for part in _by_headers(columns) if with_headers else (columns,):
        if len(part.offset):
            yield _rows(part, partition, with_headers)


def _by_headers(columns: RecordColumns) -> Iterator[RecordColumns]:
    """Yield parts of at most ARROW_BATCH_HEADERS headers, but at least a record."""
    if np.any(columns.headers_count > HEADERS_PER_BATCH_MAX):
        raise ApiError(ErrorCode.CORRUPT_MESSAGE, f"a record has more than the {HEADERS_PER_BATCH_MAX} headers it may")
    sums = np.cumsum(columns.headers_count)
    first = before = 0
    while first < len(sums):
        last = max(first + 1, int(np.searchsorted(sums, before + ARROW_BATCH_HEADERS, side="right")))
        yield columns.rows(first, last)
        first, before = last, int(sums[last - 1])


def _rows(columns: RecordColumns, partition: TopicPartition, with_headers: bool) -> pa.RecordBatch:
    count = len(columns.offset)
    key, value = _keys_and_values(columns)
    fields = list(_FIELDS)
    arrays = [
        key,
        value,
        pa.repeat(pa.scalar(partition.topic, pa.string()), count),
        pa.repeat(pa.scalar(partition.partition, pa.int32()), count),
        pa.array(columns.offset, pa.int64()),
        pa.array(np.clip(columns.timestamp_ms, -_TIME_MS_MAX, _TIME_MS_MAX) * 1000, pa.timestamp("us", tz="UTC")),
        pa.array(columns.timestamp_type, pa.int32()),
    ]
    if with_headers:
        fields.append(_HEADERS_FIELD)
        arrays.append(pa.array(_headers(columns), _HEADERS_FIELD.type))
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def _keys_and_values(columns: RecordColumns) -> tuple[pa.Array, pa.Array]:
    """Return keys and values as Arrow arrays over the payload: key, bytes behind it, value, bytes behind it; `take`
    picks.
    """
    count = len(columns.offset)
    if not count:
        return pa.array([], pa.binary()), pa.array([], pa.binary())
    edges = np.empty((count, 4), np.int32)
    edges[:, 0] = columns.key_at
    edges[:, 1] = columns.key_at + np.maximum(columns.key_length, 0)
    edges[:, 2] = columns.value_at
    edges[:, 3] = columns.value_at + np.maximum(columns.value_length, 0)
    buffers = [None, pa.py_buffer(edges), pa.py_buffer(columns.payload)]
    pieces = pa.Array.from_buffers(pa.binary(), 4 * count - 1, buffers)
    return (
        _take(pieces, np.arange(0, 4 * count, 4), columns.key_length < 0),
        _take(pieces, np.arange(2, 4 * count, 4), columns.value_length < 0),
    )


def _take(pieces: pa.Array, places: np.ndarray, is_null: np.ndarray) -> pa.Array:
    if not is_null.any():
        return pieces.take(pa.array(places))
    if is_null.all():
        return pa.nulls(len(places), pa.binary())
    return pieces.take(pa.array(places, mask=is_null))


def _headers(columns: RecordColumns) -> list[list[dict[str, object]] | None]:
    """Return headers, null where a record has none, as in Spark's connector."""
    rows: list[list[dict[str, object]] | None] = [None] * len(columns.offset)
    for row in np.flatnonzero(columns.headers_count).tolist():
        place = columns.headers_at[row], columns.end_at[row], columns.headers_count[row]
        rows[row] = _read_headers(columns.payload, *map(int, place))
    return rows


def _read_headers(payload: bytes, at: int, end: int, count: int) -> list[dict[str, object]]:
    headers: list[dict[str, object]] = []
    for _ in range(count):
        key, at = _read_bytes(payload, at, end)
        if key is None:
            raise ApiError(ErrorCode.CORRUPT_MESSAGE, "the key of a record header is null")
        value, at = _read_bytes(payload, at, end)
        headers.append({"key": key.decode("utf-8", "replace"), "value": value})
    if at != end:
        raise ApiError(ErrorCode.CORRUPT_MESSAGE, "the headers of a record are not as long as the record")
    return headers


def _read_bytes(payload: bytes, at: int, end: int) -> tuple[bytes | None, int]:
    length, at = read_varint(payload, at)
    if length == -1:
        return None, at
    if length < 0 or at + length > end:
        raise ApiError(ErrorCode.CORRUPT_MESSAGE, f"a field of a record header says its length is {length}")
    return payload[at : at + length], at + length
