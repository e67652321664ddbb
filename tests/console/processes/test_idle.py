"""Processes that rest are looked at less often, and at once when anything is otherwise."""

import os
import signal
import subprocess
import sys

import psutil
import pytest
from django.conf import settings

from console.processes import tasks
from console.processes.idle import EVERY_S, CooldownClock, has_pending_wish, is_as_wanted
from console.processes.models import ManagedProcess
from console.processes.os_process import ProcessIdentity, runs
from console.processes.states import Observed, Request
from console.processes.tasks import reconcile_host
from console.processes.truths import ProcessState
from tests.barnabas_cluster import await_true
from tests.console.processes.test_step import start

ONE, TWO = ProcessIdentity(1, 1.0, "one"), ProcessIdentity(2, 2.0, "two")


class World:
    """Who runs, the time and whether somebody disturbs, moved by hand."""

    def __init__(self):
        self.running, self.now_s, self.is_disturbed = {ONE, TWO}, 100.0, False
        self.rest = CooldownClock(lambda: self.is_disturbed, lambda item: item in self.running, lambda: self.now_s)


@pytest.fixture
def world():
    return World()


def test_without_a_look_there_is_no_rest(world):
    assert world.rest.is_over()


def test_after_a_look_that_found_all_well_the_next_one_has_time(world):
    world.rest.began([ONE, TWO])
    assert not world.rest.is_over()
    world.now_s += EVERY_S - 0.1
    assert not world.rest.is_over()
    world.now_s += 0.1
    assert world.rest.is_over()


@pytest.mark.parametrize("disturb", ["died", "page or wish", "another look"])
def test_a_rest_is_over_as_soon_as_anything_is_otherwise(world, disturb):
    world.rest.began([ONE, TWO])
    match disturb:
        case "died":
            world.running.remove(TWO)
        case "page or wish":
            world.is_disturbed = True
        case "another look":
            world.rest.ended()
    assert world.rest.is_over()


def test_a_suspended_process_does_not_run_and_a_dead_one_neither():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    identity = ProcessIdentity(child.pid, 0.0, "")
    try:
        assert runs(identity)
        os.kill(child.pid, signal.SIGSTOP)
        await_true(lambda: psutil.Process(child.pid).status() == psutil.STATUS_STOPPED, "stopped", 10)
        assert not runs(identity)
    finally:
        child.kill()
    await_true(lambda: psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE, "a zombie", 10)
    assert not runs(identity)
    child.wait()
    assert not runs(identity)


@pytest.fixture
def rest(monkeypatch):
    """The worker's, with nobody looking on."""
    rest = CooldownClock(has_pending_wish)
    monkeypatch.setattr(tasks, "REST", rest)
    return rest


@pytest.mark.django_db
def test_a_look_at_processes_that_are_as_wanted_begins_a_rest_that_a_death_ends(make_process, rest):
    row = start(make_process())
    reconcile_host(settings.HOST_NAME)
    assert not rest.is_over()
    os.kill(row.pid, signal.SIGKILL)
    await_true(rest.is_over, "the death is seen", 10)
    reconcile_host(settings.HOST_NAME)
    assert rest.is_over(), "it is to be started again"


@pytest.mark.django_db
@pytest.mark.parametrize(
    "change", [{"request": Request.RESTART}, {"desired": "stopped"}, {"is_leaving": True}, {"observed": "starting"}]
)
def test_a_wish_in_a_row_ends_a_rest(make_process, rest, change):
    start(make_process())
    reconcile_host(settings.HOST_NAME)
    assert not rest.is_over()
    ManagedProcess.objects.update(**change)
    assert rest.is_over()


@pytest.mark.django_db
def test_a_row_that_cannot_be_stepped_lets_nothing_rest(make_process, rest, monkeypatch):
    start(make_process())

    def fail(*_arguments):
        raise OSError("no file can be opened")

    monkeypatch.setattr(tasks, "rests", fail)
    reconcile_host(settings.HOST_NAME)
    assert rest.is_over()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "state", [item for item in ProcessState if item not in (ProcessState.HEALTHY, ProcessState.RUNNING)]
)
def test_what_is_not_well_is_looked_at_every_second(make_process, state):
    row = make_process()
    row.desired = row.observed = Observed.RUNNING
    row.state = state
    assert not is_as_wanted(row)
