"""Durations in buckets: nothing is lost, and a bucket's end is at most an eighth above what is in it."""

import random

import pytest

from broker.common.durations import BUCKETS, Durations


def buckets_of(*durations_ns: int) -> list[tuple[int, int]]:
    durations = Durations()
    for item in durations_ns:
        durations.add(item)
    return durations.buckets


def test_every_duration_is_in_one_bucket_that_ends_little_above_it():
    rng = random.Random(1)
    for _ in range(5_000):
        duration_ns = int(10 ** rng.uniform(0, 11))
        ((up_to_us, count),) = buckets_of(duration_ns)
        assert count == 1
        assert duration_ns <= up_to_us * 1_000
        assert up_to_us <= duration_ns / 1_000 * 1.126 + 3


def test_equal_durations_share_a_bucket_and_the_buckets_ascend():
    buckets = buckets_of(3_000_000, 10_000, 3_000_000, 50_000_000)
    assert [count for _, count in buckets] == [1, 2, 1]
    assert buckets == sorted(buckets)


@pytest.mark.parametrize("duration_ns", [-1, -(10**12)])
def test_a_clock_that_went_back_counts_as_no_time(duration_ns):
    assert buckets_of(duration_ns) == buckets_of(0)


def test_what_takes_for_ever_ends_in_the_last_of_the_bounded_buckets():
    durations = Durations()
    for power in range(8, 20):
        durations.add(10**power)
    assert durations.count == 12
    assert len(durations.buckets) <= BUCKETS
    assert durations.max_ns == 10**19
    assert durations.buckets[-1][1] == 8
