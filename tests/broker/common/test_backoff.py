"""Pauses double up to the longest, and begin anew after a success."""

from broker.common.backoff import Backoff, pause_after


def test_pauses_double_up_to_the_longest_and_begin_anew_after_a_success():
    backoff = Backoff(0.5, 3)
    assert [backoff.fail() for _ in range(5)] == [0.5, 1, 2, 3, 3]
    assert backoff.failures == 5
    backoff.succeed()
    assert (backoff.failures, backoff.fail()) == (0, 0.5)


def test_a_first_pause_above_the_longest_is_the_longest():
    assert Backoff(300, 100).fail() == 100


def test_spread_pauses_are_random_up_to_the_longest_once_they_would_exceed_it():
    backoff = Backoff(300, 1_000, spreads=True)
    assert [backoff.fail(), backoff.fail()] == [300, 600]
    spread = {backoff.fail() for _ in range(50)}
    assert len(spread) > 1
    assert all(0 <= pause <= 1_000 for pause in spread)


def test_pauses_stay_finite_however_many_attempts_fail():
    backoff = Backoff(0.1, 5)
    assert {backoff.fail() for _ in range(5_000)} <= {0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5}


def test_the_pause_after_a_number_of_failures_is_that_of_as_many_failed_attempts():
    backoff = Backoff(0.5, 30)
    assert [pause_after(failures, 0.5, 30) for failures in range(1, 60)] == [backoff.fail() for _ in range(1, 60)]
    assert pause_after(5_000, 0.5, 30) == 30
