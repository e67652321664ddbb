"""Lines that tell the truth: means in columns, gaps where nobody looked, values that hold until they change."""

import pytest

from console.cluster.charts.time_chart import COLUMNS, HEIGHT, ChartSeries, nice_top, time_chart

MINUTE = 60_000
SPAN = COLUMNS * MINUTE
NOW = 1_000 * SPAN


def say(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"


def chart(*points, holds=False, now_ms=NOW):
    return time_chart([ChartSeries("a", points, holds)], SPAN, now_ms, say)


def texts_of(drawn) -> dict[int, str]:
    """Minutes before the end → what the pointer finds there."""
    return {(NOW - column.at_ms) // MINUTE: column.text for column in drawn.columns}


def test_the_samples_of_a_column_are_its_mean():
    drawn = chart((NOW - 3 * MINUTE, 10), (NOW - 3 * MINUTE + 15_000, 30), (NOW - MINUTE, 50))
    assert texts_of(drawn) == {3: "20", 1: "50"}
    assert (drawn.highest, drawn.lines[0].now) == ("50", "50")


def test_a_gap_breaks_the_line():
    drawn = chart((NOW - 9 * MINUTE, 1), (NOW - 8 * MINUTE, 1), (NOW - 3 * MINUTE, 1), (NOW - 2 * MINUTE, 1))
    assert len(drawn.lines[0].pieces) == 2


def test_a_value_that_holds_stays_until_the_next_and_from_before_the_chart():
    drawn = chart((NOW - 2 * SPAN, 7), (NOW - 2 * MINUTE, 3), holds=True)
    assert texts_of(drawn)[COLUMNS] == "7"
    assert texts_of(drawn)[3] == "7"
    assert texts_of(drawn)[2] == texts_of(drawn)[1] == "3"
    assert len(drawn.lines[0].pieces) == 1


def test_what_is_not_known_any_more_holds_too_and_is_a_gap():
    drawn = chart((NOW - 9 * MINUTE, 7), (NOW - 5 * MINUTE, None), (NOW - 2 * MINUTE, 3), holds=True)
    assert texts_of(drawn) == {9: "7", 8: "7", 7: "7", 6: "7", 2: "3", 1: "3"}
    assert len(drawn.lines[0].pieces) == 2
    assert (drawn.highest, chart((NOW - 9 * MINUTE, 7), (NOW, None), holds=True).lines[0].now) == ("7", "–")


def test_nothing_holds_into_the_future():
    drawn = chart((NOW - 5 * MINUTE, 7), holds=True, now_ms=NOW - MINUTE + 1)
    assert texts_of(drawn)[1] == "7"
    assert max(column.at_ms for column in drawn.columns) <= NOW - MINUTE


def test_columns_stand_still_while_time_moves_within_one():
    first = chart((NOW - 5 * MINUTE, 7), now_ms=NOW - 30_000)
    later = chart((NOW - 5 * MINUTE, 7), now_ms=NOW - 1_000)
    assert first == later


def test_a_single_value_is_a_dot_and_not_nothing():
    (piece,) = chart((NOW - MINUTE, 4)).lines[0].pieces
    assert len(piece.split()) == 2


def test_every_point_is_inside_the_picture():
    drawn = chart(*((NOW - minute * MINUTE, minute**3) for minute in range(59, 0, -1)))
    heights = [float(point.split(",")[1]) for piece in drawn.lines[0].pieces for point in piece.split()]
    assert min(heights) >= 0
    assert max(heights) <= HEIGHT


def test_several_series_are_told_together_by_name():
    series = [ChartSeries("a", [(NOW - MINUTE, 1)]), ChartSeries("b", [(NOW - MINUTE, 2)]), ChartSeries("c", [])]
    (column,) = time_chart(series, SPAN, NOW, say).columns
    assert column.text == "a 1 · b 2"


@pytest.mark.parametrize(
    ("highest", "top"), [(0, 1), (0.7, 0.8), (1, 1), (1.2, 2), (2.2, 4), (3, 4), (7, 8), (1_234, 2_000)]
)
def test_the_axis_ends_at_a_round_number(highest, top):
    assert nice_top(highest) == top


def test_a_name_from_right_to_left_does_not_turn_what_stands_beside_it():
    series = [ChartSeries("orders\u200f", [(NOW - 1, 1.0)]), ChartSeries("clicks", [(NOW - 1, 2.0)])]
    chart = time_chart(series, SPAN, NOW, say)
    assert chart.columns[-1].text.startswith("\u2068orders\u200f\u2069 ")
    assert "· clicks " in chart.columns[-1].text


@pytest.mark.parametrize("holds", [False, True])
@pytest.mark.parametrize("latest_ms", [NOW - 1_000, NOW, NOW + 5 * MINUTE])
def test_the_highest_value_is_no_smaller_than_the_latest(latest_ms, holds):
    """A column is the mean of its points, and none is later than the chart: the latest value may be in no column."""
    drawn = chart((NOW - 3_000, 10.0), (NOW - 2_000, 10.0), (latest_ms, 30.0), holds=holds)
    assert (drawn.highest, drawn.lines[0].now) == ("30", "30")
    heights = [float(point.split(",")[1]) for piece in drawn.lines[0].pieces for point in piece.split()]
    assert drawn.top == "40", "the axis has room for it"
    assert min(heights) >= 0


def test_nothing_known_has_no_highest():
    assert (chart().highest, chart().lines[0].now) == ("–", "–")


def test_the_highest_of_what_it_was_before_is_no_value_of_now():
    """The line of a former span ends in the middle of a column, whose mean is what the chart has of it."""
    former = ChartSeries("before", [(NOW - 2_000, 10.0), (NOW - 1_000, 30.0)], is_former=True)
    drawn = time_chart([ChartSeries("a", [(NOW - MINUTE, 1.0)]), former], SPAN, NOW, say)
    assert drawn.highest == "20"
