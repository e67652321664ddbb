"""A nightly job is not dead by day; a service that broke down is."""

import pytest

from console.state.consumers.rhythm import Rhythm

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


def rhythm_of(*commits_ms: int, lag: int | None = 0) -> Rhythm:
    """A thousand records are committed each time, and `lag` are left."""
    rhythm = Rhythm()
    for number, at_ms in enumerate(commits_ms):
        rhythm.note(at_ms, 1_000 * number, lag)
    return rhythm


def nightly(nights: int) -> list[int]:
    """Five minutes of commits, every night."""
    return [night * DAY_MS + minute * 60_000 for night in range(nights) for minute in range(5)]


def test_a_nightly_job_rests_until_it_is_half_a_night_late():
    commits = nightly(3)
    until_ms = rhythm_of(*commits).rests_until_ms()
    assert commits[-1] + 35 * HOUR_MS < until_ms < commits[-1] + 37 * HOUR_MS


@pytest.mark.parametrize(("lag", "is_batch_job"), [(0, True), (40, True), (60, False), (9_000, False), (None, False)])
def test_only_a_reader_that_came_to_the_end_before_each_pause_rests(lag, is_batch_job):
    """Five thousand records a night: one in a hundred may have come while it left."""
    rhythm = Rhythm()
    for number, at_ms in enumerate(nightly(4)):
        night = number // 5
        rhythm.note(at_ms, 1_000 * number, 0 if night == 0 else lag)
    assert (rhythm.rests_until_ms() is not None) is is_batch_job


def test_a_reader_that_left_once_with_records_unread_is_not_resting_now():
    rhythm = rhythm_of(*nightly(3))
    rhythm.note(3 * DAY_MS, 16_000, 900_000)
    assert rhythm.rests_until_ms() is None


def test_one_pause_is_no_habit():
    assert rhythm_of(*nightly(2)).rests_until_ms() is None


def test_a_service_that_was_down_twice_is_no_batch_job():
    up = [minute * 60_000 for minute in range(600)]
    again = [item + 12 * HOUR_MS for item in up]
    once_more = [item + 24 * HOUR_MS for item in up]
    assert rhythm_of(*up, *again, *once_more).rests_until_ms() is None


def test_a_batch_job_that_became_a_service_is_one_no_more():
    since = nightly(3)[-1]
    assert rhythm_of(*nightly(3), *(since + minute * 60_000 for minute in range(1, 24 * 60))).rests_until_ms() is None


def test_a_job_on_workdays_is_not_late_at_its_second_weekend():
    days = [0, 1, 2, 3, 4, 7, 8]
    commits = [day * DAY_MS + minute * 60_000 for day in days for minute in range(3)]
    assert rhythm_of(*commits).rests_until_ms() > commits[-1] + 4 * DAY_MS


def test_a_commit_out_of_order_makes_no_pause():
    assert rhythm_of(*nightly(2), 0, DAY_MS, 5).rests_until_ms() is None
