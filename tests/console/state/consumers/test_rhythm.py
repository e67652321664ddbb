"""A nightly job is not dead by day; a service that broke down is."""

from console.state.consumers.rhythm import Rhythm

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


def rhythm_of(*commits_ms: int) -> Rhythm:
    rhythm = Rhythm()
    for at_ms in commits_ms:
        rhythm.note(at_ms)
    return rhythm


def nightly(nights: int) -> list[int]:
    """Five minutes of commits, every night."""
    return [night * DAY_MS + minute * 60_000 for night in range(nights) for minute in range(5)]


def test_a_nightly_job_rests_until_it_is_half_a_night_late():
    commits = nightly(3)
    until_ms = rhythm_of(*commits).rests_until_ms()
    assert commits[-1] + 35 * HOUR_MS < until_ms < commits[-1] + 37 * HOUR_MS


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
