"""A batch whose records are packed otherwise than its producer packed them: what compression.type asks of a leader."""

from typing import NamedTuple

from crc32c import crc32c

from broker.records.batch import (
    CHECKED_FROM,
    COMPRESSION_BITS,
    CRC,
    CRC_AT,
    HEADER,
    HEADER_BYTES,
    LENGTH_PREFIX_BYTES,
    BatchHeader,
    Compression,
)
from broker.records.compression import Buffer, compress, decompress


class Packing(NamedTuple):
    """The codec a topic asks for, and its level, None for codecs that have none."""

    compression: Compression
    level: int | None = None


class Repacked(NamedTuple):
    batch: bytearray
    #: What had to be unpacked for it.
    unpacked_bytes: int


def repack_batch(batch: Buffer, header: BatchHeader, packing: Packing, unpacked_bytes_max: int) -> Repacked:
    """Return the batch, which passed `check_produced_batch`, with its records packed as asked.

    Nothing else changes: not the records, nor offsets, times, producer and sequence, nor what it belongs to. Raises
    ApiError(CORRUPT_MESSAGE) if the records cannot be unpacked, or to more than `unpacked_bytes_max`.
    """
    stored = memoryview(batch)[HEADER_BYTES : header.size_bytes]
    payload = decompress(header.compression, stored, unpacked_bytes_max)
    unpacked_bytes = len(payload) if header.compression else 0
    packed = compress(packing.compression, payload, packing.level)
    header = header._replace(
        batch_length=HEADER_BYTES - LENGTH_PREFIX_BYTES + len(packed),
        attributes=header.attributes & ~COMPRESSION_BITS | packing.compression,
    )
    repacked = bytearray(HEADER_BYTES)
    HEADER.pack_into(repacked, 0, *header)
    repacked += packed
    CRC.pack_into(repacked, CRC_AT, crc32c(memoryview(repacked)[CHECKED_FROM:]))
    return Repacked(repacked, unpacked_bytes)
