"""The header of a record batch and the gate that produced batches pass."""

import struct

import pytest
from crc32c import crc32c

from broker.common.errors import ApiError, ErrorCode
from broker.records.batch import (
    HEADER_BYTES,
    Compression,
    TimestampType,
    check_produced_batch,
    crc_matches,
    is_transactional,
    iterate_headers,
    parse_batch_header,
    patch_batch,
)
from broker.records.builder import build_batch
from broker.records.record import Record

RECORDS = [Record(0, 1_000, b"k0", b"v0"), Record(1, 3_000, None, b"v1"), Record(2, 2_000, b"k2", None)]

FIELD_AT = {
    "base_offset": (0, ">q"),
    "batch_length": (8, ">i"),
    "magic": (16, ">b"),
    "attributes": (21, ">h"),
    "last_offset_delta": (23, ">i"),
    "base_timestamp": (27, ">q"),
    "max_timestamp": (35, ">q"),
    "producer_id": (43, ">q"),
    "producer_epoch": (51, ">h"),
    "base_sequence": (53, ">i"),
    "records_count": (57, ">i"),
}


def batch_with(**fields) -> bytearray:
    """A batch of RECORDS with header fields overwritten and the CRC made right again."""
    batch = build_batch(RECORDS)
    for name, value in fields.items():
        at, form = FIELD_AT[name]
        struct.pack_into(form, batch, at, value)
    struct.pack_into(">I", batch, 17, crc32c(bytes(batch[21:])))
    return batch


def refusal_of(buffer) -> ErrorCode:
    with pytest.raises(ApiError) as caught:
        check_produced_batch(buffer)
    return caught.value.code


def test_header_of_a_built_batch_says_what_was_built():
    batch = build_batch(
        RECORDS,
        base_offset=40,
        leader_epoch=7,
        compression=Compression.ZSTD,
        producer_id=99,
        producer_epoch=3,
        base_sequence=12,
        is_transactional=True,
    )
    header = parse_batch_header(batch)
    assert (header.base_offset, header.last_offset, header.next_offset, header.records_count) == (40, 42, 43, 3)
    assert (header.base_timestamp, header.max_timestamp) == (1_000, 3_000)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (99, 3, 12)
    assert (header.magic, header.partition_leader_epoch, header.size_bytes) == (2, 7, len(batch))
    assert header.compression is Compression.ZSTD
    assert header.timestamp_type is TimestampType.CREATE_TIME
    assert header.is_transactional
    assert not header.is_control


@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview])
def test_intact_batch_passes_from_any_kind_of_buffer(wrap):
    batch = build_batch(RECORDS)
    assert check_produced_batch(wrap(batch)) == parse_batch_header(batch)


def test_header_is_found_in_the_middle_of_a_buffer():
    batch = build_batch(RECORDS, base_offset=5)
    assert parse_batch_header(b"xyz" + batch, 3) == parse_batch_header(batch)


def test_buffer_too_short_for_a_header_is_corrupt():
    with pytest.raises(ApiError) as caught:
        parse_batch_header(build_batch(RECORDS), 60)
    assert caught.value.code is ErrorCode.CORRUPT_MESSAGE


def test_every_flipped_byte_behind_the_crc_is_noticed():
    good = build_batch(RECORDS)
    for at in range(17, len(good)):
        bad = bytearray(good)
        bad[at] ^= 0x40
        assert refusal_of(bad) is ErrorCode.CORRUPT_MESSAGE, at


def test_batch_cut_at_any_byte_is_refused():
    good = build_batch(RECORDS)
    assert refusal_of(b"") is ErrorCode.INVALID_RECORD
    for length in range(1, len(good)):
        assert refusal_of(good[:length]) is ErrorCode.CORRUPT_MESSAGE, length


