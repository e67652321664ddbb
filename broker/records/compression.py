"""The codecs of a record batch, every one of them with a bound on what it may unpack to.

A few hundred bytes of zstd can stand for gigabytes, so nothing here trusts a length written by a peer: output goes into
a buffer that grows only up to the caller's limit, and a codec that wants more fails. The four codecs are Kafka's: gzip,
snappy, lz4 *frames*, zstd frames. Snappy comes in two dresses: raw (librdkafka), and in the block framing of Java's
xerial library (Java, kafka-python, aiokafka); both are read, raw is written, which all of them read. Of lz4 Java reads
frames of independent blocks only, so the frame is written here, as Java writes it.
"""

import struct
from collections.abc import Callable

import cramjam

from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import DECOMPRESSED_BYTES_MAX
from broker.records.batch import Compression

Buffer = bytes | bytearray | memoryview

_FIRST_GUESS_BYTES = 64 * 1024
_RATIO_GUESS = 4
_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER_BYTES = 16
_BLOCK_LENGTH = struct.Struct(">i")

_DECOMPRESS_INTO: dict[Compression, Callable[..., int]] = {
    Compression.GZIP: cramjam.gzip.decompress_into,
    Compression.LZ4: cramjam.lz4.decompress_into,
    Compression.ZSTD: cramjam.zstd.decompress_into,
}
#: Magic, version 1 with independent blocks and no checksums, blocks of at most 64 KB, the header's checksum.
_LZ4_HEADER = bytes.fromhex("04224d18604082")
_LZ4_BLOCK_BYTES = 64 * 1024
_LZ4_LENGTH = struct.Struct("<I")
_LZ4_IS_STORED = 1 << 31
_LZ4_HIGH_LEVEL_MIN = 3
_LZ4_END = _LZ4_LENGTH.pack(0)

#: What is used where no level is asked for: Kafka's (KIP-390).
GZIP_DEFAULT_LEVEL, LZ4_DEFAULT_LEVEL, ZSTD_DEFAULT_LEVEL = -1, 9, 3


def compress(compression: Compression, payload: Buffer, level: int | None = None) -> Buffer:
    """Compress the payload; `level` is one that Kafka's compression.*.level accepts."""
    if compression is Compression.NONE:
        return payload
    return _COMPRESS[compression](payload, level)


def _gzip(payload: Buffer, level: int | None) -> bytes:
    return bytes(cramjam.gzip.compress(payload, level=None if level == GZIP_DEFAULT_LEVEL else level))


def _snappy(payload: Buffer, _level: int | None) -> bytes:
    return bytes(cramjam.snappy.compress_raw(payload))


def _zstd(payload: Buffer, level: int | None) -> bytes:
    return bytes(cramjam.zstd.compress(payload, level=ZSTD_DEFAULT_LEVEL if level is None else level))


def _lz4(payload: Buffer, level: int | None) -> bytes:
    """Compress with LZ4; the codec links blocks, so each is taken from a frame of its own.

    As in Java the default level, which is a high one by its number, means the fast compressor.
    """
    level = 0 if level in (None, LZ4_DEFAULT_LEVEL) else max(level, _LZ4_HIGH_LEVEL_MIN)
    parts, payload, start = [_LZ4_HEADER], memoryview(payload), len(_LZ4_HEADER)
    for at in range(0, len(payload), _LZ4_BLOCK_BYTES):
        frame = bytes(cramjam.lz4.compress(payload[at : at + _LZ4_BLOCK_BYTES], level=level))
        (length,) = _LZ4_LENGTH.unpack_from(frame, start)
        parts.append(frame[start : start + _LZ4_LENGTH.size + (length & ~_LZ4_IS_STORED)])
    return b"".join([*parts, _LZ4_END])


_COMPRESS: dict[Compression, Callable[[Buffer, int | None], bytes]] = {
    Compression.GZIP: _gzip,
    Compression.SNAPPY: _snappy,
    Compression.LZ4: _lz4,
    Compression.ZSTD: _zstd,
}


def decompress(compression: Compression, payload: Buffer, limit_bytes: int = DECOMPRESSED_BYTES_MAX) -> memoryview:
    """Decompress the payload. Raises ApiError(CORRUPT_MESSAGE) if it is damaged or larger than `limit_bytes`."""
    if compression is Compression.NONE:
        return memoryview(payload)
    if compression is Compression.SNAPPY:
        return _decompress_snappy(memoryview(payload), limit_bytes)
    return _decompress_growing(_DECOMPRESS_INTO[compression], payload, limit_bytes)


def _decompress_growing(decompress_into: Callable[..., int], payload: Buffer, limit_bytes: int) -> memoryview:
    """Decompress with growing room. The codecs do not tell "too little room" from "damaged", so a failure counts only
    at the limit.
    """
    capacity = min(limit_bytes, max(_FIRST_GUESS_BYTES, _RATIO_GUESS * len(payload)))
    while True:
        output = bytearray(capacity)
        try:
            length = decompress_into(payload, output)
        except cramjam.DecompressionError as error:
            if capacity >= limit_bytes:
                raise _refused(f"{error}, within the limit of {limit_bytes} bytes") from None
            capacity = min(limit_bytes, _RATIO_GUESS * capacity)
        else:
            return memoryview(output)[:length]


def _decompress_snappy(payload: memoryview, limit_bytes: int) -> memoryview:
    if payload[: len(_XERIAL_MAGIC)] != _XERIAL_MAGIC:
        return memoryview(_decompress_block(payload, limit_bytes))
    output = bytearray()
    at = _XERIAL_HEADER_BYTES
    while at < len(payload):
        block = _next_block(payload, at)
        output += memoryview(_decompress_block(block, limit_bytes - len(output)))
        at += _BLOCK_LENGTH.size + len(block)
    return memoryview(output)


def _next_block(payload: memoryview, at: int) -> memoryview:
    start = at + _BLOCK_LENGTH.size
    if start > len(payload):
        raise _refused("snappy: a block length is cut off")
    (length,) = _BLOCK_LENGTH.unpack_from(payload, at)
    if not 0 < length <= len(payload) - start:
        raise _refused(f"snappy: a block says its length is {length}")
    return payload[start : start + length]


def _decompress_block(block: memoryview, limit_bytes: int) -> cramjam.Buffer:
    try:
        length = cramjam.snappy.decompress_raw_len(block)
        if length > limit_bytes:
            raise _refused(f"snappy: larger than the limit of {limit_bytes} bytes")
        return cramjam.snappy.decompress_raw(block)
    except cramjam.DecompressionError as error:
        raise _refused(str(error)) from None


def _refused(why: str) -> ApiError:
    return ApiError(ErrorCode.CORRUPT_MESSAGE, f"the records of the batch cannot be decompressed: {why}")
