"""The accumulator table: counts by key since the beginning."""

from collections import Counter

import pytest

from tests.broker.spark.conftest import Row

pytestmark = [pytest.mark.long, pytest.mark.spark]
SETTINGS = {"input.topic": "lines", "output.topic": "table"}
TEXT = "\n".join(["the log is the  truth", "", "the table is\tthe cache"] * 5)


def latest(written) -> dict[str, int]:
    return {item.key: item.value["count"] for item in written}


def test_words_of_lines_are_counted_over_all_batches(topics, written_by):
    lines = TEXT.splitlines()
    for batch in (lines[:7], lines[7:]):
        topics.append("lines", [Row(None, line) for line in batch])
    assert latest(written_by("count_table", SETTINGS | {"count": "words"})) == Counter(TEXT.split())


def test_records_are_counted_and_added_up_by_their_key(topics, written_by):
    topics.append("lines", [Row("a", {"n": 2}), Row("a", {"n": 0.5}), Row("b", {}), Row(None, {"n": 1})])
    written = written_by("count_table", SETTINGS | {"sum.field": "$.n"})
    assert {item.key: item.value for item in written} == {
        "a": {"count": 2, "sum": 2.5},
        "b": {"count": 1},
        "(missing)": {"count": 1, "sum": 1.0},
    }
