"""Builds a record batch from records: what coordinators append, and what a client of ours would send."""

from collections.abc import Iterable
from typing import Self

from crc32c import crc32c

from broker.common.errors import InvariantViolation
from broker.common.types import NO_LEADER_EPOCH
from broker.records.batch import (
    CHECKED_FROM,
    CONTROL_BIT,
    CRC,
    CRC_AT,
    CURRENT_MAGIC,
    HEADER,
    HEADER_BYTES,
    LENGTH_PREFIX_BYTES,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    TRANSACTIONAL_BIT,
    Compression,
)
from broker.records.compression import compress
from broker.records.record import Record
from broker.records.varint import SHORT, SHORT_MAX, varint


def build_batch(
    records: Iterable[Record],
    *,
    base_offset: int = 0,
    leader_epoch: int = NO_LEADER_EPOCH,
    compression: Compression = Compression.NONE,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = -1,
    base_sequence: int = NO_SEQUENCE,
    is_transactional: bool = False,
    is_control: bool = False,
) -> bytearray:
    """Build one batch of `records` at consecutive offsets from `base_offset` on (`Record.offset` is ignored).

    Timestamps are CreateTime. Raises InvariantViolation for no records at all: a batch has at least one.
    """
    records = list(records)
    if not records:
        raise InvariantViolation("a record batch needs at least one record")
    base_timestamp = records[0].timestamp_ms
    payload = compress(compression, _encode_records(records, base_timestamp))
    attributes = compression | (TRANSACTIONAL_BIT if is_transactional else 0) | (CONTROL_BIT if is_control else 0)
    after_crc = (
        attributes,
        len(records) - 1,
        base_timestamp,
        max([record.timestamp_ms for record in records]),
        producer_id,
        producer_epoch,
        base_sequence,
        len(records),
    )
    batch_length = HEADER_BYTES - LENGTH_PREFIX_BYTES + len(payload)
    batch = bytearray(HEADER_BYTES)
    HEADER.pack_into(batch, 0, base_offset, batch_length, leader_epoch, CURRENT_MAGIC, 0, *after_crc)
    batch += payload
    CRC.pack_into(batch, CRC_AT, crc32c(memoryview(batch)[CHECKED_FROM:]))
    return batch


def _encode_records(records: list[Record], base_timestamp: int) -> bytes:
    pieces: list[bytes] = []
    for offset_delta, (_, timestamp_ms, key, value, headers) in enumerate(records):
        body = [b"\0", varint(timestamp_ms - base_timestamp), varint(offset_delta)]
        _add_fields(body, (key, value))
        body.append(headers.encoded if type(headers) is RepeatedHeaders else encode_headers(headers))
        encoded = b"".join(body)
        pieces += (varint(len(encoded)), encoded)
    return b"".join(pieces)


class RepeatedHeaders(tuple[tuple[str, bytes | None], ...]):
    """Headers of many records, encoded once: a coordinator appends a batch for every commit."""

    encoded: bytes

    def __new__(cls, headers: Iterable[tuple[str, bytes | None]]) -> Self:
        repeated = super().__new__(cls, headers)
        repeated.encoded = encode_headers(repeated)
        return repeated


def encode_headers(headers: Iterable[tuple[str, bytes | None]]) -> bytes:
    """Return the headers of a record as a batch has them, their number first."""
    fields = [field for name, value in headers for field in (name.encode(), value)]
    body = [varint(len(fields) // 2)]
    _add_fields(body, fields)
    return b"".join(body)


def _add_fields(body: list[bytes], fields: Iterable[bytes | None]) -> None:
    """Append the fields, each after its length. A short length costs no call."""
    for field in fields:
        if field is None:
            body.append(SHORT[-1])
        elif (size := len(field)) < SHORT_MAX:
            body += (SHORT[size], field)
        else:
            body += (varint(size), field)
