"""What deletes by age does not believe a wall clock that has just been set ahead."""

import pytest
from structlog.testing import capture_logs

from broker.common.steady_clock import HELD_MS, JUMP_MS, SteadyClock
from tests.manual_clock import ManualClock

DAY_MS = 86_400_000


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def steady(clock):
    return SteadyClock(clock)


def test_time_goes_on_as_before_while_a_clock_is_ahead_by_mistake(clock, steady):
    before_ms = steady.now_ms()
    clock.set_wall(DAY_MS)
    clock.advance(1_000)
    assert steady.now_ms() == before_ms + 1_000
    clock.advance(HELD_MS - 1_001)
    assert steady.now_ms() == before_ms + HELD_MS - 1
    clock.set_wall(-DAY_MS)
    clock.advance(DAY_MS)
    assert steady.now_ms() == clock.now_ms()


def test_a_clock_that_stays_ahead_is_right_in_the_end(clock, steady):
    clock.set_wall(DAY_MS)
    steady.now_ms()
    clock.advance(HELD_MS)
    assert steady.now_ms() == clock.now_ms()
    clock.advance(1_000)
    assert steady.now_ms() == clock.now_ms()


@pytest.mark.parametrize("further_ms", [DAY_MS, -DAY_MS // 2])
def test_a_further_jump_is_held_as_long_as_the_first(clock, steady, further_ms):
    before_ms = steady.now_ms()
    clock.set_wall(DAY_MS)
    steady.now_ms()
    clock.advance(HELD_MS - 1)
    clock.set_wall(further_ms)
    assert steady.now_ms() == before_ms + HELD_MS - 1
    clock.advance(HELD_MS - 1)
    assert steady.now_ms() == before_ms + 2 * (HELD_MS - 1)
    clock.advance(1)
    assert steady.now_ms() == clock.now_ms()


@pytest.mark.parametrize("by_ms", [-DAY_MS, -1, 1, JUMP_MS])
def test_a_clock_that_is_set_back_or_ahead_by_little_is_believed_at_once(clock, steady, by_ms):
    """What is set back deletes nothing early."""
    clock.set_wall(by_ms)
    assert steady.now_ms() == clock.now_ms()


def test_a_jump_and_its_end_are_logged_once(clock, steady):
    with capture_logs() as logs:
        clock.set_wall(DAY_MS)
        for _ in range(3):
            steady.now_ms()
        clock.advance(HELD_MS)
        for _ in range(3):
            steady.now_ms()
    assert [(entry["log_level"], entry["ahead_s"]) for entry in logs] == [("warning", 86_400), ("warning", 86_400)]


def test_monotonic_time_is_the_clock_s(clock, steady):
    clock.advance(5)
    assert steady.monotonic_ms() == clock.monotonic_ms() == 5
