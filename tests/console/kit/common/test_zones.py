"""Times are drawn in the zone that the browser's cookie names; what it may name is bounded."""

import re
from datetime import UTC, datetime

import pytest

from console.kit.common.figures import moment, moment_minute, moment_ms, short_moment
from console.kit.common.zones import COOKIE, ZoneMiddleware, current_zone

AT_MS = 1_790_000_000_123  # 2026-09-21 14:13:20.123 UTC


@pytest.fixture
def within(rf):
    """A function that is called as a view is, for a browser whose cookie holds this."""

    def call(name, function):
        request = rf.get("/")
        request.COOKIES[COOKIE] = name
        return ZoneMiddleware(lambda _: function())(request)

    return call


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        ("utc", "2026-09-21 14:13:20 UTC"),
        ("", "2026-09-21 14:13:20 UTC"),
        ("Etc/UTC", "2026-09-21 14:13:20 UTC"),
        ("Europe/Berlin", "2026-09-21 16:13:20 +02:00"),
        ("America/New_York", "2026-09-21 10:13:20 -04:00"),
        ("Asia/Kathmandu", "2026-09-21 19:58:20 +05:45"),
    ],
)
def test_a_time_says_its_zone(within, zone, text):
    assert (
        within(zone, lambda: moment(AT_MS)) == f'<time datetime="2026-09-21T14:13:20.123Z" data-form="s">{text}</time>'
    )
    assert current_zone() is UTC


@pytest.mark.parametrize(
    "zone", ["../../etc/passwd", "/etc/passwd", "Europe", "a\0b", "x" * 5_000, "Mars/Olympus", "é"]
)
def test_a_cookie_that_names_no_zone_is_utc(within, zone):
    assert within(zone, lambda: moment_minute(AT_MS)).endswith(">2026-09-21 14:13 UTC</time>")


def test_two_hours_of_one_name_differ_by_their_offset(within):
    """On 25 October 2026 02:30 is twice in Berlin."""
    first = int(datetime(2026, 10, 25, 0, 30, tzinfo=UTC).timestamp() * 1_000)
    texts = within(
        "Europe/Berlin", lambda: [re.sub("<[^>]*>", "", moment(item)) for item in (first, first + 3_600_000)]
    )

    assert texts == ["2026-10-25 02:30:00 +02:00", "2026-10-25 02:30:00 +01:00"]


def test_an_offset_of_minutes_and_seconds_counts_as_its_minutes(within):
    """Monrovia was 44 min 30 s behind until 1972."""
    assert ">1970-01-02 23:16:00 -00:44<" in within("Africa/Monrovia", lambda: moment(2 * 86_400_000))


def test_a_record_s_time_has_its_milliseconds(within):
    assert ">2026-09-21 16:13:20.123 +02:00<" in within("Europe/Berlin", lambda: moment_ms(AT_MS))
    assert ">1970-01-01 00:00:00.000 UTC<" in within("utc", lambda: moment_ms(0))


def test_today_is_the_zone_s_today(within, monkeypatch):
    monkeypatch.setattr(
        "console.kit.common.figures.now_ms", lambda: AT_MS + 12 * 3_600_000
    )  # 02:13 UTC of the next day

    assert ">2026-09-21<" in within("utc", lambda: short_moment(AT_MS))
    assert ">10:13:20 -04:00<" in within("America/New_York", lambda: short_moment(AT_MS))


@pytest.mark.parametrize("at_ms", [-62_135_596_800_000, 253_402_300_799_999])
def test_the_ends_of_the_calendar_are_drawn_in_every_zone(within, at_ms):
    for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):
        assert within(zone, lambda: moment_ms(at_ms)).startswith("<time datetime=")
