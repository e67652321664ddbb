"""Codecs against other implementations, and against input made to hurt."""

import gzip
import random
import tracemalloc

import lz4.frame
import pytest
import snappy
import zstandard
from aiokafka.codec import snappy_encode

from broker.common.errors import ApiError, ErrorCode
from broker.records.batch import Compression
from broker.records.compression import compress, decompress

PACKED = [Compression.GZIP, Compression.SNAPPY, Compression.LZ4, Compression.ZSTD]
PAYLOADS = [b"", b"x", b"abc" * 50_000, bytes(range(256)) * 2_000]
KIB = 1024

STRANGER_PACKS = {
    Compression.GZIP: gzip.compress,
    Compression.SNAPPY: snappy.compress,
    Compression.LZ4: lz4.frame.compress,
    Compression.ZSTD: zstandard.compress,
}
STRANGER_UNPACKS = {
    Compression.GZIP: gzip.decompress,
    Compression.SNAPPY: snappy.uncompress,
    Compression.LZ4: lz4.frame.decompress,
    Compression.ZSTD: lambda packed: zstandard.ZstdDecompressor().decompressobj().decompress(packed),
}


def refusal_of(compression, packed, limit_bytes=64 * KIB) -> ErrorCode:
    with pytest.raises(ApiError) as caught:
        decompress(compression, packed, limit_bytes)
    return caught.value.code


@pytest.mark.parametrize("payload", PAYLOADS, ids=len)
@pytest.mark.parametrize("compression", PACKED)
def test_others_packing_is_unpacked(compression, payload):
    packed = STRANGER_PACKS[compression](payload)
    assert decompress(compression, packed) == payload
    assert decompress(compression, memoryview(bytearray(packed))) == payload


@pytest.mark.parametrize("payload", PAYLOADS, ids=len)
@pytest.mark.parametrize("compression", PACKED)
def test_others_unpack_our_packing(compression, payload):
    assert STRANGER_UNPACKS[compression](bytes(compress(compression, payload))) == payload


@pytest.mark.parametrize("level", [None, 9, 17])
@pytest.mark.parametrize("payload", [*PAYLOADS, random.Random(1).randbytes(100_000)], ids=len)
def test_lz4_frames_are_of_independent_blocks(payload, level):
    """Java refuses others: "Dependent block stream is unsupported"."""
    packed = compress(Compression.LZ4, payload, level)
    assert not lz4.frame.get_frame_info(packed)["block_linked"]
    assert (lz4.frame.decompress(packed), decompress(Compression.LZ4, packed)) == (payload, payload)


@pytest.mark.parametrize("payload", PAYLOADS, ids=len)
def test_snappy_in_xerial_framing_is_unpacked(payload):
    assert decompress(Compression.SNAPPY, snappy_encode(payload)) == payload


def test_no_compression_passes_bytes_through_without_a_copy():
    payload = bytearray(b"abc")
    view = decompress(Compression.NONE, payload)
    payload[0] = 0x78
    assert view == b"xbc"


def test_zstd_without_a_content_size_is_unpacked():
    packer = zstandard.ZstdCompressor(write_content_size=False)
    assert decompress(Compression.ZSTD, packer.compress(b"abc" * 100_000)) == b"abc" * 100_000


@pytest.mark.parametrize("compression", PACKED)
def test_payload_at_the_limit_passes_and_one_byte_more_does_not(compression):
    limit = 300 * KIB
    assert len(decompress(compression, compress(compression, bytes(limit)), limit)) == limit
    assert refusal_of(compression, compress(compression, bytes(limit + 1)), limit) is ErrorCode.CORRUPT_MESSAGE


def test_xerial_blocks_that_add_up_beyond_the_limit_are_refused():
    packed = snappy_encode(bytes(200 * KIB))
    assert len(decompress(Compression.SNAPPY, packed, 200 * KIB)) == 200 * KIB
    assert refusal_of(Compression.SNAPPY, packed, 200 * KIB - 1) is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("compression", PACKED)
def test_decompression_bomb_costs_no_memory(compression):
    bomb = bytes(compress(compression, bytes(32 * KIB * KIB)))
    tracemalloc.start()
    try:
        assert refusal_of(compression, bomb, KIB * KIB) is ErrorCode.CORRUPT_MESSAGE
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3 * KIB * KIB


@pytest.mark.parametrize("packed", [b"", b"\xff", b"\xff\xff\xff\xff\x0fabc", b"\xff\xff\xff\xff\xff\xff\xff\xffabc"])
def test_snappy_with_a_lying_length_is_refused(packed):
    assert refusal_of(Compression.SNAPPY, packed) is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize(
    "tail", [b"\x00", b"\x00\x00\x00\x00", b"\x00\x00\x00\x09a", b"\xff\xff\xff\xff", b"\x00\x00\x00\x01\xff"]
)
def test_xerial_with_a_lying_block_is_refused(tail):
    assert refusal_of(Compression.SNAPPY, snappy_encode(b"") + tail) is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("compression", [Compression.GZIP, Compression.LZ4, Compression.ZSTD])
def test_frame_cut_at_any_byte_is_refused(compression):
    packed = STRANGER_PACKS[compression](b"some bytes " * 20)
    for length in range(1, len(packed)):
        assert refusal_of(compression, packed[:length]) is ErrorCode.CORRUPT_MESSAGE, length
