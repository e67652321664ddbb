import asyncio

from broker.common.clock import SystemClock
from broker.common.types import TopicPartition
from broker.runtime.purgatory import Purgatory

A, B = TopicPartition("a", 0), TopicPartition("b", 0)
LONG_MS = 60_000


async def test_a_waiter_is_woken_by_any_of_its_partitions():
    purgatory = Purgatory(SystemClock())
    waiting = purgatory.wait([A, B], LONG_MS)
    purgatory.wake(B)
    assert await waiting is True


async def test_a_waiter_is_not_woken_by_another_partition():
    purgatory = Purgatory(SystemClock())
    waiting = purgatory.wait([A], LONG_MS)
    purgatory.wake(B)
    await asyncio.sleep(0)
    assert not waiting.done()
    waiting.cancel()


async def test_a_waiter_ends_when_its_time_is_up():
    assert await Purgatory(SystemClock()).wait([A], 5) is False


async def test_a_short_wait_is_not_held_up_by_a_longer_one_before_it():
    purgatory = Purgatory(SystemClock())
    longer = purgatory.wait([A], LONG_MS)
    assert await purgatory.wait([A], 5) is False
    assert not longer.done()
    longer.cancel()


async def test_a_wake_right_after_wait_is_not_lost():
    purgatory = Purgatory(SystemClock())
    waiting = purgatory.wait([A], LONG_MS)
    purgatory.wake(A)
    assert await waiting is True


async def test_no_time_to_wait_is_answered_at_once():
    assert await Purgatory(SystemClock()).wait([A], 0) is False


async def test_trap_46_nothing_is_left_behind_however_a_waiter_ends():
    purgatory = Purgatory(SystemClock())
    woken, cancelled = purgatory.wait([A, B], LONG_MS), purgatory.wait([A], LONG_MS)
    cancelled.cancel()
    purgatory.wake(A)
    await asyncio.gather(woken, cancelled, return_exceptions=True)
    await purgatory.wait([B], 1)
    assert len(purgatory) == 0
    assert purgatory._waiters == {}


async def test_finished_waiters_do_not_pile_up_in_the_deadline_heap():
    purgatory = Purgatory(SystemClock())
    for _ in range(1_000):
        waiting = purgatory.wait([A], LONG_MS)
        purgatory.wake(A)
        await waiting
        await asyncio.sleep(0)
    assert len(purgatory._deadlines) < 100


async def test_whoever_would_wait_for_more_than_there_is_room_for_is_answered_at_once(monkeypatch):
    monkeypatch.setattr("broker.runtime.purgatory.DELAYED_FETCH_PARTITIONS_MAX", 3)
    purgatory = Purgatory(SystemClock())
    first = purgatory.wait([A, B], LONG_MS)
    assert await purgatory.wait([A, B], LONG_MS) is False
    first.cancel()
    await asyncio.sleep(0)
    second = purgatory.wait([A, B], LONG_MS)
    await asyncio.sleep(0)
    assert not second.done()
    second.cancel()
