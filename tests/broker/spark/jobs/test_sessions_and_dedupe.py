"""Sessions end with a pause; a record that comes twice passes once."""

import pytest

from tests.broker.spark.conftest import Row

pytestmark = [pytest.mark.long, pytest.mark.spark]


def test_pause_ends_a_session(topics, written_by):
    clicks = [Row("ann", {"n": 1}, time_ms) for time_ms in (0, 1_000, 1_900, 10_000)]
    topics.append("clicks", [*clicks, Row("bob", {"n": 5}, 500)])
    topics.append("clicks", [Row("clock", {}, 100_000)])
    settings = {"input.topic": "clicks", "output.topic": "sessions", "gap.ms": "1000", "watermark.ms": "1000"}
    written = written_by("sessions", settings | {"sum.field": "$.n"})
    result = sorted((item.key, item.value["count"], item.value["sum"], item.value["length_ms"]) for item in written)
    assert result == [
        ("ann|1970-01-01T00:00:00Z", 3, 3.0, 1_900),
        ("ann|1970-01-01T00:00:10Z", 1, 1.0, 0),
        ("bob|1970-01-01T00:00:00.500Z", 1, 5.0, 0),
    ]


def test_repetition_is_dropped_within_a_batch_and_after_it(topics, written_by):
    topics.append("orders", [Row("a", "1", 0), Row("a", "2", 1), Row("b", "1", 2)])
    topics.append("orders", [Row("a", "3", 3), Row("c", "1", 4), Row(None, "1", 5), Row(None, "2", 6)])
    settings = {"input.topic": "orders", "output.topic": "once"}
    written = written_by("dedupe", settings)
    assert sorted(item.key or "-" for item in written) == ["-", "a", "b", "c"]


def test_records_may_be_told_apart_by_what_they_say(topics, written_by):
    topics.append("orders", [Row("a", {"id": n, "line": n % 2}, n) for n in (1, 1, 2, 3)])
    settings = {"input.topic": "orders", "output.topic": "once", "by": "$.line, key"}
    assert len(written_by("dedupe", settings)) == 2


def test_keys_that_are_no_text_are_told_apart(topics, written_by):
    topics.append("orders", [Row(number.to_bytes(8, "big"), "1", number) for number in (127, 128, 129, 255, 128)])
    settings = {"input.topic": "orders", "output.topic": "once"}
    assert len(written_by("dedupe", settings)) == 4


def test_headers_come_along(topics, written_by):
    topics.append("orders", [Row("a", "1", 1, (("trace", b"7"),)), Row("b", "1", 2)])
    settings = {"input.topic": "orders", "output.topic": "once"}
    assert {setting.key: setting.headers for setting in written_by("dedupe", settings)} == {
        "a": {"trace": b"7"},
        "b": {},
    }
