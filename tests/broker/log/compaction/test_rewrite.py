"""What stays of one batch."""

import random

import pytest
from crc32c import crc32c
from hypothesis import given
from hypothesis import strategies as st

from broker.log.compaction.offset_map import OffsetMap
from broker.log.compaction.rebuild import delete_horizon_of
from broker.log.compaction.rewrite import RecordFate, Rewriter, note_keys
from broker.log.compaction.transactions import Transactions
from broker.records.batch import (
    CRC,
    CRC_AT,
    HEADER,
    HEADER_BYTES,
    LOG_APPEND_TIME_BIT,
    Compression,
    crc_matches,
    parse_batch_header,
)
from broker.records.builder import build_batch
from broker.records.record import INT64_MAX, Record, decode_records

NOW = 1_700_000_000_000
RETENTION = 5_000
FAR = 2**62


def record(key, value, timestamp_ms=NOW, headers=()) -> Record:
    return Record(0, timestamp_ms, key, value, headers)


def rewriter(later=(), *, end_offset=FAR, now_ms=NOW, transactions=None) -> Rewriter:
    """As if each key of `later` had been written again at the offset that is given there."""
    offsets = OffsetMap(1 << 16, 1_000)
    for key, offset in dict(later).items():
        offsets.put(key, offset)
    return Rewriter(offsets, transactions or Transactions(), end_offset, now_ms, RETENTION)


def rewrite(batch, later=(), *, keep_empty=False, **options) -> bytes | None:
    batch = bytes(batch)
    data = rewriter(later, **options).rewrite(parse_batch_header(batch), batch, keep_empty=keep_empty)
    assert data is None or crc_matches(data, parse_batch_header(data))
    return data


def test_batch_whose_records_all_stay_is_not_touched():
    batch = bytes(build_batch([record(b"a", b"1"), record(b"b", b"2")], base_offset=7))
    header = parse_batch_header(batch)
    assert rewriter({b"a": 7, b"b": 8}).rewrite(header, batch, keep_empty=False) is batch


@pytest.mark.parametrize("codec", list(Compression))
def test_superseded_records_go_and_the_rest_keeps_everything(codec):
    records = [
        record(b"a", b"1", NOW, (("h", b"x"), ("n", None))),
        record(b"b", b"2" * 200, NOW + 5),
        record(b"c", b"", NOW - 3, (("h", b"y"),)),
    ]
    identity = {"producer_id": 9, "producer_epoch": 2, "base_sequence": 40, "leader_epoch": 3}
    before = parse_batch_header(build_batch(records, base_offset=100, compression=codec, **identity))
    batch = build_batch(records, base_offset=100, compression=codec, **identity)
    after = rewrite(batch, {b"b": 500})
    header = parse_batch_header(after)
    assert decode_records(after) == [
        records[0]._replace(offset=100),
        records[2]._replace(offset=102),
    ]
    assert header.compression is codec
    assert (header.base_offset, header.last_offset, header.records_count) == (100, 102, 2)
    for name in ("producer_id", "producer_epoch", "base_sequence", "partition_leader_epoch", "base_timestamp"):
        assert getattr(header, name) == getattr(before, name), name
    assert header.max_timestamp == NOW


def test_only_the_last_of_a_key_within_one_batch_stays():
    batch = build_batch([record(b"a", b"1"), record(b"a", b"2"), record(b"a", b"3")])
    assert [(r.offset, r.value) for r in decode_records(rewrite(batch, {b"a": 2}))] == [(2, b"3")]


def test_record_without_a_key_goes_and_is_counted():
    batch = bytes(build_batch([record(None, b"1"), record(b"", b"2")]))
    judge = rewriter()
    after = judge.rewrite(parse_batch_header(batch), batch, keep_empty=False)
    assert [(r.offset, r.key) for r in decode_records(after)] == [(1, b"")]
    assert judge.fates == {RecordFate.WITHOUT_KEY: 1, RecordFate.KEPT: 1}


def test_batch_without_survivors_goes():
    assert rewrite(build_batch([record(b"a", b"1")]), {b"a": 9}) is None


