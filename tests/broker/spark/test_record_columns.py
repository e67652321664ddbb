"""Decoding in bulk finds what decoding one by one finds, and refuses what that refuses."""

import tracemalloc

import pytest
from crc32c import crc32c
from hypothesis import example, given
from hypothesis import strategies as st

from broker.client.visible_batches import end_of, visible_batches
from broker.common.errors import ApiError
from broker.common.types import TopicPartition
from broker.protocol.messages.fetch import AbortedTransaction
from broker.records.batch import HEADER_BYTES, LOG_APPEND_TIME_BIT, Compression, parse_batch_header
from broker.records.builder import build_batch
from broker.records.control import EndMarker, MarkerType, build_marker
from broker.records.record import Record, decode_records
from broker.spark.record_columns import BATCH_RECORDS_MAX, decode_columns, unpack
from broker.spark.rows import ARROW_BATCH_BYTES, in_portions, to_arrow
from tests.produced_batches import batch_of_headers, batch_of_payload

P0 = TopicPartition("t", 0)

some_bytes = st.none() | st.binary(max_size=20) | st.integers(60, 9_000).map(bytes)
records = st.builds(
    Record,
    st.just(0),
    st.integers(0, 2**42),
    some_bytes,
    some_bytes,
    st.lists(st.tuples(st.text(max_size=5), st.none() | st.binary(max_size=5)), max_size=3).map(tuple),
)
batches = st.tuples(st.lists(records, min_size=1, max_size=70), st.sampled_from(Compression), st.booleans())


def concatenated(parts) -> bytes:
    """Batches one behind the other, each with a gap of offsets before it, some in log append time."""
    data, base = bytearray(), 5
    for written, compression, append_time in parts:
        batch = build_batch(written, base_offset=base, compression=compression)
        if append_time:
            batch = with_attributes(batch, LOG_APPEND_TIME_BIT)
        data += batch
        base += len(written) + 7
    return bytes(data)


def with_attributes(batch: bytearray, bits: int) -> bytearray:
    batch[22] |= bits
    batch[17:21] = crc32c(batch[21:]).to_bytes(4)
    return batch


def rows_of(data: bytes, start=0, end=2**40, aborted=None) -> list[tuple]:
    rows = []
    for portion in in_portions(visible_batches(memoryview(data), aborted)):
        for part in to_arrow(portion, P0, start, end, with_headers=True):
            rows += part.to_pylist()
    return [
        (row["offset"], row["key"], row["value"], [tuple(header.values()) for header in row["headers"] or ()])
        for row in rows
    ]


@given(st.lists(batches, min_size=1, max_size=4))
@example([([Record(0, 0, None, None)], Compression.NONE, False)])
def test_bulk_decoding_finds_every_record(parts):
    data = concatenated(parts)
    expected, at = [], 0
    while at < len(data):
        header = parse_batch_header(data, at)
        expected += decode_records(data[at : at + header.size_bytes])
        at += header.size_bytes
    columns = decode_columns(unpack(*batch) for batch in visible_batches(memoryview(data), None))
    assert columns.timestamp_ms.tolist() == [record.timestamp_ms for record in expected]
    assert columns.timestamp_type.tolist() == [int(late) for written, _, late in parts for _ in written]
    assert rows_of(data) == [(r.offset, r.key, r.value, list(r.headers)) for r in expected]
    assert end_of(memoryview(data)) == expected[-1].offset + 1


@given(batches, st.data())
def test_damaged_records_are_refused_or_still_add_up(part, data):
    """The CRC is passed by: this is what a broken producer may write."""
    whole = build_batch(part[0])
    place = data.draw(st.integers(HEADER_BYTES, len(whole) - 1))
    whole[place] = data.draw(st.integers(0, 255))
    header = parse_batch_header(whole)
    try:
        columns = decode_columns([unpack(header, memoryview(whole))])
    except ApiError:
        return
    ends = (columns.end_at, columns.headers_at, columns.value_at + columns.value_length, columns.key_at)
    assert all((end <= len(whole)).all() for end in ends)
    assert len(columns.offset) == len(part[0])


def test_rows_end_where_the_range_ends():
    data = concatenated([([Record(0, 0, b"k", b"%d" % n) for n in range(10)], Compression.ZSTD, False)])
    assert [offset for offset, *_ in rows_of(data, 8, 12)] == [8, 9, 10, 11]
    assert rows_of(data, 100, 200) == []