def test_second_batch_or_trailing_bytes_are_refused():
    batch = build_batch(RECORDS)
    assert refusal_of(batch + batch) is ErrorCode.INVALID_RECORD
    assert refusal_of(batch + b"\0") is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"magic": 1}, ErrorCode.INVALID_RECORD),
        ({"magic": 0}, ErrorCode.INVALID_RECORD),
        ({"magic": 3}, ErrorCode.CORRUPT_MESSAGE),
        ({"magic": -1}, ErrorCode.CORRUPT_MESSAGE),
        ({"batch_length": -1}, ErrorCode.CORRUPT_MESSAGE),
        ({"batch_length": 48}, ErrorCode.CORRUPT_MESSAGE),
        ({"batch_length": 2**31 - 1}, ErrorCode.CORRUPT_MESSAGE),
        ({"records_count": 4}, ErrorCode.INVALID_RECORD),
        ({"records_count": 0, "last_offset_delta": -1}, ErrorCode.INVALID_RECORD),
        ({"records_count": -5, "last_offset_delta": -6}, ErrorCode.INVALID_RECORD),
        ({"records_count": 2**31 - 1, "last_offset_delta": 2**31 - 2}, ErrorCode.INVALID_RECORD),
        ({"last_offset_delta": 7}, ErrorCode.INVALID_RECORD),
        ({"attributes": 0x20}, ErrorCode.INVALID_RECORD),
        ({"attributes": 0x40}, ErrorCode.INVALID_RECORD),
        ({"attributes": 0x10}, ErrorCode.INVALID_RECORD),
        ({"attributes": 0x08}, ErrorCode.INVALID_TIMESTAMP),
        ({"attributes": 0x05}, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE),
        ({"attributes": 0x07}, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE),
        ({"base_timestamp": -2}, ErrorCode.INVALID_TIMESTAMP),
        ({"max_timestamp": 999}, ErrorCode.INVALID_TIMESTAMP),
        ({"producer_id": 5, "producer_epoch": 0}, ErrorCode.INVALID_RECORD),
        ({"producer_id": 5, "base_sequence": 0}, ErrorCode.INVALID_RECORD),
    ],
)
def test_batch_no_client_may_send_is_refused(fields, code):
    assert refusal_of(batch_with(**fields)) is code


def test_old_message_format_shorter_than_a_header_is_called_old():
    message = struct.pack(">qiIbbii", 0, 14, 0, 1, 0, -1, -1)
    assert refusal_of(message) is ErrorCode.INVALID_RECORD


def test_whatever_base_offset_a_client_sends_is_accepted():
    assert check_produced_batch(batch_with(base_offset=77)).base_offset == 77


def test_idempotent_batch_passes():
    fields = {"producer_id": 5, "producer_epoch": 0, "base_sequence": 0, "attributes": 0x10}
    assert check_produced_batch(batch_with(**fields)).is_transactional


def test_patching_changes_the_place_and_nothing_else():
    batch = build_batch(RECORDS)
    before = parse_batch_header(batch)
    buffer = bytearray(b"abc") + batch + b"xyz"
    patch_batch(memoryview(buffer), 3, 123_456_789_012, 9)
    after = parse_batch_header(buffer, 3)
    assert after == before._replace(base_offset=123_456_789_012, partition_leader_epoch=9)
    assert crc_matches(memoryview(buffer)[3:], after)
    assert (buffer[:3], buffer[-3:], buffer[3 + HEADER_BYTES : -3]) == (b"abc", b"xyz", batch[HEADER_BYTES:])


def test_headers_of_several_batches_are_iterated_up_to_the_torn_one():
    first, second = build_batch(RECORDS), build_batch(RECORDS[:1], base_offset=3)
    buffer = first + second
    assert [(at, header.base_offset) for at, header in iterate_headers(buffer)] == [(0, 0), (len(first), 3)]
    for cut in range(len(first), len(buffer)):
        assert [at for at, _ in iterate_headers(buffer[:cut])] == [0]


def test_iterating_refuses_an_impossible_length():
    with pytest.raises(ApiError):
        list(iterate_headers(batch_with(batch_length=0)))


def test_a_batch_says_that_it_is_of_a_transaction_and_what_is_none_says_nothing():
    record = [Record(0, 0, None, b"x")]
    plain = build_batch(record)
    of_transaction = build_batch(record, producer_id=1, producer_epoch=0, base_sequence=0, is_transactional=True)
    assert is_transactional(memoryview(of_transaction))
    assert not is_transactional(plain)
    assert not is_transactional(of_transaction[:60])
    assert not is_transactional(b"")