def test_batch_that_must_be_remembered_stays_as_a_header():
    batch = build_batch(
        [record(b"a", b"1"), record(b"b", b"2", NOW + 9)],
        base_offset=40,
        leader_epoch=6,
        compression=Compression.GZIP,
        producer_id=9,
        producer_epoch=2,
        base_sequence=17,
    )
    before, after = parse_batch_header(batch), rewrite(batch, {b"a": 90, b"b": 91}, keep_empty=True)
    header = parse_batch_header(after)
    assert len(after) == HEADER_BYTES
    assert (header.records_count, header.compression, header.base_timestamp) == (0, Compression.NONE, -1)
    same = ("base_offset", "last_offset_delta", "max_timestamp", "partition_leader_epoch", "producer_id")
    for name in (*same, "producer_epoch", "base_sequence"):
        assert getattr(header, name) == getattr(before, name), name
    assert decode_records(after) == []
    assert rewrite(after, keep_empty=True) == after
    assert rewrite(after) is None


def test_tombstone_gets_a_horizon_and_its_batch_keeps_every_time():
    records = [record(b"a", None, NOW - 70), record(b"b", b"2", NOW - 1_000_000_000), record(b"c", b"3", NOW + 8)]
    after = rewrite(build_batch(records, compression=Compression.ZSTD))
    header = parse_batch_header(after)
    assert delete_horizon_of(header) == NOW + RETENTION
    assert decode_records(after) == [record._replace(offset=place) for place, record in enumerate(records)]
    assert header.max_timestamp == NOW + 8


def test_tombstone_stays_until_its_horizon_and_not_longer():
    first = rewrite(build_batch([record(b"a", None), record(b"b", b"2")]))
    assert rewrite(first, now_ms=NOW + RETENTION - 1) == first
    later = rewrite(first, now_ms=NOW + RETENTION)
    assert [r.key for r in decode_records(later)] == [b"b"]
    assert delete_horizon_of(parse_batch_header(later)) == NOW + RETENTION


def test_horizon_is_set_once():
    first = rewrite(build_batch([record(b"a", None)]))
    assert rewrite(first, now_ms=NOW + 3_000) == first


def test_superseded_tombstone_goes_at_once():
    assert rewrite(build_batch([record(b"a", None)]), {b"a": 5}) is None


def test_batch_of_values_gets_no_horizon():
    after = rewrite(build_batch([record(b"a", None), record(b"b", b"2")]), {b"a": 5})
    assert delete_horizon_of(parse_batch_header(after)) is None


def test_log_append_time_is_told_of_each_record_afterwards_too():
    batch = build_batch([record(b"a", b"1"), record(b"b", None)])
    header = parse_batch_header(batch)._replace(attributes=LOG_APPEND_TIME_BIT, max_timestamp=NOW + 77)
    HEADER.pack_into(batch, 0, *header)
    CRC.pack_into(batch, CRC_AT, crc32c(memoryview(batch)[21:]))
    after = rewrite(batch, {b"a": 5})
    assert [(r.key, r.timestamp_ms) for r in decode_records(after)] == [(b"b", NOW + 77)]


def test_records_beyond_the_end_of_the_pass_are_not_judged():
    batch = build_batch([record(b"a", b"1"), record(b"a", b"2"), record(None, b"3"), record(b"b", None)])
    after = rewrite(batch, {b"a": 1}, end_offset=1)
    assert [(r.offset, r.value) for r in decode_records(after)] == [(1, b"2"), (2, b"3"), (3, None)]
    assert delete_horizon_of(parse_batch_header(after)) is None


def test_batch_beyond_the_end_of_the_pass_is_not_even_opened():
    """Not one without records either: nobody knows yet whether it is the last of its producer."""
    empty = rewrite(build_batch([record(b"a", b"1")], base_offset=20), {b"a": 99}, keep_empty=True)
    assert rewrite(empty, end_offset=20) == empty
    assert rewrite(empty, end_offset=21) is None


def test_tombstones_across_the_end_of_the_pass_get_their_horizon_in_the_next():
    batch = build_batch([record(b"a", None), record(b"b", b"1")])
    assert rewrite(batch, end_offset=1) == batch
    assert delete_horizon_of(parse_batch_header(rewrite(batch, end_offset=2))) == NOW + RETENTION


def test_batch_that_cannot_be_decoded_stays_as_it_is():
    batch = bytearray(build_batch([record(b"a", b"1")]))
    batch[HEADER_BYTES] ^= 0x40
    CRC.pack_into(batch, CRC_AT, crc32c(memoryview(batch)[21:]))
    batch = bytes(batch)
    judge = rewriter({b"a": 5})
    assert judge.rewrite(parse_batch_header(batch), batch, keep_empty=False) is batch
    assert judge.fates == {RecordFate.UNREADABLE: 1}
    assert note_keys(OffsetMap(1_000, 10), parse_batch_header(batch), batch, 0) is None


