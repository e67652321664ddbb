"""What some records have in common: keys, nulls, formats, order, headers."""

import msgpack
import pytest

from console.cluster.contents import counting
from console.cluster.contents.batches import told_of
from console.cluster.contents.counting import Contents
from console.cluster.contents.export import rows_of
from console.cluster.contents.order import Order
from console.cluster.contents.window import newest_starts
from console.kit.gateway.records.interface import BatchView, OffsetSpan, RecordView


def record(offset: int, value: bytes | None = b"v", key: bytes | None = b"k", **more) -> RecordView:
    return RecordView(more.pop("partition", 0), offset, more.pop("at_ms", 1_000), key, value, **more)


def counted(*records: RecordView) -> dict:
    contents = Contents("orders", len(records))
    contents.add(records)
    return contents.as_json()


def test_nulls_keys_and_headers_are_counted():
    result = counted(record(0, None), record(1, b"", None), record(2, b"x", headers=(("trace", b"1"), ("trace", b"2"))))
    assert (result["records"], result["tombstones"], result["empty_values"], result["with_headers"]) == (3, 1, 1, 1)
    assert (result["keys"]["none"], result["keys"]["distinct"], result["keys"]["top"]) == (1, 1, [["k", 2]])
    assert result["headers"] == [["trace", 1]]
    assert result["sizes"]["value"]["max"] == 1


def test_each_value_is_of_a_format_and_documents_have_fields():
    result = counted(
        record(0, b'{"a": 1}'),
        record(1, msgpack.packb({"a": "x"})),
        record(2, b"plain"),
        record(3, b"\xff\xfe\x00\x01"),
    )
    assert dict(result["formats"]["value"]) == {"JSON": 1, "MessagePack": 1, "text": 1, "bytes": 1}
    assert result["fields"]["value"]["rows"] == [["a", 2, [["integer", 1], ["string", 1]], "1"]]


def test_of_many_records_every_so_many_is_looked_into_and_no_longer_than_allowed(monkeypatch):
    monkeypatch.setattr(counting, "DOCUMENTS_MAX", 10)
    records = [record(number, b'{"a": 1}') for number in range(100)]
    assert counted(*records)["looked_into"] == 10

    seconds = iter(range(0, 10_000, 6))
    slow = Contents("orders", 10, now_s=lambda: next(seconds))
    slow.add(records[:10])
    assert (slow.as_json()["looked_into"], slow.as_json()["records"]) == (2, 10)


def test_times_that_go_back_silence_and_gaps_are_told_by_partition():
    order = Order()
    for offset, at_ms, partition in ((0, 1_000, 0), (1, 9_000, 0), (5, 4_000, 0), (9, 500, 1), (10, None, 1)):
        order.add(record(offset, at_ms=at_ms, partition=partition))
    assert (order.late, order.late_ms) == (1, 5_000)
    assert (order.silence_ms, order.silence_until) == (8_000, "0:1")
    assert (order.gaps, order.missing, order.no_time) == (1, 3, 1)
    assert (order.first_ms, order.last_ms) == (500, 9_000)


def test_a_stranger_cannot_make_it_grow():
    records = [record(number, b"\x00" * 10, b"%d" % number, headers=((f"h{number}", b""),)) for number in range(5_000)]
    result = counted(*records)
    assert len(result["headers"]) == counting.HEADER_NAMES_MAX
    assert result["headers_left_out"] == 5_000 - counting.HEADER_NAMES_MAX
    assert len(result["keys"]["top"]) == counting.KEYS_SHOWN


def test_batches_are_counted_by_codec_and_size():
    batches = [BatchView(0, 0, 10, 500, "zstd"), BatchView(0, 10, 1, 80, "none", True)]
    counted = told_of(batches)
    assert counted["codecs"] == [["zstd", 1], ["none", 1]]
    assert (counted["transactional"], counted["records"]["max"], counted["bytes"]["min"]) == (1, 10, 80)


@pytest.mark.parametrize("count", [1, 7, 100, 10_000])
def test_the_newest_are_shared_among_partitions_and_short_ones_give_theirs_away(count):
    spans = {0: OffsetSpan(0, 3), 1: OffsetSpan(50, 1_050), 2: OffsetSpan(10, 10)}
    starts = newest_starts(spans, count)
    assert sum(span.next - starts[item] for item, span in spans.items()) == min(count, 1_003)
    assert all(span.first <= starts[item] <= span.next for item, span in spans.items())


def test_all_of_it_is_in_the_file():
    result = counted(record(0, b'{"a": 1}')) | {"batches": told_of([BatchView(0, 0, 1, 80, "none")])}
    rows = list(rows_of(result))
    assert ("records", "records", 1, "") in rows
    assert ("value field", "a", 1, "of 1; integer; 1") in rows
    assert ("batches", "compressed by none", 1, "") in rows
