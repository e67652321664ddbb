"""One reading of a range for charts, lists, searches and files."""

import pytest
from django.http import QueryDict

from console.kit.common.time_range import CHART_LENGTHS, TimeRange, iso_of, length_ms

NOW_MS = 1_795_900_000_000
HOUR_MS = 3_600_000


def parsed(text, **named):
    return TimeRange.parse(QueryDict(text), NOW_MS, **named)


@pytest.mark.parametrize(
    ("text", "last", "start_ms", "end_ms"),
    [
        ("", "", None, None),
        ("last=1h", "1h", NOW_MS - HOUR_MS, None),
        ("last=90m", "90m", NOW_MS - 90 * 60_000, None),
        ("from=2026-01-01T00:00Z&to=2026-01-01T01:00:00.250%2B00:00", "", 1_767_225_600_000, 1_767_229_200_250),
        ("from=2026-01-01T01:00%2B01:00", "", 1_767_225_600_000, None),
        ("to=2026-01-01T00:00Z&last=1h", "", None, 1_767_225_600_000),
        ("from=now-2h&to=now-1h", "", NOW_MS - 2 * HOUR_MS, NOW_MS - HOUR_MS),
        ("from=now-10m&to=now", "", NOW_MS - 600_000, NOW_MS),
    ],
)
def test_a_range_is_a_length_up_to_now_or_two_ends_that_may_be_open(text, last, start_ms, end_ms):
    chosen = parsed(text)

    assert (chosen.last, chosen.start_ms, chosen.end_ms, chosen.problems) == (last, start_ms, end_ms, ())


@pytest.mark.parametrize("names", ["since={}&until={}", "moment={}&until={}", "from={}&to={}"])
def test_links_of_earlier_versions_mean_what_they_meant(names):
    chosen = parsed(names.format("2026-01-01T00:00Z", "2026-01-01T01:00Z"))

    assert chosen.parameters == {"from": "2026-01-01T00:00:00.000Z", "to": "2026-01-01T01:00:00.000Z"}
    assert parsed("span=6h").parameters == {"last": "6h"}
    around = parsed("around=2026-01-01T00:10Z", reads_around=True)
    assert around.parameters == {"from": "2026-01-01T00:00:00.000Z", "to": "2026-01-01T00:20:00.000Z"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("from=yesterday", "from=yesterday is not a time, and is ignored. Write it with its zone, as from=2026-"),
        ("to=2026-01-01T00:00:00", "to=2026-01-01T00:00:00 is not a time"),
        ("from=now-", "or as from=now-10m"),
        ("until=now-99999999d", "is not a time"),
        ("last=soon", "is not a length of time, and is ignored. Write a number and s, m, h or d, as last=90m."),
        ("last=0h", "last=0h is not"),
        ("last=" + "9" * 300 + "d", "is not a length of time"),
        ("from=2026-01-02T00:00Z&to=2026-01-01T00:00Z", "The range ends before it begins"),
        ("from=2026-01-01T00:00Z&to=2026-01-01T00:00Z", "The range ends before it begins"),
    ],
)
def test_what_is_refused_says_what_to_write_and_counts_as_not_given(text, says):
    chosen = parsed(text, lengths=CHART_LENGTHS, default="1h")

    assert (chosen.last, chosen.start_ms, chosen.end_ms) == ("1h", NOW_MS - HOUR_MS, None)
    (problem,) = chosen.problems
    assert says in problem
    assert len(problem) < 200


@pytest.mark.parametrize("text", ["from=0001-01-01T00:00Z", "to=9999-12-31T23:59:59Z", "last=99999d"])
def test_the_ends_of_the_calendar_are_no_error(text):
    assert parsed(text).problems == ()


@pytest.mark.parametrize("text", ["around=0001-01-01T00:00Z", "around=9999-12-31T23:59:59Z"])
def test_around_an_end_of_the_calendar_is_from_there_on(text):
    assert parsed(text, reads_around=True).start is not None


def test_a_page_without_around_does_not_read_it():
    assert parsed("around=2026-01-01T00:10Z&last=1h") == parsed("last=1h")


def test_a_link_to_a_range_shows_the_same_range_again():
    for text in ("last=7d", "from=2026-01-01T00:00:00.125Z&to=2026-01-02T00:00Z", "to=2026-01-02T00:00Z", ""):
        chosen, again = parsed(text), QueryDict(mutable=True)
        again.update(chosen.parameters)
        assert TimeRange.parse(again, NOW_MS) == chosen


def test_a_length_that_is_none_raises():
    with pytest.raises(ValueError, match="is no length of time"):
        length_ms("1w")
    assert iso_of(None) == ""
