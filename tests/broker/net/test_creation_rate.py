"""How often something may happen: a second's worth at once, and no more than the rate after that."""

import pytest

from broker.net.creation_rate import CreationRate


def happens(rate: CreationRate, times_s: list[float]) -> int:
    """How often of so many tries at these times."""
    count = 0
    for now_s in times_s:
        if not rate.wait_s(now_s):
            rate.take()
            count += 1
    return count


def test_without_a_limit_all_may_happen():
    assert happens(CreationRate(), [5.0] * 10_000) == 10_000


def test_a_second_s_worth_happens_at_once_and_more_as_time_goes_by():
    rate = CreationRate(10)
    assert happens(rate, [100.0] * 50) == 10
    assert rate.wait_s(100.0) == pytest.approx(0.1)
    assert happens(rate, [100.5] * 50) == 5
    assert happens(rate, [200.0] * 50) == 10, "a long silence saves up no more"


def test_over_a_minute_of_tries_the_rate_is_kept():
    rate = CreationRate(10)
    assert happens(rate, [at / 100 for at in range(6_000)]) == pytest.approx(610, abs=2)


def test_a_changed_rate_counts_at_once():
    rate = CreationRate(1_000)
    rate.change(2)
    assert happens(rate, [1.0] * 50) == 2
    rate.change(0)
    assert rate.wait_s(1_000.0) == float("inf")
    rate.change(5)
    assert happens(rate, [1_001.0] * 50) == 5
