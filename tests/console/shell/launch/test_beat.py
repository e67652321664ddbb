"""Beat runs what is needed, also where it cannot find out, and no worker lives on without it."""

import threading

import pytest
from celery.worker import state
from django.db import OperationalError

from console.automation.decommission.models import Decommission
from console.celery import app
from console.processes.idle import REST
from console.shell.launch import beat


@pytest.fixture(autouse=True)
def nothing_rests(monkeypatch):
    """What looks of other tests in this process may have found is not known here; somebody looks on."""
    app.finalize()
    REST.ended()
    monkeypatch.setitem(beat.FrugalScheduler.only_if, "look-at-streams", lambda: True)


class Begun(list[str]):
    """The names of the entries that were begun, and nothing is run."""

    def begin(self, name: str, task, args: tuple) -> None:
        assert callable(task)
        self.append(name)


@pytest.fixture
def begun() -> Begun:
    return Begun()


@pytest.fixture
def scheduler(begun):
    app.finalize()
    return beat.FrugalScheduler(app, lazy=True, runs=begun)


def _apply_all(scheduler) -> None:
    scheduler.merge_inplace(app.conf.beat_schedule)
    for entry in scheduler.schedule.values():
        scheduler.apply_entry(entry)


def test_long_changes_are_advanced_only_while_there_is_one(db, scheduler, begun):
    _apply_all(scheduler)
    assert sorted(begun) == ["close-tallies", "look-at-streams", "reconcile-processes"]

    begun.clear()
    Decommission.objects.create(broker_id=3)
    _apply_all(scheduler)
    assert "advance-decommission.decommission" in begun


def test_what_is_due_is_begun_again_and_again_and_what_was_missed_once(db, begun):
    app.finalize()
    now_s = [100.0]
    scheduler = beat.FrugalScheduler(app, lazy=True, runs=begun, clock_s=lambda: now_s[0])
    scheduler.setup_schedule()
    assert scheduler.tick() == 1.0
    assert sorted(begun) == ["close-tallies", "look-at-streams", "reconcile-processes"]

    begun.clear()
    now_s[0] += 0.5
    assert scheduler.tick() == 0.5
    assert begun == []
    now_s[0] += 0.5
    scheduler.tick()
    assert begun == ["reconcile-processes"]

    begun.clear()
    now_s[0] += 60
    scheduler.tick()
    scheduler.tick()
    assert sorted(begun) == ["close-tallies", "look-at-streams", "reconcile-processes"]


def test_what_cannot_be_found_out_is_needed(scheduler, monkeypatch):
    def fail() -> bool:
        raise OperationalError("the database is gone")

    monkeypatch.setitem(scheduler.only_if, "reconcile-processes", fail)

    assert scheduler.is_needed("reconcile-processes")


def test_every_condition_is_of_an_entry_there_is():
    app.finalize()

    assert beat.FrugalScheduler.only_if.keys() <= app.conf.beat_schedule.keys()


def test_a_worker_whose_beat_has_died_ends(monkeypatch):
    monkeypatch.setattr(state, "should_stop", None)
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()

    beat.end_without(thread)

    assert state.should_stop == beat.EXIT_STATUS
