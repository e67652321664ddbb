"""Windows by wall clocks, through both changes of the clocks."""

from datetime import UTC, datetime, time

import pytest

from console.shell.changes.windows import DAYS, ChangeWindow, Freeze, is_zone, next_opening


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def window(begins: str, ends: str, days=DAYS, zone="Europe/Berlin") -> ChangeWindow:
    return ChangeWindow(frozenset(days), time.fromisoformat(begins), time.fromisoformat(ends), zone)


@pytest.mark.parametrize(
    ("moment", "is_open"),
    [
        ("2026-07-01 19:59", False),
        ("2026-07-01 20:00", True),
        ("2026-07-02 01:59", True),
        ("2026-07-02 02:00", False),
        ("2026-01-05 20:30", False),
        ("2026-01-05 21:00", True),
    ],
)
def test_a_night_in_berlin_is_of_its_own_clocks(moment, is_open):
    assert window("22:00", "04:00").is_open(at(moment)) is is_open


def test_days_are_those_on_which_it_begins():
    friday = window("22:00", "04:00", ["fri"], "UTC")
    assert friday.is_open(at("2026-11-28 03:00"))
    assert not friday.is_open(at("2026-11-28 23:00"))
    assert friday.opens_at(at("2026-11-28 03:00")) == at("2026-12-04 22:00")


def test_in_spring_the_hour_that_is_left_out_is_no_window():
    """On 29 March 2026 clocks go from 02:00 to 03:00, at 01:00 UTC."""
    hour = window("02:00", "03:00")
    assert not any(
        hour.is_open(at(f"2026-03-29 {hours:02}:{minutes:02}")) for hours in range(12) for minutes in (0, 30)
    )
    assert hour.opens_at(at("2026-03-28 12:00")) == at("2026-03-30 00:00")
    assert window("01:00", "04:00").is_open(at("2026-03-29 01:30"))
    assert not window("01:00", "04:00").is_open(at("2026-03-29 02:00"))


def test_in_autumn_the_hour_that_comes_twice_is_open_both_times():
    """On 25 October 2026 clocks go from 03:00 back to 02:00, at 01:00 UTC."""
    hour = window("02:00", "03:00")
    assert [hour.is_open(at(f"2026-10-24 {name}")) for name in ("23:59",)] == [False]
    assert [hour.is_open(at(f"2026-10-25 {name}")) for name in ("00:00", "00:59", "01:00", "01:59", "02:00")] == [
        True,
        True,
        True,
        True,
        False,
    ]
    ends_in_it = window("01:00", "02:30")
    assert ends_in_it.is_open(at("2026-10-25 01:29"))
    assert not ends_in_it.is_open(at("2026-10-25 01:30"))


def test_a_whole_day_is_a_day():
    assert window("00:00", "00:00", zone="UTC").is_open(at("2026-11-28 12:00"))


def test_it_opens_when_no_freeze_holds_any_more():
    night = window("22:00", "23:00", zone="UTC")
    freeze = Freeze(at("2026-12-20 00:00"), at("2026-12-31 00:00"))
    assert next_opening([night], [freeze], at("2026-12-19 22:30")) == at("2026-12-19 22:30")
    assert next_opening([night], [freeze], at("2026-12-19 23:30")) == at("2026-12-31 22:00")


def test_windows_that_never_meet_never_open():
    morning, evening = window("08:00", "09:00", zone="UTC"), window("20:00", "21:00", zone="UTC")
    assert next_opening([morning, evening], [], at("2026-11-28 12:00")) is None
    assert window("08:00", "09:00", []).opens_at(at("2026-11-28 12:00")) is None


def test_a_clock_that_jumps_is_asked_each_time():
    night = window("22:00", "04:00", zone="UTC")
    assert [night.is_open(at(name)) for name in ("2026-11-28 23:00", "2026-11-28 12:00", "2030-01-01 00:00")] == [
        True,
        False,
        True,
    ]


@pytest.mark.parametrize("name", ["", "Mars/Olympus", "../../etc/passwd", "/etc/passwd", "Europe", "a" * 400])
def test_what_is_no_zone(name):
    assert not is_zone(name)
