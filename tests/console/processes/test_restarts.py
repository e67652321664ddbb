"""When a process that died is started again."""

from datetime import UTC, datetime, timedelta

import pytest

from broker.common.errors import NotNowError, StartupError
from console.processes.restarts import (
    MISCONFIGURED_STATUS,
    Policy,
    count_death,
    deaths_within,
    is_due,
    plan_restart,
    restart_delay_s,
)

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def test_delays_double_up_to_a_minute():
    assert [restart_delay_s(deaths) for deaths in (1, 2, 3, 4, 5, 6, 7, 8, 500)] == [1, 2, 4, 8, 16, 32, 60, 60, 60]


@pytest.mark.parametrize(
    ("before", "ran_s", "deaths"),
    [(0, 0, 1), (3, 0, 4), (3, 14, 4), (3, 15, 3), (3, 30, 2), (1, 200, 1), (30, 299, 12), (30, 300, 1), (2, -50, 3)],
)
def test_running_forgives_deaths(before, ran_s, deaths):
    assert count_death(before, ran_s) == deaths


def test_crash_is_tried_for_ever_and_a_wrong_configuration_three_times():
    assert plan_restart(Policy.ALWAYS, 100, 1, NOW).at == NOW + timedelta(seconds=60)
    assert plan_restart(Policy.ALWAYS, 2, 78, NOW).at == NOW + timedelta(seconds=2)
    last = plan_restart(Policy.ALWAYS, 3, 78, NOW)
    assert (last.at, last.gave_up) == (None, True)


def test_never_is_never_and_no_failure():
    restart = plan_restart(Policy.NEVER, 1, -9, NOW)
    assert (restart.at, restart.gave_up) == (None, False)
    assert "auto-restart is off" in restart.why


def test_broker_says_by_its_status_what_another_try_is_worth():
    assert StartupError.exit_status == MISCONFIGURED_STATUS
    assert NotNowError.exit_status not in (0, MISCONFIGURED_STATUS)


@pytest.mark.parametrize(("ahead_s", "due"), [(0, True), (-5, True), (5, False), (61, True)])
def test_a_clock_set_back_does_not_put_off_a_start(ahead_s, due):
    assert is_due(NOW + timedelta(seconds=ahead_s), NOW) is due


def test_only_deaths_of_the_last_ten_minutes_count():
    assert deaths_within([1_000, 400_000, 700_000, 900_000], 700_000) == [400_000, 700_000]