@pytest.mark.parametrize("timestamp_ms", [2**63 // 1000, 2**62, 2**63 - 1])
def test_time_beyond_all_times_is_not_taken_for_another(timestamp_ms):
    batch = bytes(build_batch([Record(0, timestamp_ms, None, b"x")]))
    (portion,) = in_portions(visible_batches(memoryview(batch), None))
    (rows,) = to_arrow(portion, P0, 0, 1, with_headers=False)
    (time,) = rows.column("timestamp").cast("int64").to_pylist()
    assert time // 1_000 == 2**63 // 1000 - 1


def test_batch_with_a_wrong_crc_is_refused():
    data = bytearray(concatenated([([Record(0, 0, None, b"v")], Compression.NONE, False)]))
    data[-2] ^= 1
    with pytest.raises(ApiError, match="CRC-32C of the batch at offset 5"):
        rows_of(bytes(data))


def test_message_format_of_old_brokers_is_named():
    data = bytearray(concatenated([([Record(0, 0, None, b"v")], Compression.NONE, False)]))
    data[16] = 1
    with pytest.raises(ApiError, match="message format 1"):
        rows_of(bytes(data))


def test_batch_that_is_cut_off_is_left_for_the_next_fetch():
    data = concatenated([([Record(0, 0, None, b"v")], Compression.NONE, False)] * 2)
    assert len(rows_of(data[:-1])) == 1
    assert end_of(memoryview(data[:-1])) == 6
    assert end_of(memoryview(data[:30])) is None


def transactional(base: int, producer_id: int, value: bytes) -> bytes:
    records = [Record(0, 0, None, value)]
    return bytes(
        build_batch(
            records, base_offset=base, producer_id=producer_id, producer_epoch=0, base_sequence=0, is_transactional=True
        )
    )


def marker(base: int, producer_id: int, kind: MarkerType) -> bytes:
    batch = build_marker(EndMarker(kind, 0), producer_id, 0, 0)
    batch[:8] = base.to_bytes(8)
    return bytes(batch)


def test_aborted_transactions_are_seen_only_by_readers_of_everything():
    data = b"".join(
        (
            transactional(0, 1, b"aborted"),
            transactional(1, 2, b"committed"),
            marker(2, 1, MarkerType.ABORT),
            transactional(3, 1, b"committed later"),
            marker(4, 2, MarkerType.COMMIT),
            transactional(5, 2, b"aborted later"),
            marker(6, 1, MarkerType.COMMIT),
            marker(7, 2, MarkerType.ABORT),
        )
    )
    aborted = [AbortedTransaction(producer_id=2, first_offset=5), AbortedTransaction(producer_id=1, first_offset=0)]
    assert [value for _, _, value, _ in rows_of(data, aborted=aborted)] == [b"committed", b"committed later"]
    assert [offset for offset, *_ in rows_of(data)] == [0, 1, 3, 5]
    assert end_of(memoryview(data)) == 8, "control records take up offsets, at the end too"


def peak_of(batches: list[bytearray]) -> int:
    """Bytes, while all of them are read."""
    data = memoryview(b"".join(batches))
    tracemalloc.start()
    try:
        for portion in in_portions(visible_batches(data, None)):
            for rows in to_arrow(portion, P0, 0, 2**40, with_headers=True):
                assert rows.num_rows
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_what_is_unpacked_together_is_bounded_by_what_it_unpacks_to():
    """A portion was a portion by what compression usually saves: one of 300 batches held what they all unpack to."""
    batches = [
        build_batch([Record(0, 1, None, bytes(15 << 20))], base_offset=at, compression=Compression.ZSTD)
        for at in range(20)
    ]
    peak = peak_of(batches)
    assert peak < 10 * ARROW_BATCH_BYTES, "two are read while the next two are unpacked"


def test_records_of_many_headers_come_in_parts():
    (portion,) = in_portions(visible_batches(memoryview(batch_of_headers(100_001)), None))
    (rows,) = to_arrow(portion, P0, 0, 2**40, with_headers=True)
    assert rows["headers"].to_pylist() == [[{"key": "", "value": b""}] * 100_001]
    (portion,) = in_portions(
        visible_batches(memoryview(build_batch([Record(0, 1, b"", b"", (("", b""),) * 40_000)] * 5)), None)
    )
    assert [rows.num_rows for rows in to_arrow(portion, P0, 0, 2**40, with_headers=True)] == [2, 2, 1]
    assert [rows.num_rows for rows in to_arrow(portion, P0, 0, 2**40, with_headers=False)] == [5]


def test_a_record_of_more_headers_than_are_read_is_refused():
    (portion,) = in_portions(visible_batches(memoryview(batch_of_headers(500_001)), None))
    with pytest.raises(ApiError, match="more than the 500000 headers"):
        list(to_arrow(portion, P0, 0, 1, with_headers=True))


@pytest.mark.parametrize(("payload", "count"), [(bytes(5_000_000), 1), (bytes(5_000_000), BATCH_RECORDS_MAX + 1)])
def test_records_of_no_bytes_fill_no_memory(payload, count):
    """A batch of 64 MB may hold as many that begin and end at once."""
    batch = memoryview(batch_of_payload(payload, count, Compression.ZSTD))
    tracemalloc.start()
    try:
        with pytest.raises(ApiError, match=r"whole records|are read of one"):
            decode_columns([unpack(parse_batch_header(batch), batch)])
        assert tracemalloc.get_traced_memory()[1] < 6 * len(payload)
    finally:
        tracemalloc.stop()
