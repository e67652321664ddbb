"""A target that takes less than it is given: what it says is heeded, told, and all arrives once."""

import os
import signal
import threading
import uuid
from types import SimpleNamespace

import pytest

from broker.client.connection import BrokerConnection
from broker.mirror import reader
from broker.mirror import writer_pool as hands_of
from broker.mirror.status import status_of
from broker.mirror.throttle_state import ThrottleState
from broker.mirror.writer_pool import WriterPool
from tests.barnabas_cluster import await_true
from tests.broker.mirror.conftest import mirroring
from tests.typed import typed

MODES = pytest.mark.parametrize(
    "exactly_once", [False, pytest.param(True, marks=pytest.mark.long)], ids=["at least once", "exactly once"]
)


@pytest.fixture
def topic():
    return f"t-{uuid.uuid4().hex[:10]}"


@pytest.fixture
def limited(south):
    words = ("--bootstrap-server", south.bootstrap, "--alter", "--entity-type", "clients", "--entity-name", "mirror")
    assert typed("kafka-configs", *words, "--add-config", "producer_byte_rate=50000").status == 0
    yield
    assert typed("kafka-configs", *words, "--delete-config", "producer_byte_rate").status == 0


@MODES
def test_a_throttled_mirror_waits_as_it_is_told_and_says_so(north, south, topic, limited, exactly_once, monkeypatch):
    for side in (north, south):
        side.create(topic)
    broken = []
    close = BrokerConnection.close
    monkeypatch.setattr(BrokerConnection, "close", lambda self: broken.append(self.address) or close(self))
    with mirroring(north, south, {topic: 1}, exactly_once=exactly_once) as task:
        (copied,) = task.copies.values()
        north.write(topic, [os.urandom(1_000) for _ in range(700)])
        await_true(lambda: copied.records, "the first ones are there", 40)
        # The quota is used up by then.
        north.write(topic, [os.urandom(1_000) for _ in range(50)])
        await_true(lambda: task.slowness, "it is told", 40)
        status = status_of(copied, 800, None, task.slowness, 0)
        assert (status.error, status.notice) == (None, "a quota of the target slows the mirror down")
        broken.clear()
        await_true(lambda: len(south.values(topic)) == 750, "all arrives", 90)
        assert not broken, "and by the same connections"
    assert south.values(topic) == north.values(topic)


def test_while_a_target_takes_nothing_the_source_is_looked_at(north, south, topic, monkeypatch):
    for side in (north, south):
        side.create(topic)
    may_go_on = threading.Event()
    do = WriterPool.do
    monkeypatch.setattr(reader, "_ENDS_S", 0.2)

    def held_back(self, jobs, on_wait=None):
        if jobs:
            may_go_on.wait(60)
        return do(self, jobs, on_wait)

    with mirroring(north, south, {topic: 1}) as task:
        (copied,) = task.copies.values()
        north.write(topic, ["0"])
        await_true(lambda: copied.next_offset == 1, "it works")
        monkeypatch.setattr(WriterPool, "do", held_back)
        for number in range(1, 8):
            north.write(topic, [f"{number}"])
            await_true(lambda number=number: task.ends().get(copied.source) == number + 1, "the end is known", 20)
        assert copied.next_offset == 1
        may_go_on.set()
        await_true(lambda: len(south.values(topic)) == 8, "all arrives")


def test_who_waits_for_hands_tells_of_it_meanwhile(monkeypatch):
    monkeypatch.setattr(hands_of, "_WAIT_S", 0.05)
    monkeypatch.setattr(hands_of, "_SLOW_S", 0.3)
    clusters = SimpleNamespace(close=lambda: None)
    hands = WriterPool(lambda: clusters, 1, lambda: False)
    may_go_on, waited = threading.Event(), []

    def on_wait():
        waited.append(hands.slowness)
        if hands.slowness:
            may_go_on.set()

    hands.do([(hands.next(), lambda: may_go_on.wait(60))], on_wait)
    assert waited[-1] == "the target is slow to answer"
    assert hands.slowness is None
    hands.close()


def test_a_quota_is_told_of_while_it_holds_and_a_little_longer():
    now = [0.0]
    patience = ThrottleState(lambda: now[0])
    patience.throttled(("a", 1), 0.5)
    assert not patience.is_tried
    patience.throttled(("a", 1), 20.0)
    patience.throttled(("a", 1), 0.0)
    assert (patience.ends_at(("a", 1)), patience.ends_at(("b", 1))) == (20.0, float("-inf"))
    now[0] = 29.0
    assert patience.is_tried
    now[0] = 31.0
    assert not patience.is_tried
    patience.forget(("a", 1))
    assert patience.ends_at(("a", 1)) == float("-inf")


def lag(task, topic):
    (copied,) = (copy for copy in task.copies.values() if copy.source.topic == topic)
    return task.ends().get(copied.source, 0) - copied.next_offset


@pytest.mark.long
@pytest.mark.parametrize("exactly_once", [False, True], ids=["at least once", "exactly once"])
def test_a_follower_that_hangs_in_the_target_holds_up_what_wants_it_in_sync_and_nothing_else(
    sides, topic, exactly_once
):
    east, west = sides
    strict, plain = f"{topic}-strict", f"{topic}-plain"
    for name, in_sync in ((strict, "2"), (plain, "1")):
        east.create(name)
        west.create(name, min_insync_replicas=in_sync)
    with mirroring(east, west, {strict: 1, plain: 1}, exactly_once=exactly_once) as task:
        for name in (strict, plain):
            east.write(name, [f"{number}" for number in range(10)])
            await_true(lambda name=name: len(west.values(name)) == 10, "all is well", 60)
        west.running.broker(2).process.send_signal(signal.SIGSTOP)
        try:
            (copied,) = (copy for copy in task.copies.values() if copy.source.topic == strict)
            for turn in range(3):
                for name in (strict, plain):
                    east.write(name, [f"{turn}"])
                await_true(lambda: task.slowness or copied.error or task.trouble, "it is told", 60)
                await_true(lambda turn=turn: lag(task, strict) == turn + 1, "the lag is right", 60)
                if not exactly_once:
                    await_true(lambda turn=turn: len(west.values(plain)) == 11 + turn, "the other goes on", 60)
        finally:
            west.running.broker(2).process.send_signal(signal.SIGCONT)
        for name in (strict, plain):
            await_true(lambda name=name: len(west.values(name)) >= 13, f"{name} goes on", 120)
        await_true(lambda: copied.error is None and task.trouble is None, "and nothing is wrong any more", 60)
    for name in (strict, plain):
        assert west.values(name) == east.values(name)
