"""Somebody else writes the database: a row starts the command of its kind with a spec that holds, or nothing at all."""

import os
import subprocess
import sys

import pytest

from console.processes import os_process, step
from console.processes.facts import run_files_of_processes
from console.processes.kinds.spec import SpecError
from console.processes.models import ManagedProcess
from console.processes.os_process import ProcessIdentity
from console.processes.states import Desired, Observed, Request
from console.processes.tasks import reconcile_host

#: Ours, whatever is called `broker` where it starts.
PYTHON = [sys.executable, "-P", "-m", "broker"]


@pytest.fixture
def spawned(monkeypatch):
    """What would have been started: (argv, env, log)."""
    seen = []

    def spawn(argv, env, working_dir, log_path, token):
        seen.append((argv, env, log_path))
        raise OSError("nothing is started here")

    monkeypatch.setattr(os_process, "spawn", spawn)
    return seen


@pytest.fixture
def row(db, run_dir, settings, tmp_path):
    settings.DATA_DIR, settings.LOG_DIR = tmp_path, tmp_path / "logs"

    def make(**fields) -> ManagedProcess:
        usual = {"name": "demo", "kind": "stream", "spec": {"directory": str(tmp_path / "demo"), "properties": {}}}
        wish = {"host": settings.HOST_NAME, "desired": Desired.RUNNING, "request": Request.START}
        return ManagedProcess.objects.create(**(usual | wish | fields))

    return make


def test_what_is_started_is_the_command_of_its_kind(row, spawned, settings):
    step.step(row().name)
    assert spawned == [
        (
            [*PYTHON, "stream", "--config", f"{settings.DATA_DIR}/demo/stream.properties"],
            {},
            settings.LOG_DIR / "demo.log",
        )
    ]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"spec": {"directory": "/srv/evil", "properties": {}}}, "directory must be"),
        ({"spec": {"directory": "relative", "properties": {}}}, "directory must be an absolute path"),
        ({"spec": {"argv": ["/bin/sh"]}}, "argv is no field of this kind of process"),
        ({"spec": {}}, "directory must be one line of text"),
        ({"kind": "stream", "spec": {"directory": "/x", "properties": {"spark.jars": "x"}}}, "must"),
        ({"kind": "zookeeper", "spec": {"directory": "/x", "client_port": "2181 --host 0.0.0.0"}}, "must"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_spec_that_does_not_hold_starts_nothing_and_says_which_field(row, spawned, fields, sentence):
    process = step.step(row(**fields).name)
    assert spawned == []
    assert process.observed == Observed.EXITED
    assert sentence in process.sentence
    assert process.command.startswith("none: ")


def test_a_name_that_would_be_a_path_is_no_file_anywhere(row, spawned, settings, tmp_path):
    row(name="../../outside")
    sound = row(name="sound", spec={"directory": str(tmp_path / "sound"), "properties": {}})
    with pytest.raises(SpecError):
        step.step("../../outside")
    reconcile_host(settings.HOST_NAME)
    assert [log.name for _, _, log in spawned] == [f"{sound.name}.log"]
    assert not list(tmp_path.parent.glob("outside*"))
    assert not list(run_files_of_processes().parent.glob("**/outside*"))


def test_a_process_that_is_none_of_ours_is_not_ended(row):
    """One that was started with no token looked like the row whose token is empty."""
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        created = os_process.identify(bystander.pid, "").create_time
        assert not os_process.look(ProcessIdentity(bystander.pid, created, "")).alive
        row(pid=bystander.pid, create_time=created, run_token="", desired=Desired.STOPPED, request=Request.KILL)
        step.step("demo")
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_nothing_that_runs_a_process_is_a_column():
    columns = {field.name for field in ManagedProcess._meta.concrete_fields}
    assert columns.isdisjoint({"argv", "env", "working_dir", "data_dir", "log_path"})
    assert os.path.isabs(str(ManagedProcess(name="x").log_path))
