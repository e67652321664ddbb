"""A short slice of the kills of Spark queries; `python -m tests.faults streams` is the long run."""

import pytest

from tests.faults.streams.queries import LATENESS_S, QUERIES, Written
from tests.faults.streams.run import run_stream_kills


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.timeout(1200)
def test_query_killed_at_a_random_moment_writes_each_record_once(tmp_path):
    run = run_stream_kills(tmp_path, "pass-through", 1, seed=13)
    assert run.violations == [], f"seed {run.seed}, in {tmp_path}"
    assert run.records > 200


def test_windows_are_counted_when_they_are_closed():
    last = Written(0, b"last", b"last", 10_000_000 + LATENESS_S * 1_000)
    early = [Written(0, b"1", b"", 9_999_999), Written(1, b"1", b"", 9_998_000), Written(1, b"2", b"", 9_997_999)]
    late = Written(0, b"1", b"", 10_000_000)
    expected = QUERIES["windowed-count"].expected([*early, late, last])
    assert dict(expected) == {(b"9998000/1", b"2"): 1, (b"9996000/2", b"1"): 1}


def test_of_a_join_pairs_come_and_what_found_nothing():
    last = Written(0, b"last", b"last", 10_000_000)
    numbers = [Written(0, b"1", b"%d" % number, 9_000_000 + number) for number in (4, 6)]
    assert dict(QUERIES["join"].expected([*numbers, last])) == {(b"4", b"alone"): 1, (b"6", b"pair"): 1}
