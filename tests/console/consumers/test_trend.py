import pytest

from console.consumers.trend import LagWindow, Trend, catch_up_seconds, trend_of


def watched(*lags: tuple[int, int]) -> float | None:
    """The last answer for (second, lag) each."""
    window = LagWindow()
    return [window.observe(lag, at_s * 1_000) for at_s, lag in lags][-1]


def test_a_lag_grows_by_its_difference_over_time():
    assert watched((0, 100), (5, 150), (10, 200)) == 10.0
    assert watched((0, 1_000), (10, 0)) == -100.0


def test_a_lag_watched_for_a_moment_goes_nowhere_yet():
    assert watched((0, 100)) is None
    assert watched((0, 100), (2, 900)) is None


def test_only_the_last_minute_counts():
    assert watched((0, 100_000), (70, 100), (100, 100), (130, 100)) == 0.0


@pytest.mark.parametrize(
    ("lag", "per_second", "trend"),
    [
        (0, -5.0, Trend.NONE),
        (None, None, Trend.UNKNOWN),
        (10, None, Trend.UNKNOWN),
        (10_000, 1.0, Trend.STEADY),
        (10_000, 100.0, Trend.GROWING),
        (10_000, -100.0, Trend.SHRINKING),
    ],
)
def test_a_trend_is_a_change_that_matters(lag, per_second, trend):
    assert trend_of(lag, per_second) is trend


def test_catching_up_takes_the_lag_over_its_decline_and_never_happens_otherwise():
    assert catch_up_seconds(10_000, -100.0) == 100
    assert catch_up_seconds(0, None) == 0
    assert catch_up_seconds(10_000, 100.0) is None
    assert catch_up_seconds(10_000, 0.0) is None
