"""The cast (operator, viewer, outsider) and small real processes that end with their test."""

import sys
from pathlib import Path

import pytest
from django.contrib.auth.models import Group, User

from console.processes import os_process, step
from console.processes.models import ManagedProcess
from console.processes.states import Observed
from console.processes.truths import ProcessState

STATE_OF = {Observed.RUNNING: ProcessState.HEALTHY, Observed.EXITED: ProcessState.EXITED}
SLEEPER = "import time; print('up', flush=True); time.sleep(60)"
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"


def user_with_role(name: str, role: str | None) -> User:
    user = User.objects.create_user(name, password="a long enough password")
    if role:
        user.groups.add(Group.objects.get_or_create(name=role)[0])
    return user


@pytest.fixture
def operator(db):
    return user_with_role("olga", "operator")


@pytest.fixture
def viewer(db):
    return user_with_role("vera", "viewer")


@pytest.fixture
def outsider(db):
    return user_with_role("otto", None)


@pytest.fixture
def run_dir(settings, tmp_path) -> Path:
    settings.RUN_DIR = tmp_path / "run"
    settings.RUN_DIR.mkdir()
    return settings.RUN_DIR


@pytest.fixture
def spawned():
    """Start `python -c CODE` by way of os_process; everything with a token of the test is killed at its end."""
    tokens = []

    def spawn(code: str, log_path: Path, token: str) -> os_process.ProcessIdentity:
        tokens.append(token)
        return os_process.spawn([sys.executable, "-c", code], {}, log_path.parent, log_path, token)

    yield spawn
    for token in tokens:
        os_process.kill_family(token)
    os_process.forget_ended(set())


@pytest.fixture
def make_process(db, run_dir, settings, tmp_path, monkeypatch):
    """A row whose process is `python -c CODE`; whatever it started is killed at the end of the test."""
    settings.DATA_DIR, settings.LOG_DIR = tmp_path, tmp_path / "logs"
    settings.LOG_DIR.mkdir()
    commands: dict[str, list[str]] = {}
    monkeypatch.setattr(step, "_argv", lambda process: commands[process.name])
    names = []

    def make(code: str = SLEEPER, name: str = "demo", argv: list[str] | None = None, **fields) -> ManagedProcess:
        names.append(name)
        commands[name] = argv or [sys.executable, "-c", code]
        defaults = {
            "kind": "connect",
            "host": settings.HOST_NAME,
            "spec": {"directory": str(tmp_path / name), "port": 8083, "properties": {}},
        }
        defaults["state"] = STATE_OF.get(fields.get("observed"), ProcessState.STOPPED)
        return ManagedProcess.objects.create(name=name, **(defaults | fields))

    yield make
    for row in ManagedProcess.objects.filter(name__in=names):
        os_process.kill_family(row.run_token)
    os_process.forget_ended(set())
