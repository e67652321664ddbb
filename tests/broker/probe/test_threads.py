"""A thread of the probe goes on after an error that no code foresaw: without it nothing would be measured any more."""

import threading
from types import SimpleNamespace

import pytest

from broker.probe.keeper import Keeper
from broker.probe.lane import ProbeLane
from broker.probe.mirror import MirrorReader


@pytest.fixture
def reported():
    return []


@pytest.fixture
def desk(reported):
    book = SimpleNamespace(
        unanswered=lambda _broker, why, is_broken: reported.append(why),
        mirror_looked=lambda _at_ms, why: reported.append(why),
    )
    return SimpleNamespace(
        at_ms=lambda: 0.0, lock=threading.Lock(), book=book, look_again=False, learned_at_ms=1, topic="barnabas.probe"
    )


def stumbling(stop):
    """Raises what no caller foresees, and ends the loop at the second call."""
    calls = []

    def call():
        calls.append(1)
        if len(calls) > 1:
            stop.set()
            return
        raise KeyError("a field of a response")

    return call


def test_a_lane_goes_on(desk, reported, monkeypatch):
    lane = ProbeLane(1, desk, 1_000, None)
    monkeypatch.setattr(lane, "round", stumbling(lane.stop))
    lane.run(0.01)
    assert reported == ["'a field of a response'"]


def test_the_keeper_goes_on(desk, monkeypatch):
    monkeypatch.setattr("broker.probe.keeper._LOOK_EVERY_S", 0.01)
    stop, keeper = threading.Event(), Keeper(desk, None, None)
    monkeypatch.setattr(keeper, "look", stumbling(stop))
    keeper.run(stop)
    assert keeper._last_error == "'a field of a response'"


def test_the_reader_of_a_mirror_goes_on(desk, reported, monkeypatch):
    stop, reader = threading.Event(), MirrorReader(desk, None, "barnabas.probe")
    monkeypatch.setattr(reader, "look", stumbling(stop))
    reader.run(stop, 0.01)
    assert reported == ["KeyError: 'a field of a response'", ""]
