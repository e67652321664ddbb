from datetime import UTC, datetime

import pytest

from console.kit.common.figures import (
    age,
    duration,
    facts,
    grouped,
    limit_text,
    moment,
    rate,
    short_moment,
    size,
    utc_minute,
)
from console.kit.common.sparkline import spark_points, sparkline
from console.kit.gateway.retention.interface import SettingView


def test_large_numbers_are_grouped_and_unknown_ones_are_a_dash():
    assert grouped(1234567) == "1\u202f234\u202f567"
    assert grouped(None) == "–"


@pytest.mark.parametrize(
    ("value", "shown"), [(None, "–"), (0, "0"), (0.1, "0.1"), (9.96, "10.0"), (10, "10"), (1499.5, "1\u202f500")]
)
def test_a_trickle_is_seen_and_a_flood_is_round(value, shown):
    assert rate(value) == shown


@pytest.mark.parametrize(
    ("value_ms", "shown"),
    [
        (None, "–"),
        (0, "0"),
        (800, "800_ms"),
        (12_999, "12_s"),
        (250_000, "4_min 10_s"),
        (7_500_000, "2_h 5_min"),
        (3_600_000, "1_h"),
        (273_600_000, "3_d 4_h"),
        (400 * 86_400_000 + 7_200_000, "400_d"),
    ],
)
def test_a_span_of_time_has_its_two_largest_units(value_ms, shown):
    assert duration(value_ms) == shown.replace("_", "\u202f")


def test_age_counts_seconds_and_never_is_negative(monkeypatch):
    monkeypatch.setattr("console.kit.common.figures.now_ms", lambda: 10_000)

    assert (age(0), age(7_500), age(11_000)) == ("no data yet", "2 s old", "0 s old")


@pytest.mark.parametrize("show", [moment, short_moment, utc_minute])
def test_a_time_that_no_calendar_has_is_told_as_it_is(show):
    assert show(2**62) == "4611686018427387904 ms since 1970"
    assert "9999-12-31" in show(253_402_300_799_999)


def test_a_moment_carries_its_zone():
    html = moment(datetime(2024, 5, 1, 12, 30, tzinfo=UTC))

    assert html == '<time datetime="2024-05-01T12:30:00.000Z" data-form="s">2024-05-01 12:30:00 UTC</time>'
    assert moment(1_714_566_600_000) == html


def test_facts_stand_on_one_line():
    assert facts({"partition_count": 3, "replication_factor": 1}) == "partition_count 3, replication_factor 1"


def test_a_sparkline_needs_two_values():
    assert sparkline([]) == sparkline([1.0]) == ""
    assert sparkline([1.0, 2.0]).startswith("<svg")


def test_a_sparkline_has_zero_at_the_bottom_and_the_newest_at_the_right():
    points = spark_points([0, 5, 10], width=100, height=40)

    assert points == [(0, 39), (50, 20), (100, 1)]


def test_a_sparkline_of_zeros_is_a_flat_line_at_the_bottom():
    assert {y for _, y in spark_points([0, 0, 0], 100, 40)} == {39}


@pytest.mark.parametrize(
    ("count", "shown"),
    [(None, "–"), (0, "0 B"), (999, "999 B"), (1_234, "1.23 KB"), (45_600_000, "45.6 MB"), (999_600, "1000 KB")],
)
def test_bytes_are_shown_with_three_figures(count, shown):
    assert size(count).replace("\u202f", " ") == shown


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("retention.ms", "604800000", "(7 d)"),
        ("retention.ms", "302400000", "(3.5 d)"),
        ("retention.ms", "5", ""),
        ("retention.ms", "-1", "(no limit)"),
        ("retention.bytes", "1500000000", "(1.5 GB)"),
        ("retention.bytes", "-1", "(no limit)"),
        ("cleanup.policy", "delete", ""),
    ],
)
def test_limits_are_also_said_in_words(name, value, words):
    assert limit_text(SettingView(name, value, "topic")).replace("\u202f", " ") == words
