"""`manage.py down` ends what a killed terminal left, and is harmless when nothing is left."""

import io
import sys
import time

import pytest
from django.core.management import call_command

from console.processes import os_process, step
from console.processes.facts import run_files_of_processes
from console.processes.models import ManagedProcess
from console.processes.run_files import write_run_file
from console.processes.states import Desired, Observed, Request
from console.processes.step import settle
from tests.console.shell.launch.conftest import SLEEPER, service

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("directories")]


def down() -> str:
    out = io.StringIO()
    call_command("down", stdout=out)
    return out.getvalue()


@pytest.fixture
def broker(settings, directories, monkeypatch):
    monkeypatch.setattr(step, "_argv", lambda _process: [sys.executable, "-c", SLEEPER])
    row = ManagedProcess.objects.create(
        name="broker-1",
        kind="broker",
        host=settings.HOST_NAME,
        desired=Desired.RUNNING,
        request=Request.START,
    )
    row = settle(row.name, 10)
    yield row
    os_process.kill_family(row.run_token)


def test_nothing_left_is_said_and_no_error():
    assert down() == "  Nothing is running.\n"
    assert down() == "  Nothing is running.\n"


def test_services_and_brokers_are_ended_and_the_broker_stays_wanted(supervisor, broker):
    identity = supervisor.start(service("web"))
    out = down()
    broker.refresh_from_db()
    assert "✓ broker 1" in out
    assert "✓ web" in out
    assert "2 left over, ended." in out
    assert not os_process.look(identity).alive
    assert (broker.observed, broker.desired, broker.pid) == (Observed.STOPPED, Desired.RUNNING, None)
    assert down() == "  Nothing is running.\n"


def test_process_whose_row_is_lost_is_ended_by_its_run_file(broker, directories):
    identity = os_process.ProcessIdentity(broker.pid, broker.create_time, broker.run_token)
    broker.delete()
    write_run_file(run_files_of_processes(), "broker-1", identity)
    assert "1 left over, ended." in down()
    deadline = time.monotonic() + 10
    while os_process.look(identity).alive:
        assert time.monotonic() < deadline
        time.sleep(0.01)
