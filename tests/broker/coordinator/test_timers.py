import random

from broker.coordinator.group.timers import TimerKey, TimerKind
from broker.coordinator.timers import Timers


def key(name: str) -> TimerKey:
    return TimerKey(TimerKind.SESSION, "g", name)


def test_expired_keys_come_earliest_first_and_once():
    timers = Timers()
    timers.schedule(key("late"), 20)
    timers.schedule(key("early"), 10)
    assert timers.next_deadline_ms() == 10
    assert [timers.take_expired(20), timers.take_expired(20)] == [key("early"), key("late")]
    assert timers.take_expired(20) is None
    assert timers.next_deadline_ms() is None


def test_deadline_may_move_both_ways():
    timers = Timers()
    timers.schedule(key("a"), 10)
    timers.schedule(key("a"), 30)
    assert timers.take_expired(29) is None
    timers.schedule(key("a"), 5)
    assert timers.next_deadline_ms() == 5
    assert timers.take_expired(5) == key("a")
    assert timers.take_expired(100) is None


def test_cancelled_key_never_expires_and_may_be_set_again():
    timers = Timers()
    timers.schedule(key("a"), 10)
    timers.cancel(key("a"))
    timers.cancel(key("never set"))
    assert timers.next_deadline_ms() is None
    timers.schedule(key("a"), 15)
    assert timers.take_expired(14) is None
    assert timers.take_expired(15) == key("a")


def test_thousands_of_heartbeats_leave_one_entry():
    timers = Timers()
    for now_ms in range(0, 100_000, 100):
        timers.schedule(key("a"), now_ms + 10_000)
        timers.take_expired(now_ms)
    assert len(timers._heap) == 1


def test_who_comes_and_goes_before_his_time_leaves_nothing():
    timers = Timers()
    for number in range(10_000):
        timers.schedule(key(str(number)), 1_800_000 + number)
        timers.cancel(key(str(number)))
    assert len(timers._heap) + len(timers._queued) < 3_000


def test_deadline_that_moves_earlier_again_and_again_leaves_one_entry_that_counts():
    timers = Timers()
    for deadline_ms in range(1_800_000, 1_780_000, -1):
        timers.schedule(key("a"), deadline_ms)
    timers.schedule(key("b"), 5)
    assert len(timers._heap) < 3_000
    assert [timers.take_expired(1_780_001), timers.take_expired(1_780_001)] == [key("b"), key("a")]
    assert timers.next_deadline_ms() is None


def test_agrees_with_a_plain_dictionary_however_often_stale_entries_are_dropped(monkeypatch):
    monkeypatch.setattr("broker.coordinator.timers._ENTRIES_MIN", 3)
    test_agrees_with_a_plain_dictionary()


def test_agrees_with_a_plain_dictionary():
    chance = random.Random(17)
    timers, plain, now_ms = Timers(), {}, 0
    for _ in range(5_000):
        name = key(chance.choice("abcdefgh"))
        if chance.random() < 0.6:
            plain[name] = now_ms + chance.randrange(50)
            timers.schedule(name, plain[name])
        elif chance.random() < 0.5:
            plain.pop(name, None)
            timers.cancel(name)
        now_ms += chance.randrange(5)
        while (expired := timers.take_expired(now_ms)) is not None:
            assert plain.pop(expired) <= now_ms
        assert timers.next_deadline_ms() == min(plain.values(), default=None)
        assert all(deadline_ms > now_ms for deadline_ms in plain.values())
