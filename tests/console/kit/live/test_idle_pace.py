"""The collector looks less often while nobody looks and all is well, and at once when somebody comes."""

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from console.kit.live import idle_pace
from console.kit.live.idle_pace import BEATS_SLOWER, LINGERS_SECONDS, SLOWER, IdlePace
from console.shell.collector.collector import CollectorThread
from console.state.clusters.queries import cluster_state

STOP = threading.Event()


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock_s() -> Clock:
    return Clock()


@pytest.fixture
def paying(clock_s) -> IdlePace:
    return IdlePace(lambda: False, clock_s)


@pytest.fixture
def inattentive(paying, clock_s) -> IdlePace:
    clock_s.now += LINGERS_SECONDS + 1
    paying.review()
    assert not paying.is_paid
    return paying


class Waits:
    """Stands for an event: remembers how long it was waited for."""

    def __init__(self):
        self.seconds: list[float] = []

    def wait(self, seconds: float) -> None:
        self.seconds.append(seconds)


def test_a_tier_keeps_its_interval_while_somebody_looks(paying):
    stop = Waits()
    paying.pause(1.5, stop)

    assert stop.seconds == [1.5]


def test_a_tier_pauses_longer_while_nobody_does(inattentive, monkeypatch):
    waits = Waits()
    monkeypatch.setattr(inattentive._paid, "wait", waits.wait)
    inattentive.pause(1.5, STOP)

    assert waits.seconds == [1.5 * SLOWER]


def test_whoever_pauses_for_long_begins_at_once_when_somebody_comes(inattentive):
    with ThreadPoolExecutor(1) as threads:
        pause = threads.submit(inattentive.pause, 10_000, STOP)
        inattentive.pay()
        pause.result(timeout=30)


def test_attention_ends_a_while_after_the_last_page_was_closed(clock_s):
    is_open = [True]
    paid = IdlePace(lambda: is_open[0], clock_s)
    clock_s.now += 1_000
    paid.review()
    is_open[0] = False
    clock_s.now += LINGERS_SECONDS - 1
    paid.review()
    assert paid.is_paid

    clock_s.now += 2
    paid.review()
    assert not paid.is_paid


def test_a_failing_cluster_a_missing_broker_and_a_lagging_replica_are_looked_at_closely(
    collector, collect, cluster, monkeypatch
):
    paid: list[bool] = []
    monkeypatch.setattr(collector.attention, "pay", lambda: paid.append(True))
    monkeypatch.setattr(collector.attention, "_is_any_page_open", lambda: False)
    cluster.create_topic("orders", 1, 3)
    collect()
    paid.clear()
    collect()
    assert not paid, "all is well"

    cluster.stop_broker(3)
    collector.collect_cluster()
    assert paid
    paid.clear()
    collector.collect_topics()
    assert paid
    paid.clear()
    collector.cluster_failed("no broker answered")
    assert paid


def test_the_past_of_the_rate_keeps_its_scale_while_nobody_looks(cluster, collector, clock):
    cluster.create_topic("orders", 1, 1)
    collector.collect_topics()
    for is_paid in (True, False):
        collector.attention = SimpleNamespace(is_paid=is_paid, pay=lambda: None)
        cluster.append("orders", 0, 6)
        clock.advance(1_500 if is_paid else 1_500 * SLOWER)
        collector.collect_topics()

    assert len(cluster_state().rate_history) == 1 + SLOWER


def test_a_tier_ends_in_the_middle_of_a_long_pause(inattentive):
    stop = threading.Event()
    tier = CollectorThread("topics", 10_000, lambda: None, pause=inattentive.pause)
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(tier.run, stop)
        stop.set()
        inattentive.pay()
        running.result(timeout=30)


def test_a_call_is_heard_only_while_nobody_looks(inattentive, layer):
    inattentive.rest(0.01, STOP)
    inattentive.rest(0.01, STOP)
    assert idle_pace.call()
    inattentive.rest(30, STOP)
    assert inattentive.is_paid

    inattentive.rest(0.01, STOP)
    assert not idle_pace.call()


def test_the_collector_rests_longer_while_nobody_looks_unless_it_is_to_end(inattentive, layer, monkeypatch):
    waits: list[float] = []
    monkeypatch.setattr(inattentive, "_is_woken", lambda seconds: bool(waits.append(seconds)))
    inattentive.rest(1.0, STOP)
    assert waits == [1.0] * BEATS_SLOWER
    ended = threading.Event()
    ended.set()
    inattentive.rest(1.0, ended)
    assert len(waits) == BEATS_SLOWER


def test_without_redis_somebody_may_look(inattentive, layer, settings, redis_url):
    settings.REDIS_URL = f"{redis_url}.gone"
    inattentive.rest(0.01, STOP)

    assert inattentive.is_paid
    assert not idle_pace.call()
