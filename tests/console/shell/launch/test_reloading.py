"""The console's processes start again with other settings; what they manage, and Redis, go on."""

import io
import os

import pytest
from django.db import DatabaseError

from console.kit.common.reloading import ask_to_reload, is_asked_to_reload
from console.processes.run_files import read_run_file
from console.shell.launch import reloading, up
from console.shell.launch.interrupts import Interrupts
from console.shell.launch.progress import LaunchProgress
from tests.console.shell.launch.conftest import service

RUNNING = ("redis", "worker", "web", "collector", "collector-east")
WANTED = ("worker", "web", "collector", "collector-west")


@pytest.fixture
def reload(supervisor, settings, monkeypatch):
    monkeypatch.setattr(reloading, "migrate", lambda: None)
    monkeypatch.setattr(reloading, "console_services", lambda: [service(item) for item in WANTED])
    for name in RUNNING:
        supervisor.start(service(name))
    ask_to_reload(settings.RUN_DIR)
    output = io.StringIO()
    return lambda: reloading.reload(supervisor, LaunchProgress(output), Interrupts()) or output.getvalue()


def pids(settings) -> dict[str, int]:
    identities = {name: read_run_file(settings.RUN_DIR / "services", name) for name in {*RUNNING, *WANTED}}
    return {name: identity.pid for name, identity in identities.items() if identity}


def test_each_is_started_again_one_comes_one_goes_and_redis_stays(reload, supervisor, settings):
    before = pids(settings)
    reload()
    after = pids(settings)
    assert [item.name for item in supervisor.services] == ["redis", *WANTED]
    assert after.keys() == {"redis", *WANTED}
    assert {name for name in after if after[name] == before.get(name)} == {"redis"}
    assert all(supervisor.is_alive(name) for name in after)
    with pytest.raises(ProcessLookupError):
        os.kill(before["collector-east"], 0)
    assert not is_asked_to_reload(settings.RUN_DIR)


def test_a_database_that_fails_stops_nothing(reload, supervisor, settings, monkeypatch):
    def fail() -> None:
        raise DatabaseError("no room")

    monkeypatch.setattr(reloading, "migrate", fail)
    before = pids(settings)
    assert "goes on as it was: the database cannot be used: no room" in reload()
    assert pids(settings) == before
    assert not is_asked_to_reload(settings.RUN_DIR)


def test_the_collector_of_a_cluster_that_is_gone_is_taken_down_too(supervisor, settings, monkeypatch):
    monkeypatch.setattr(up, "shut_down", lambda *_: 0)
    monkeypatch.setattr(up, "processes_of_host", list)
    for name in ("web", "collector-gone"):
        supervisor.start(service(name))
    before = pids(settings) | {"collector-gone": read_run_file(settings.RUN_DIR / "services", "collector-gone").pid}
    up.take_down(supervisor, LaunchProgress(io.StringIO()), lambda: False)
    for pid in before.values():
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
