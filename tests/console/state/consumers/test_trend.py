import pytest

from console.state.consumers.trend import LagHistory, Trend, catch_up_seconds, trend_of


def watched(*looks: tuple[int, int, int], behind_s: int = 0) -> tuple[float | None, float | None]:
    """What is said after (second, unread, appended) each."""
    history = LagHistory()
    for at_s, unread, appended in looks:
        history.observe(unread, appended, at_s * 1_000, counted=1)
        pace = history.pace(unread, appended, at_s * 1_000, behind_s * 1_000)
    return pace


def evenly(seconds: int, read: float, arrives: float, unread: int = 0, step: int = 2) -> list[tuple[int, int, int]]:
    return [(s, round(unread + (arrives - read) * s), round(arrives * s)) for s in range(0, seconds + 1, step)]


def test_a_lag_grows_by_what_arrives_and_is_not_read():
    gains, arrives = watched(*evenly(300, read=50, arrives=72))
    assert gains == pytest.approx(22, rel=0.05)
    assert arrives == pytest.approx(72, rel=0.05)


def test_a_lag_that_goes_up_and_down_with_each_commit_does_not_grow():
    saw = [(s, 70 * (s % 60), 70 * s) for s in range(0, 400, 2)]
    gains, arrives = watched(*saw)
    assert trend_of(70, gains, arrives) is Trend.STEADY


def test_a_lag_watched_for_a_moment_goes_nowhere_yet():
    assert watched((0, 100, 0)) == (None, None)
    assert watched((0, 100, 0), (20, 900, 900)) == (None, None)


def test_only_the_last_five_minutes_count():
    outage, calm = evenly(100, read=0, arrives=100), [(s, 10_000, 100 * s) for s in range(102, 500, 2)]
    assert watched(*outage, *calm)[0] == 0.0


def test_a_burst_is_compared_with_itself_while_it_is_worked_off():
    calm = [(s, 0, s) for s in range(0, 200, 2)]
    burst = [(s, 60_000 - 90 * (s - 200), 60_000 + s) for s in range(200, 360, 2)]
    gains, arrives = watched(*calm, *burst, behind_s=158)
    assert trend_of(45_000, gains, arrives) is Trend.SHRINKING


def test_other_partitions_or_a_reset_begin_a_new_history():
    history = LagHistory()
    for at_s in range(0, 100, 2):
        history.observe(0, 10 * at_s, at_s * 1_000, counted=1)
    history.observe(5_000, 1_000, 100_000, counted=1)
    assert history.pace(5_000, 1_000, 100_000) == (None, None)
    history.observe(5_000, 1_000, 140_000, counted=2)
    assert history.pace(5_000, 1_000, 140_000) == (None, None)


def test_an_answer_that_comes_late_is_no_reset():
    history = LagHistory()
    for at_s in range(0, 100, 2):
        history.observe(0, 100 * at_s, at_s * 1_000, counted=1)
    history.observe(500, 10_000, 100_000, counted=1)
    assert history.pace(500, 10_000, 100_000) != (None, None)


def test_the_history_of_a_day_takes_the_room_of_minutes():
    history = LagHistory()
    for at_s in range(0, 86_400, 2):
        history.observe(at_s, 2 * at_s, at_s * 1_000, counted=1)
    assert len(history._moments) <= 32


@pytest.mark.parametrize(
    ("lag", "gains", "arrives", "trend"),
    [
        (0, -5.0, 5.0, Trend.NONE),
        (None, None, None, Trend.UNKNOWN),
        (10, None, None, Trend.UNKNOWN),
        (300_000, 1.0, 100.0, Trend.STEADY),
        (300_000, 20.0, 100.0, Trend.GROWING),
        (300_000, 100.0, 100.0, Trend.GROWING),
        (300_000, -20.0, 100.0, Trend.SHRINKING),
        (300_000, -1.0, 0.0, Trend.SHRINKING),
        (5, 0.0, 0.0, Trend.UNCHANGED),
        (1, 0.0033, 0.0033, Trend.GROWING),
        (1, 0.0, 2.0, Trend.STEADY),
        (900, -10.0, None, Trend.SHRINKING),
    ],
)
def test_a_trend_is_a_change_that_matters_beside_what_arrives(lag, gains, arrives, trend):
    assert trend_of(lag, gains, arrives) is trend


def test_catching_up_takes_the_lag_over_its_decline_and_never_happens_otherwise():
    assert catch_up_seconds(10_000, -100.0) == 100
    assert catch_up_seconds(0, None) == 0
    assert catch_up_seconds(10_000, 100.0) is None
    assert catch_up_seconds(10_000, 0.0) is None
    assert catch_up_seconds(10_000, -1.0, 1_000.0) is None
