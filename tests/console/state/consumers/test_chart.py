from dataclasses import dataclass

from console.state.consumers.chart import HEIGHT, SPAN_MIN_MS, WIDTH, lag_chart


@dataclass
class Sample:
    at_ms: int
    lag: int


def xy(points: str) -> list[tuple[int, int]]:
    return [tuple(map(int, point.split(","))) for point in points.split()]


def test_without_a_past_there_is_no_chart():
    assert lag_chart([], 5, 1_000) is None


def test_a_lag_stays_until_it_changes_and_the_newest_reaches_now():
    chart = lag_chart([Sample(0, 0), Sample(500_000, 80)], None, 1_000_000)
    points = xy(chart.line)

    assert points[:4] == [(0, HEIGHT - 1), (0, HEIGHT - 1), (500, HEIGHT - 1), (500, 1)]
    assert points[-1] == (WIDTH, 1)
    assert chart.highest == 80


def test_a_short_past_is_not_stretched():
    chart = lag_chart([Sample(995_000, 5)], 5, 1_000_000)

    assert chart.to_ms - chart.from_ms == SPAN_MIN_MS
    assert xy(chart.line)[0][0] > WIDTH * 0.95


def test_a_lag_of_nothing_lies_on_the_ground():
    assert {y for _, y in xy(lag_chart([Sample(0, 0), Sample(1, 0)], 0, 900_000).line)} == {HEIGHT - 1}


def test_the_present_lag_ends_the_line_though_it_is_not_noted_yet():
    chart = lag_chart([Sample(0, 10)], 40, 600_000)

    assert chart.highest == 40
    assert xy(chart.line)[-2:] == [(WIDTH, round(1 + (HEIGHT - 2) * 0.75)), (WIDTH, 1)]