def test_decompression_bomb_stays_packed():
    batch = bytes(build_batch([record(b"a", bytes(80 * 1024 * 1024))], compression=Compression.ZSTD))
    assert len(batch) < 100_000
    assert rewrite(batch, {b"a": 5}) == batch


def test_horizon_at_the_end_of_time_is_still_a_timestamp():
    judge = Rewriter(OffsetMap(1_000, 10), Transactions(), FAR, NOW, 2**63 - 1)
    batch = bytes(build_batch([record(b"a", None)]))
    after = judge.rewrite(parse_batch_header(batch), batch, keep_empty=False)
    assert delete_horizon_of(parse_batch_header(after)) == 2**63 - 1
    assert decode_records(after) == decode_records(batch)


def test_keys_are_noted_up_to_the_one_that_finds_no_room():
    offsets = OffsetMap(0, 0)
    batch = bytes(build_batch([record(b"%d" % place, b"") for place in range(6)], base_offset=50))
    assert note_keys(offsets, parse_batch_header(batch), batch, 51) == 51 + offsets.capacity
    assert offsets.latest(b"0") == -1
    assert offsets.latest(b"1") == 51


@given(st.data())
def test_any_batch_keeps_exactly_what_the_map_says(data):
    keys = st.sampled_from([None, b"", b"a", b"b", b"c"])
    values = st.one_of(st.none(), st.binary(max_size=40))
    times = st.integers(0, 2**62)
    drawn = data.draw(st.lists(st.tuples(keys, values, times), min_size=1, max_size=12))
    codec = data.draw(st.sampled_from(Compression))
    end_offset = data.draw(st.integers(990, 1_020))
    later = data.draw(st.dictionaries(st.sampled_from([b"", b"a", b"b", b"c"]), st.integers(1_000, 1_020)))
    batch = build_batch([record(*fields) for fields in drawn], base_offset=1_000, compression=codec)
    expected = [
        kept
        for kept in decode_records(batch)
        if kept.offset >= end_offset or (kept.key is not None and kept.offset >= later.get(kept.key, -1))
    ]
    after = rewrite(batch, later, end_offset=end_offset, keep_empty=True)
    assert decode_records(after) == expected
    assert parse_batch_header(after).next_offset == 1_000 + len(drawn)


def test_damaged_records_raise_nothing_and_change_nothing():
    """Any bytes under a right CRC are either sifted or left alone."""
    chance = random.Random(3)
    good = build_batch([record(b"k%d" % place, b"v" * place) for place in range(8)])
    for _ in range(400):
        batch = bytearray(good)
        for _ in range(chance.randint(1, 4)):
            batch[chance.randrange(HEADER_BYTES, len(batch))] = chance.randrange(256)
        CRC.pack_into(batch, CRC_AT, crc32c(memoryview(batch)[21:]))
        after = rewrite(batch, {b"k1": 99, b"k5": 99}, keep_empty=True)
        assert parse_batch_header(after).next_offset == 8


def test_batch_with_a_time_that_64_bits_cannot_tell_stays_as_it_is():
    """Its header says otherwise, and topics that are not compacted take its word."""
    batch = build_batch([record(b"a", b"1", 0), record(b"b", b"2", INT64_MAX)])
    HEADER.pack_into(batch, 0, *parse_batch_header(batch)._replace(base_timestamp=NOW, max_timestamp=NOW))
    CRC.pack_into(batch, CRC_AT, crc32c(memoryview(batch)[21:]))
    batch = bytes(batch)
    judge = rewriter({b"a": 5})
    assert judge.rewrite(parse_batch_header(batch), batch, keep_empty=False) is batch
    assert judge.fates == {RecordFate.UNREADABLE: 2}


def test_batch_whose_times_are_too_far_from_the_horizon_stays_as_it_is():
    batch = bytes(build_batch([record(b"a", None, -(2**63) + 5_000), record(b"b", b"1", -(2**63))]))
    judge = rewriter()
    assert judge.rewrite(parse_batch_header(batch), batch, keep_empty=False) is batch
    assert judge.fates == {RecordFate.UNREADABLE: 2}
