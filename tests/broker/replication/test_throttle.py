"""Throttled replicas copy at their rate, whatever the fetches look like; others are left alone."""

import random

import pytest

from broker.common.types import TopicPartition
from broker.config.topic import ALL_REPLICAS, parse_throttled_replicas
from broker.replication.throttle import UNLIMITED, ReplicationThrottle

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)


@pytest.fixture
def throttle():
    """Broker 1 may copy 1,000 bytes per second of t-0."""
    throttle = ReplicationThrottle(1, 1_000)
    throttle.set_topic("t", parse_throttled_replicas("0:1,1:2"))
    return throttle


def _allowed(throttle, partition, wanted, now_ms, in_sync=False) -> int:
    return throttle.allowed(partition, wanted, now_ms, is_in_sync=in_sync)


def test_only_replicas_named_with_this_broker_are_throttled(throttle):
    assert [throttle.is_throttled(one) for one in (T0, T1, U0)] == [True, False, False]
    throttle.set_topic("u", ALL_REPLICAS)
    assert throttle.is_throttled(U0)
    throttle.set_topic("u", ())
    throttle.set_topic("t", ())
    assert not any(throttle.is_throttled(one) for one in (T0, T1, U0))


def test_a_second_of_the_rate_may_move_at_once_and_no_more(throttle):
    assert _allowed(throttle, T0, 5_000, 0) == 1_000
    throttle.moved(T0, 1_000, 0)
    assert _allowed(throttle, T0, 5_000, 0) == 0
    assert _allowed(throttle, T0, 5_000, 250) == 250
    assert _allowed(throttle, T0, 5_000, 60_000) == 1_000


def test_a_batch_larger_than_what_was_saved_is_paid_for_before_the_next(throttle):
    assert _allowed(throttle, T0, 100, 0) == 100
    throttle.moved(T0, 3_500, 0)
    assert _allowed(throttle, T0, 100, 2_500) == 0
    assert throttle.resumes_in_ms(2_400) == 101
    assert _allowed(throttle, T0, 100, 2_501) == 1


def test_replica_in_sync_copies_freely_but_counts(throttle):
    assert _allowed(throttle, T0, 9_000, 0, in_sync=True) == 9_000
    throttle.moved(T0, 9_000, 0)
    assert _allowed(throttle, T0, 9_000, 1_000, in_sync=True) == 9_000
    assert _allowed(throttle, T0, 1, 8_000) == 0


def test_replicas_that_are_not_throttled_neither_wait_nor_count(throttle):
    throttle.moved(T1, 50_000, 0)
    assert _allowed(throttle, T1, 50_000, 0) == 50_000
    assert _allowed(throttle, T0, 5_000, 0) == 1_000


def test_without_a_rate_nothing_is_held_back():
    throttle = ReplicationThrottle(1)
    throttle.set_topic("t", ALL_REPLICAS)
    throttle.moved(T0, 2**40, 0)
    assert _allowed(throttle, T0, 2**40, 0) == 2**40
    assert throttle.resumes_in_ms(0) == 0


def test_rate_may_change_while_bytes_move(throttle):
    throttle.moved(T0, 2_000, 0)
    throttle.set_rate(10_000, 0)
    assert _allowed(throttle, T0, 9_000, 100) == 0
    assert _allowed(throttle, T0, 9_000, 200) == 1_000
    throttle.set_rate(100, 10_000)
    assert _allowed(throttle, T0, 9_000, 10_000) == 100
    throttle.set_rate(UNLIMITED, 10_000)
    assert _allowed(throttle, T0, 9_000, 10_000) == 9_000


def test_rate_of_zero_stops_what_is_not_in_sync(throttle):
    throttle.set_rate(0, 0)
    assert _allowed(throttle, T0, 1, 10**9) == 0
    assert throttle.resumes_in_ms(10**9) is None


@pytest.mark.parametrize("seed", range(20))
def test_trap_47_no_pattern_of_replica_fetches_exceeds_the_rate(seed):
    """Over any time: what the rate gives, what was saved, and one batch that was larger than allowed."""
    dice = random.Random(seed)
    rate, largest_batch = dice.choice((7, 1_000, 123_456)), 5_000
    throttle = ReplicationThrottle(1, rate)
    throttle.set_topic("t", ALL_REPLICAS)
    now_ms, total = 0, 0
    for _ in range(2_000):
        now_ms += dice.randrange(50)
        if _allowed(throttle, T0, dice.randrange(1, 10_000), now_ms):
            batch = dice.randrange(1, largest_batch)
            throttle.moved(T0, batch, now_ms)
            total += batch
        assert total <= rate * now_ms / 1_000 + rate + largest_batch
    assert total > 0


def test_who_always_wants_more_gets_the_rate(throttle):
    total = 0
    for now_ms in range(0, 100_000, 7):
        copied = _allowed(throttle, T0, 5_000, now_ms)
        throttle.moved(T0, copied, now_ms)
        total += copied
    assert 100_000 <= total <= 101_000
