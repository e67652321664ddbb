"""Each entry of beat runs in the worker's pool, one run at a time, and a run that fails is no end."""

import logging

import pytest
from django.db import OperationalError, connections

from console.shell.launch.beat_runs import BeatRuns
from console.shell.launch.worker_pool import ThreadPool

TIMEOUT_S = 15.0


class PoolByHand:
    """Runs what was begun when it is told to."""

    def __init__(self) -> None:
        self.waiting: list[tuple] = []
        self.timeouts: list[float] = []

    def apply_async(self, target, args, *, callback, timeout):
        self.waiting.append((target, args, callback))
        self.timeouts.append(timeout)

    def run(self) -> None:
        waiting, self.waiting = self.waiting, []
        for target, args, callback in waiting:
            callback(target(*args))


@pytest.fixture
def pool() -> PoolByHand:
    return PoolByHand()


@pytest.fixture
def runs(pool) -> BeatRuns:
    return BeatRuns(pool, TIMEOUT_S)


def test_an_entry_runs_with_its_arguments_and_within_the_time_of_tasks(pool, runs):
    seen: list[str] = []
    runs.begin("advance-a", seen.append, ("a",))
    pool.run()
    assert (seen, pool.timeouts) == (["a"], [TIMEOUT_S])


def test_what_still_waits_or_goes_on_is_not_begun_again_and_keeps_no_other_from_it(pool, runs):
    seen: list[str] = []

    def first() -> None:
        runs.begin("first", seen.append, ("first, while it goes on",))
        seen.append("first")

    runs.begin("first", first, ())
    runs.begin("first", seen.append, ("first, while it waits",))
    runs.begin("second", seen.append, ("second",))
    pool.run()
    assert seen == ["first", "second"]
    assert pool.waiting == []

    runs.begin("first", seen.append, ("first once more",))
    pool.run()
    assert seen[2:] == ["first once more"]


def test_a_run_that_fails_is_told_of_and_begun_again_with_a_new_connection(pool, runs, caplog, monkeypatch):
    closed: list[bool] = []
    monkeypatch.setattr(connections, "close_all", lambda: closed.append(True))

    def fail() -> None:
        raise OperationalError("the database is gone")

    runs.begin("entry", fail, ())
    with caplog.at_level(logging.ERROR):
        pool.run()
    assert "entry failed" in caplog.text
    assert "the database is gone" in caplog.text
    assert closed == [True]

    runs.begin("entry", fail, ())
    assert len(pool.waiting) == 1


def test_in_a_worker_that_ends_nothing_is_begun(caplog):
    pool = ThreadPool(1)
    pool.on_stop()
    seen: list[str] = []
    with caplog.at_level(logging.WARNING):
        BeatRuns(pool, TIMEOUT_S).begin("entry", seen.append, ("entry",))
    assert (seen, caplog.text) == ([], "")


def test_the_worker_s_own_pool_takes_what_beat_begins():
    pool, seen = ThreadPool(2), []
    BeatRuns(pool, TIMEOUT_S).begin("entry", seen.append, ("entry",))
    pool.executor.shutdown()  # waits for what was begun
    assert seen == ["entry"]
