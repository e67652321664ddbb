"""Records in and out of batches: our own round trip, damaged input, and bounds."""

import struct
import tracemalloc

import pytest
from crc32c import crc32c
from hypothesis import given
from hypothesis import strategies as st

from broker.common.errors import ApiError, ErrorCode, InvariantViolation
from broker.common.limits import HEADERS_PER_BATCH_MAX
from broker.records.batch import HEADER_BYTES, Compression, parse_batch_header
from broker.records.builder import build_batch
from broker.records.record import Record, decode_records, iterate_records
from broker.records.varint import varint
from tests.produced_batches import batch_of_headers, batch_of_payload

CODECS = list(Compression)
maybe_bytes = st.none() | st.binary(max_size=40)
record_headers = st.lists(st.tuples(st.text(max_size=10), maybe_bytes), max_size=3).map(tuple)
timestamps = st.integers(min_value=0, max_value=2**62)
contents = st.tuples(timestamps, maybe_bytes, maybe_bytes, record_headers)


def with_right_crc(batch: bytearray) -> bytearray:
    struct.pack_into(">I", batch, 17, crc32c(bytes(batch[21:])))
    return batch


def outcome_of_decoding(batch: bytearray) -> str:
    try:
        return f"{len(decode_records(batch, decompressed_bytes_max=4096))} records"
    except ApiError as error:
        return error.code.name


@given(st.lists(contents, min_size=1, max_size=12), st.sampled_from(CODECS), st.integers(0, 2**60))
def test_built_records_decode_equal(rows, compression, base_offset):
    records = [Record(base_offset + delta, *row) for delta, row in enumerate(rows)]
    assert decode_records(build_batch(records, base_offset=base_offset, compression=compression)) == records


def test_only_the_first_batch_of_a_buffer_is_decoded():
    records = [Record(0, 1, b"a", b"b")]
    assert decode_records(build_batch(records) + build_batch(records) + b"junk") == records


def test_log_append_time_gives_every_record_the_batch_time():
    batch = build_batch([Record(0, 10, None, b"x"), Record(1, 20, None, b"y")])
    batch[22] |= 0x08
    assert [record.timestamp_ms for record in decode_records(with_right_crc(batch))] == [20, 20]


def test_batch_of_no_records_cannot_be_built():
    with pytest.raises(InvariantViolation):
        build_batch([])


def test_damaged_crc_is_refused():
    batch = build_batch([Record(0, 1, b"a", b"value")])
    batch[batch.index(b"value")] ^= 1
    with pytest.raises(ApiError) as caught:
        decode_records(batch)
    assert caught.value.code is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("compression", CODECS)
def test_lies_inside_the_records_end_as_corrupt_and_as_nothing_else(compression):
    """Any byte of the payload, changed by a client that computes a right CRC: decoded as something, or refused."""
    records = [Record(0, 1_000, b"key", b"value" * 9, (("h", b"x"), ("n", None))), Record(1, 1_001, None, None)]
    good = build_batch(records, compression=compression)
    outcomes = set()
    for at in range(HEADER_BYTES, len(good)):
        for bits in (0x01, 0x80, 0xFF):
            bad = bytearray(good)
            bad[at] ^= bits
            outcomes.add(outcome_of_decoding(with_right_crc(bad)))
    assert "CORRUPT_MESSAGE" in outcomes
    assert outcomes <= {"2 records", "CORRUPT_MESSAGE"}


def test_header_that_counts_wrong_is_refused():
    batch = build_batch([Record(0, 1, b"a", b"b"), Record(1, 1, b"a", b"b")])
    struct.pack_into(">ii", batch, 53, -1, 3)
    with pytest.raises(ApiError, match="2 records and says 3"):
        decode_records(with_right_crc(batch))


@pytest.mark.parametrize("offset_delta", [0, 2, -1])
def test_offsets_that_repeat_or_leave_the_batch_are_refused(offset_delta):
    batch = build_batch([Record(0, 1, b"a", b"b"), Record(1, 1, b"a", b"b")])
    assert batch[-6] == 2, "the second record's offset delta, zigzag"
    batch[-6] = offset_delta * 2 if offset_delta >= 0 else 1
    with pytest.raises(ApiError, match="does not fit"):
        decode_records(with_right_crc(batch))


def test_endless_varint_is_refused():
    batch = build_batch([Record(0, 1, b"a" * 40, b"b")])
    batch[HEADER_BYTES : HEADER_BYTES + 12] = b"\xff" * 12
    with pytest.raises(ApiError, match="variable-length"):
        decode_records(with_right_crc(batch))


def test_timestamp_beyond_64_bits_is_refused():
    batch = build_batch([Record(0, 0, None, None), Record(1, 2**62, None, None)])
    struct.pack_into(">q", batch, 27, 2**63 - 1)
    with pytest.raises(ApiError, match="timestamp"):
        decode_records(with_right_crc(batch))


@pytest.mark.parametrize("length", [0, 1, 63, 64, 127, 128, 8_191, 8_192, 70_000])
def test_fields_of_every_length_come_back(length):
    written = [
        Record(0, 1_000, None, bytes(length)),
        Record(1, 1_000, bytes(length), None),
        Record(2, 70_000, bytes(length), bytes(length), (("h" * max(1, length), None),)),
    ]
    assert decode_records(build_batch(written)) == written


def test_a_batch_of_thousands_has_offsets_of_three_bytes():
    written = [Record(number, 1_000 + number, b"k", b"v") for number in range(9_000)]
    assert decode_records(build_batch(written)) == written


def test_as_many_headers_as_are_read_of_a_batch_come_back():
    (record,) = decode_records(batch_of_headers(HEADERS_PER_BATCH_MAX))
    assert (len(record.headers), set(record.headers)) == (HEADERS_PER_BATCH_MAX, {("", b"")})


def test_headers_are_counted_over_all_records_of_a_batch():
    with pytest.raises(ApiError, match="more than the 500000 headers"):
        decode_records(batch_of_headers(501, records=1_000))


@pytest.mark.parametrize("headers", [10_000_000, 2**40])
def test_more_headers_than_are_read_of_a_batch_are_refused_in_little_memory(headers):
    """33 million of them are 6 KB of zstd, and took 2.7 GB."""
    batch = batch_of_headers(10_000_000)
    if headers > 10_000_000:
        body = b"\0\0\0\1\1" + varint(headers)
        batch = batch_of_payload(varint(len(body)) + body, 1, Compression.NONE)
    tracemalloc.start()
    try:
        with pytest.raises(ApiError, match="more than the 500000 headers") as caught:
            decode_records(batch)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert caught.value.code is ErrorCode.CORRUPT_MESSAGE
    assert peak < 100 * 1024 * 1024, "the batch unpacked, and its buffer while it grows"


def test_records_beyond_those_that_the_header_tells_of_are_not_read():
    """A peer may say that its offsets reach far: a record of seven bytes after the other, each 200 in memory."""
    payload = b"\x0c\0\0\2\1\1\0" + b"\x0c\0\0\4\1\1\0"
    batch = batch_of_payload(payload, 1, Compression.ZSTD, last_offset_delta=2**31 - 1)
    with pytest.raises(ApiError, match="more records than the 1 it says"):
        decode_records(batch)
    records = iterate_records(parse_batch_header(batch), memoryview(payload))
    assert next(records).offset == 1
    with pytest.raises(ApiError, match="more records"):
        next(records)
