"""Two topics joined in time, and a topic joined with a table."""

import pytest

from broker.spark.jobs.table_join import JoinedRecord, JoinInput, join_in_order
from tests.broker.spark.conftest import Row

PAIRS = {"left.topic": "orders", "right.topic": "payments", "output.topic": "paid", "right.key": "$.order"}
ENRICHED = {"input.topic": "orders", "table.topic": "people", "output.topic": "known", "key.field": "$.who"}


@pytest.mark.long
@pytest.mark.spark
def test_records_of_a_key_are_paired_if_they_happened_near_each_other(topics, written_by):
    topics.append("orders", [Row("o1", {"eur": 5}, 1_000), Row("o2", "no json", 1_000), Row(None, "nobody's", 1_000)])
    topics.append("payments", [Row("p", {"order": "o1"}, 1_000)])
    late = [
        Row("p", {"order": "o1", "n": 2}, 61_000),
        Row("p", {"order": "o1"}, 61_001),
        Row("p", {"order": "o2"}, 999),
    ]
    topics.append("payments", late)
    written = written_by("stream_join", PAIRS | {"after.ms": "60000"})
    assert sorted(item.value["right_time"] for item in written) == ["1970-01-01T00:00:01Z", "1970-01-01T00:01:01Z"]
    first = min(written, key=lambda item: item.value["right_time"])
    assert (first.key, first.value["left"], first.value["right"]) == ("o1", {"eur": 5}, {"order": "o1"})


@pytest.mark.long
@pytest.mark.spark
def test_order_nobody_paid_is_told_when_nobody_can_pay_it_any_more(topics, written_by):
    topics.append("orders", [Row("o1", "first", 1_000), Row("o2", "second", 2_000)])
    topics.append("payments", [Row("p", {"order": "o1"}, 1_500)])
    topics.append("orders", [Row("o9", "much later", 9_000_000)])
    topics.append("payments", [Row("p", {"order": "o8"}, 9_000_000)])
    written = written_by("stream_join", PAIRS | {"after.ms": "1000", "watermark.ms": "1000", "join": "left_outer"})
    assert {item.key: "right" in item.value for item in written} == {"o1": True, "o2": False}


@pytest.mark.long
@pytest.mark.spark
def test_records_get_the_row_their_key_had_when_they_happened(topics, written_by):
    topics.append("people", [Row("ann", {"city": "Bonn"}, 10), Row("ann", {"city": "Ulm"}, 30), Row("bob", "x", 10)])
    orders = [Row(None, {"who": "ann", "n": n}, time_ms) for n, time_ms in enumerate((5, 20, 40))]
    topics.append("orders", [*orders, Row(None, {"who": "eve"}, 50), Row(None, {"n": 1}, 50)])
    topics.append("orders", [Row(None, {"who": "ann", "n": 3}, 60), Row(None, {"who": "bob"}, 60)])
    written = written_by("table_join", ENRICHED)
    cities = {item.value["record"]["n"]: item.value["row"] for item in written if item.key == "ann"}
    assert cities == {1: {"city": "Bonn"}, 2: {"city": "Ulm"}, 3: {"city": "Ulm"}}
    assert [item.value["row"] for item in written if item.key == "bob"] == ["x"]
    assert {item.key for item in written} == {"ann", "bob"}


@pytest.mark.long
@pytest.mark.spark
def test_record_without_a_row_is_kept_where_it_is_wanted(topics, written_by):
    topics.append("people", [Row("ann", {"city": "Bonn"}, 10), Row("ann", None, 20)])
    topics.append("orders", [Row(None, {"who": "ann"}, 30), Row(None, {"who": "eve"}, 30)])
    written = written_by("table_join", ENRICHED | {"unmatched": "keep"})
    assert sorted((item.key, "row" in item.value) for item in written) == [("ann", False), ("eve", False)]


def test_of_one_moment_the_tables_change_goes_first():
    record, row = JoinInput(10, True, 0, 0, "order"), JoinInput(10, False, 0, 7, "new")
    assert join_in_order("old", [record, row]) == ("new", [JoinedRecord("order", "new")])


def test_row_that_was_taken_away_is_not_joined():
    changes = [JoinInput(1, False, 0, 0, None), JoinInput(2, True, 0, 0, "order")]
    assert join_in_order("old", changes) == (None, [JoinedRecord("order", None)])
