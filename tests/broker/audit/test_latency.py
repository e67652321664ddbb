"""Latencies as increments carry them: mergeable, bounded, and telling clocks that disagree apart."""

import random

import pytest

from broker.audit.increment import DEAD, AuditTier, BadIncrement, Chain, Increment
from broker.audit.latency import LARGEST_MS, Latency, WindowLatencies
from broker.audit.tally import RecordTally
from broker.common.types import TopicPartition
from tests.audit_ledger import merged

P = TopicPartition("t", 0)


def latency(*values):
    made = Latency()
    for value in values:
        made.add(value)
    return made


def test_the_percentiles_of_a_sum_are_those_of_all_records():
    source = random.Random(7)
    values = [int(source.lognormvariate(6, 2)) for _ in range(4_000)]
    parts = [latency(*values[at::7]) for at in range(7)]
    assert merged(parts) == latency(*values)
    for share in (0.5, 0.95, 0.99):
        true = sorted(values)[int(share * len(values)) - 1]
        assert merged(parts).percentile(share) == pytest.approx(true, rel=0.06, abs=1)
    assert merged(parts).percentile(1.0) == pytest.approx(max(values), rel=0.06)


def test_a_record_from_the_future_is_counted_apart_and_makes_nobody_quick():
    assert (latency(-5, -70_000, 40).early, latency(-5).percentile(0.5)) == (2, None)
    assert latency(-5, 40).percentile(0.01) == pytest.approx(40, rel=0.06)


def test_no_percentile_is_above_the_highest_and_what_is_older_than_three_months_is_that_old():
    assert latency(1_000).percentile(0.99) <= 1_000
    assert latency(int(LARGEST_MS) * 10).percentile(0.5) == pytest.approx(LARGEST_MS, rel=0.06)


def test_what_is_said_is_what_was_told():
    for item in (latency(), latency(0, 1, 5, 5, 90_000, -1)):
        assert Latency.of_list(item.as_list()) == item


@pytest.mark.parametrize("latency", [[], [1], [0, 0, 1], [0, 0, 1, -1], [0, 0, 10**6, 1], [0, 0, "1", 1], [True, 0]])
def test_what_is_no_latency_is_refused(latency):
    with pytest.raises((ValueError, TypeError)):
        Latency.of_list(latency)


def test_what_is_taken_makes_room():
    latencies = WindowLatencies(buckets_max=3)
    for ms in (1, 10, 100):
        assert not latencies.is_full
        latencies.add(P, 0, ms)
    assert latencies.is_full
    assert latencies.take(P) == {0: latency(1, 10, 100)}
    assert not latencies.is_full
    assert latencies.take(P) == {}


def increment(**more):
    return Increment(Chain(AuditTier.SUNK, "pg", "t", 0), "e", 0, 5, {0: RecordTally(1, 2, 3, 4, 5)}, 0, 6, **more)


def test_an_increment_without_what_was_added_reads_as_it_always_did():
    """Counters of before know neither field."""
    plain = increment()
    assert b"aside" not in plain.to_bytes()
    assert b"latencies" not in plain.to_bytes()
    assert Increment.from_bytes(plain.to_bytes()) == plain


def test_what_was_added_comes_back_and_what_is_not_known_is_passed_over():
    whole = increment(aside={DEAD: {60_000: RecordTally(1)}}, latencies={0: latency(5, 6)})
    written = whole.to_bytes().replace(b'{"format"', b'{"of a later version": [1], "format"')
    assert Increment.from_bytes(written) == whole
    assert [window for window, _ in whole.whole()] == [0, 60_000]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"[[0, 1,", b'[["0", 1,'),
        (b"[[0, 1,", b"[[0, -7,"),
        (b"[[0, 1,", b"[[99999999999999999, 1,"),
        (b'"end": 6', b'"end": -1'),
        (b'"at_ms": 5', b'"at_ms": [5]'),
        (b'"window_ms": 60000', b'"window_ms": 0'),
        (b'"pg"', b"{}"),
    ],
)
def test_a_lie_is_no_increment(before, after):
    written = increment().to_bytes()
    assert before in written
    with pytest.raises(BadIncrement):
        Increment.from_bytes(written.replace(before, after))


@pytest.mark.parametrize("width", [1, 2, 3])
def test_a_coarser_one_is_near_counts_as_many_and_can_be_told_whatever_it_holds(width):
    fine = latency(0, 3, 50, 51, 52, 90_000, int(LARGEST_MS), int(LARGEST_MS) * 2, -4)
    coarse = fine.coarser(width)
    assert Latency.of_list(coarse.as_list()) == coarse == coarse.coarser(width)
    assert (coarse.ages.count, coarse.early, coarse.most_ms) == (fine.ages.count, fine.early, fine.most_ms)
    assert coarse.percentile(0.5) == pytest.approx(fine.percentile(0.5), rel=0.05 + 0.1 * width)
