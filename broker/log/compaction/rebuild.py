"""A batch with fewer records, or with a delete horizon: written anew at the same offsets, with the same codec.

Base offset, last offset, leader epoch, producer, sequence numbers and the remaining attributes stay, so readers,
followers and the producer state see the batch they knew. A batch that loses all its records may remain as a header
that says so: no records, no codec, the same range of offsets.

With a delete horizon (KIP-534) the header's base timestamp *is* the horizon, and the records' timestamps are counted
from there.
"""

from collections.abc import Sequence

from crc32c import crc32c

from broker.common.errors import ApiError, ErrorCode
from broker.log.compaction.record_spans import RecordSpan
from broker.records.batch import (
    CHECKED_FROM,
    COMPRESSION_BITS,
    CRC,
    CRC_AT,
    DELETE_HORIZON_BIT,
    HEADER,
    HEADER_BYTES,
    LENGTH_PREFIX_BYTES,
    LOG_APPEND_TIME_BIT,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    BatchHeader,
    TimestampType,
)
from broker.records.compression import compress
from broker.records.record import INT64_MAX, INT64_MIN
from broker.records.varint import append_varint


def delete_horizon_of(header: BatchHeader) -> int | None:
    """Return when the batch's tombstones may be deleted, in ms; None before the first pass over them."""
    return header.base_timestamp if header.attributes & DELETE_HORIZON_BIT else None


def empty_batch(header: BatchHeader) -> bytes:
    """Return the batch without records; its largest timestamp stays, for retention by time."""
    attributes = header.attributes & ~(COMPRESSION_BITS | DELETE_HORIZON_BIT)
    return _assemble(
        header._replace(attributes=attributes, base_timestamp=NO_TIMESTAMP, records_count=0),
        b"",
    )


def end_mark(header: BatchHeader) -> bytes:
    """Return an empty batch, of no producer, that ends at the same offset as the batch of `header`."""
    return _assemble(
        header._replace(
            attributes=header.attributes & LOG_APPEND_TIME_BIT,
            base_timestamp=NO_TIMESTAMP,
            producer_id=NO_PRODUCER_ID,
            producer_epoch=-1,
            base_sequence=NO_SEQUENCE,
            records_count=0,
        ),
        b"",
    )


def rebuild_batch(
    header: BatchHeader, payload: bytes, spans: Sequence[RecordSpan], delete_horizon_ms: int | None = None
) -> bytes:
    """Return the batch with only the records at `spans`, at least one, of its uncompressed bytes `payload`.

    With `delete_horizon_ms` the batch gets that horizon, without it keeps what it has. Raises
    ApiError(CORRUPT_MESSAGE) if a timestamp is so far from the horizon that the format has no room for it.
    """
    max_timestamp = header.max_timestamp
    if header.timestamp_type is TimestampType.CREATE_TIME:
        max_timestamp = header.base_timestamp + max(span.timestamp_delta for span in spans)
    records: bytes | bytearray
    if delete_horizon_ms is None:
        records = b"".join([payload[span.start : span.end] for span in spans])
    else:
        records = _recount_times(payload, spans, delete_horizon_ms - header.base_timestamp)
        attributes = header.attributes | DELETE_HORIZON_BIT
        header = header._replace(attributes=attributes, base_timestamp=delete_horizon_ms)
    header = header._replace(max_timestamp=max_timestamp, records_count=len(spans))
    return _assemble(header, compress(header.compression, records))


def _recount_times(payload: bytes, spans: Sequence[RecordSpan], shift_ms: int) -> bytearray:
    """Return the records with timestamps counted from a base that is `shift_ms` later."""
    out = bytearray()
    for span in spans:
        timestamp_delta = span.timestamp_delta - shift_ms
        if not INT64_MIN <= timestamp_delta <= INT64_MAX:
            raise ApiError(ErrorCode.CORRUPT_MESSAGE, "the timestamp of a record is out of all bounds")
        head = bytearray(1)
        append_varint(head, timestamp_delta)
        append_varint(out, len(head) + span.end - span.rest_at)
        out += head
        out += memoryview(payload)[span.rest_at : span.end]
    return out


def _assemble(header: BatchHeader, payload: bytes | bytearray | memoryview) -> bytes:
    batch = bytearray(HEADER_BYTES)
    batch_length = HEADER_BYTES - LENGTH_PREFIX_BYTES + len(payload)
    HEADER.pack_into(batch, 0, *header._replace(batch_length=batch_length))
    batch += payload
    CRC.pack_into(batch, CRC_AT, crc32c(memoryview(batch)[CHECKED_FROM:]))
    return bytes(batch)
