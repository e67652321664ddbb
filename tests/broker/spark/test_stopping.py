"""A driver that is told to stop ends, though it hangs inside Spark."""

from threading import Event

from broker.spark.stopping import StopGuard

DEADLINE_S = 20


def test_start_that_hangs_is_abandoned_as_soon_as_somebody_wants_to_stop():
    stop, ended = Event(), Event()
    with StopGuard(stop, ended.set, stop_s=1_000_000) as guard, guard.starting():
        stop.set()
        assert ended.wait(DEADLINE_S)


def test_stop_that_takes_too_long_is_cut_short():
    stop, ended = Event(), Event()
    with StopGuard(stop, ended.set, stop_s=0.1):
        stop.set()
        assert ended.wait(DEADLINE_S)


def test_what_stops_in_order_is_left_alone():
    stop, ended = Event(), Event()
    with StopGuard(stop, ended.set, stop_s=1_000_000) as guard:
        with guard.starting():
            pass
        stop.set()
    guard._thread.join(DEADLINE_S)
    assert not guard._thread.is_alive()
    assert not ended.is_set()


def test_nobody_who_is_not_told_to_stop_is_ended():
    ended = Event()
    with StopGuard(Event(), ended.set, stop_s=0) as guard, guard.starting():
        pass
    guard._thread.join(DEADLINE_S)
    assert not guard._thread.is_alive()
    assert not ended.is_set()
