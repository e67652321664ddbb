"""Looks that take long come seldom."""

import pytest

from console.kit.common.idle_timers import IdleTimers
from tests.manual_clock import ManualClock


def test_a_look_of_a_second_is_followed_by_a_rest_of_twenty_and_a_quick_one_by_none():
    clock = ManualClock()
    rests = IdleTimers(clock.now_ms)
    with rests.after():
        clock.advance(1_000)
    clock.advance(19_999)
    assert not rests.is_over
    clock.advance(1)
    assert rests.is_over
    with rests.after():
        pass
    assert rests.is_over


def test_after_a_look_that_failed_there_is_none():
    clock = ManualClock()
    rests = IdleTimers(clock.now_ms)

    def look() -> None:
        with rests.after():
            clock.advance(10_000)
            raise TimeoutError

    with pytest.raises(TimeoutError):
        look()
    assert rests.is_over
