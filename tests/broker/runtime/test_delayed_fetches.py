import asyncio

import pytest

from broker.common.clock import SystemClock
from broker.common.limits import WAKES_AT_ONCE_MAX
from broker.common.shared_budget import Owner
from broker.common.types import TopicPartition
from broker.runtime.delayed_fetches import DelayedFetches

A, B = TopicPartition("a", 0), TopicPartition("b", 0)
LONG_MS = 60_000


async def test_a_waiter_is_woken_by_any_of_its_partitions():
    delayed_fetches = DelayedFetches(SystemClock())
    waiting = delayed_fetches.wait([A, B], LONG_MS)
    delayed_fetches.wake(B)
    assert await waiting == {B}


async def test_a_waiter_is_not_woken_by_another_partition():
    delayed_fetches = DelayedFetches(SystemClock())
    waiting = delayed_fetches.wait([A], LONG_MS)
    delayed_fetches.wake(B)
    await asyncio.sleep(0)
    assert not waiting.done()
    waiting.cancel()


async def test_a_waiter_ends_when_its_time_is_up():
    assert await DelayedFetches(SystemClock()).wait([A], 5) == set()


async def test_a_short_wait_is_not_held_up_by_a_longer_one_before_it():
    delayed_fetches = DelayedFetches(SystemClock())
    longer = delayed_fetches.wait([A], LONG_MS)
    assert await delayed_fetches.wait([A], 5) == set()
    assert not longer.done()
    longer.cancel()


async def test_a_wake_right_after_wait_is_not_lost():
    delayed_fetches = DelayedFetches(SystemClock())
    waiting = delayed_fetches.wait([A], LONG_MS)
    delayed_fetches.wake(A)
    assert await waiting == {A}


async def test_no_time_to_wait_is_answered_at_once():
    assert await DelayedFetches(SystemClock()).wait([A], 0) == set()


async def test_trap_46_nothing_is_left_behind_however_a_waiter_ends():
    delayed_fetches = DelayedFetches(SystemClock())
    woken, cancelled = delayed_fetches.wait([A, B], LONG_MS), delayed_fetches.wait([A], LONG_MS)
    cancelled.cancel()
    delayed_fetches.wake(A)
    await asyncio.gather(woken, cancelled, return_exceptions=True)
    await delayed_fetches.wait([B], 1)
    assert len(delayed_fetches) == 0
    assert delayed_fetches._waiters == {}


async def test_finished_waiters_do_not_pile_up_in_the_deadline_heap():
    delayed_fetches = DelayedFetches(SystemClock())
    for _ in range(1_000):
        waiting = delayed_fetches.wait([A], LONG_MS)
        delayed_fetches.wake(A)
        await waiting
        await asyncio.sleep(0)
    assert len(delayed_fetches._deadlines) < 100


async def test_whoever_would_wait_for_more_than_there_is_room_for_is_answered_at_once(monkeypatch):
    monkeypatch.setattr("broker.runtime.delayed_fetches.DELAYED_FETCH_PARTITIONS_MAX", 12)
    delayed_fetches = DelayedFetches(SystemClock())
    first = delayed_fetches.wait([A, B], LONG_MS)
    assert await delayed_fetches.wait([A, B], LONG_MS) == set()
    first.cancel()
    await asyncio.sleep(0)
    second = delayed_fetches.wait([A, B], LONG_MS)
    await asyncio.sleep(0)
    assert not second.done()
    second.cancel()


async def test_a_client_that_has_very_many_fetches_wait_leaves_those_of_another_waiting(monkeypatch):
    """Otherwise every other consumer would be answered at once and ask again without a pause."""
    monkeypatch.setattr("broker.runtime.delayed_fetches.DELAYED_FETCH_PARTITIONS_MAX", 1_600)
    delayed_fetches = DelayedFetches(SystemClock())
    greedy, other = Owner("User:eve", "/10.0.0.1"), Owner("User:bob", "/10.0.0.1")
    many = [delayed_fetches.wait([A, B], LONG_MS, greedy) for _ in range(1_000)]
    assert sum(not waiting.done() for waiting in many) == 180, "three quarters of what is no reserve"
    one = delayed_fetches.wait([A], LONG_MS, other)
    assert not one.done()
    for waiting in (*many, one):
        waiting.cancel()
    await asyncio.sleep(0)
    assert delayed_fetches._room.held == 0


async def test_a_waiter_hears_of_all_that_moved_before_it_goes_on():
    delayed_fetches = DelayedFetches(SystemClock())
    waiting = delayed_fetches.wait([A, B], LONG_MS)
    delayed_fetches.wake(A)
    delayed_fetches.wake(B)
    assert await waiting == {A, B}


@pytest.fixture
def going_on(monkeypatch):
    """How many waiters went on in each pass of the loop, of those that `watched` was given."""
    passes = []

    async def watched(waiting):
        counts = [0]
        for item in waiting:
            item.add_done_callback(lambda _: counts.__setitem__(0, counts[0] + 1))
        while counts[0] < len(waiting):
            before = counts[0]
            await asyncio.sleep(0)
            if counts[0] > before:
                passes.append(counts[0] - before)
        return passes

    return watched


async def test_very_many_waiters_for_one_partition_go_on_a_few_at_a_time(going_on):
    """Each reads and answers: 57,000 in one pass of the loop kept everybody else waiting for seconds."""
    delayed_fetches = DelayedFetches(SystemClock())
    waiting = [delayed_fetches.wait([A], LONG_MS) for _ in range(10 * WAKES_AT_ONCE_MAX)]
    delayed_fetches.wake(A)
    delayed_fetches.wake(A)
    assert await going_on(waiting) == [WAKES_AT_ONCE_MAX] * 10
    assert len(delayed_fetches) == 0


async def test_very_many_waiters_whose_time_is_up_go_on_a_few_at_a_time(going_on):
    delayed_fetches = DelayedFetches(SystemClock())
    waiting = [delayed_fetches.wait([A], 1) for _ in range(10 * WAKES_AT_ONCE_MAX)]
    passes = await going_on(waiting)
    assert max(passes) <= WAKES_AT_ONCE_MAX
    assert sum(passes) == len(waiting)
    assert [await item for item in waiting] == [set()] * len(waiting)


async def test_few_waiters_do_not_stand_in_line_behind_very_many():
    delayed_fetches = DelayedFetches(SystemClock())
    many = [delayed_fetches.wait([A], LONG_MS) for _ in range(10 * WAKES_AT_ONCE_MAX)]
    one = delayed_fetches.wait([B], LONG_MS)
    delayed_fetches.wake(A)
    delayed_fetches.wake(B)
    assert await one == {B}
    assert not many[-1].done()
    await asyncio.gather(*many)
