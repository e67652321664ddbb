"""Whether a job keeps up: from its lag over a minute, not from one look."""

from console.ecosystem.streams.pace import StreamPace, pace_of


def points(lags, arrived=100.0, processed=100.0) -> list[dict]:
    return [
        {"at_ms": index * 2_000, "arrived": arrived, "processed": processed, "lag": lag}
        for index, lag in enumerate(lags)
    ]


def test_small_lag_is_keeping_up_whatever_it_does():
    assert pace_of(points([0, 400, 900])).pace is StreamPace.KEEPING_UP
    assert pace_of(points([9_000, 9_500, 20_000], arrived=5_000)).pace is StreamPace.KEEPING_UP, "four seconds of input"


def test_growing_lag_is_falling_behind():
    assert pace_of(points([10_000, 11_000, 12_000])).pace is StreamPace.FALLING_BEHIND


def test_shrinking_lag_says_how_long_it_takes():
    view = pace_of(points([14_000, 12_000, 10_000]))
    assert (view.pace, view.catch_up_ms) == (StreamPace.CATCHING_UP, 10_000)


def test_lag_that_nothing_is_done_about_is_standing():
    assert pace_of(points([10_000, 11_000, 12_000], processed=0.0)).pace is StreamPace.STANDING


def test_what_is_older_than_a_minute_does_not_count():
    old, new = points([10**6] * 3), points([10_000, 11_000, 12_000])
    for point in new:
        point["at_ms"] += 100_000
    assert pace_of(old + new).pace is StreamPace.FALLING_BEHIND


def test_nothing_is_said_before_there_are_three_points():
    assert pace_of([]).pace is StreamPace.UNKNOWN
    assert pace_of([*points([1, 2]), {"at_ms": 9_000, "lag": None}]).pace is StreamPace.UNKNOWN
