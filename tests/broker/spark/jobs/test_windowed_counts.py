"""Counts in windows: by the time things happened, late ones until the watermark, sums where they are asked for."""

import pytest

from tests.broker.spark.conftest import Row

pytestmark = pytest.mark.spark
MINUTE = 60_000
SETTINGS = {"input.topic": "visits", "output.topic": "counts", "group.by": "$.path, status:$.status"}


def visit(path: str, at_ms: int, status: int = 200) -> Row:
    return Row(None, {"path": path, "status": status, "at": at_ms}, at_ms)


def latest(written) -> dict[str, int]:
    return {item.key: item.value["count"] for item in written}


def test_newest_record_of_a_key_is_the_count_of_its_window(topics, written_by):
    topics.append("visits", [visit("/a", 1), visit("/a", 2), visit("/b", MINUTE + 1)])
    topics.append("visits", [visit("/a", 3), visit("/a", 4, status=404)])
    written = written_by("windowed_counts", SETTINGS)
    assert latest(written) == {
        "1970-01-01T00:00:00Z|/a|200": 3,
        "1970-01-01T00:00:00Z|/a|404": 1,
        "1970-01-01T00:01:00Z|/b|200": 1,
    }
    assert [item.value["count"] for item in written if item.key.endswith("/a|200")] == [2, 3]
    assert written[0].value == {
        "window_start": "1970-01-01T00:00:00Z",
        "window_end": "1970-01-01T00:01:00Z",
        "path": "/a",
        "status": "200",
        "count": 2,
    }


@pytest.mark.long
def test_line_that_says_nothing_is_counted_as_missing(topics, written_by):
    topics.append("visits", [Row(None, "no json"), Row(None, '{"path": "/only"}'), Row(None, None)])
    assert latest(written_by("windowed_counts", SETTINGS)) == {
        "1970-01-01T00:00:00Z|(missing)|(missing)": 2,
        "1970-01-01T00:00:00Z|/only|(missing)": 1,
    }


def test_closed_windows_come_once_and_late_records_are_not_counted(topics, written_by):
    topics.append("visits", [visit("/a", 1), visit("/a", 2)])
    topics.append("visits", [visit("/a", 10 * MINUTE)])
    topics.append("visits", [visit("/a", 10 * MINUTE)])
    topics.append("visits", [visit("/a", 5)])
    more = {"emit": "closed", "watermark.ms": "60000", "time.field": "$.at"}
    written = written_by("windowed_counts", SETTINGS | more)
    assert latest(written) == {"1970-01-01T00:00:00Z|/a|200": 2}
    assert len(written) == 1


@pytest.mark.long
def test_overlapping_windows_add_up_what_numbers_say(topics, written_by):
    topics.append("visits", [Row("k", {"bytes": 5}, 90_000), Row("k", {"bytes": "none"}, 90_001)])
    more = {"group.by": "key", "slide.ms": "30000", "sum.field": "$.bytes"}
    written = written_by("windowed_counts", SETTINGS | more)
    assert {item.key: (item.value["count"], item.value["sum"]) for item in written} == {
        "1970-01-01T00:01:00Z|k": (2, 5.0),
        "1970-01-01T00:01:30Z|k": (2, 5.0),
    }


@pytest.mark.long
def test_lines_of_a_web_server_are_counted_by_their_own_time(topics, written_by):
    line = '127.0.0.1 - - [01/Jan/1970:01:00:30 +0100] "GET {} HTTP/1.1" 200 5'
    topics.append("visits", [Row(None, line.format(path), 3_600_000) for path in ("/a", "/b", "/a")])
    more = {
        "group.by": r'path:/"\w+ (\S+)/',
        "time.field": r"/\[([^\]]+)\]/",
        "time.format": "dd/MMM/yyyy:HH:mm:ss Z",
    }
    written = written_by("windowed_counts", SETTINGS | more)
    assert latest(written) == {"1970-01-01T00:00:00Z|/a": 2, "1970-01-01T00:00:00Z|/b": 1}


@pytest.mark.long
def test_clock_that_is_ahead_does_not_end_the_windows(topics, written_by):
    topics.append("visits", [Row(None, {"path": "/a", "status": 1, "at": 10**12}, 5)])
    topics.append("visits", [visit("/a", 6, status=1)])
    more = {"time.field": "$.at", "watermark.ms": "0"}
    assert latest(written_by("windowed_counts", SETTINGS | more)) == {"1970-01-01T00:00:00Z|/a|1": 1}


@pytest.mark.long
def test_number_that_cannot_be_added_up_spoils_no_sum(topics, written_by):
    topics.append("visits", [Row("k", {"bytes": amount}, 1) for amount in (5, "NaN", "Infinity", "-Infinity", "1e999")])
    written = written_by("windowed_counts", SETTINGS | {"group.by": "key", "sum.field": "$.bytes"})
    assert {item.key: (item.value["count"], item.value["sum"]) for item in written} == {
        "1970-01-01T00:00:00Z|k": (5, 5.0)
    }
