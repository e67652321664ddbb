"""Whoever is held goes on again: when the time is over, when it is asked for, and when the holder is killed."""

import os
import secrets
import signal
import subprocess
import sys
import time

import pytest

from broker.common.installation import RUN_TOKEN_VARIABLE
from console.automation.drill import holder
from console.processes import os_process
from console.processes.os_process import ProcessIdentity, look

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def target(tmp_path):
    """A process that counts as fast as it can."""
    token = secrets.token_hex(16)
    count = "import sys,time\nn=0\nwhile True:\n    n+=1\n    time.sleep(0.001)\n"
    identity = os_process.spawn([sys.executable, "-c", count], {}, tmp_path, tmp_path / "log", token)
    await_true(lambda: holder.has_token(identity.pid, token), "it has executed")
    yield identity
    os_process.kill_family(token)


@pytest.fixture
def hold(target):
    """hold(seconds, runs_ms=0): the holder's process."""
    began: list[subprocess.Popen] = []

    def begin(seconds: float, runs_ms: int = 0, token: str = "") -> subprocess.Popen:
        arguments = [str(target.pid), token or target.token, str(seconds), str(runs_ms)]
        began.append(subprocess.Popen([sys.executable, "-m", "console.automation.drill.holder", *arguments]))
        return began[-1]

    yield begin
    for item in began:
        item.kill()
        item.wait()


def await_true(ask, what: str) -> None:
    until = time.monotonic() + 20
    while not ask():
        assert time.monotonic() < until, what
        time.sleep(0.01)


def is_stopped(target: ProcessIdentity) -> bool:
    return look(target).suspended


def test_it_is_stopped_and_goes_on_when_the_time_is_over(target, hold):
    began = hold(1.5)
    await_true(lambda: is_stopped(target), "it is stopped")
    assert began.wait(20) == 0
    assert not is_stopped(target)


def test_who_asks_the_holder_to_end_lets_it_go_at_once(target, hold):
    began = hold(60)
    await_true(lambda: is_stopped(target), "it is stopped")
    began.terminate()
    assert began.wait(20) == 0
    assert not is_stopped(target)


def test_a_holder_that_is_killed_lets_it_go(target, hold):
    began = hold(60)
    await_true(lambda: is_stopped(target), "it is stopped")
    began.kill()
    await_true(lambda: not is_stopped(target), "it goes on")


def test_a_whole_session_that_is_killed_lets_it_go(target, tmp_path):
    token = secrets.token_hex(16)
    arguments = [str(target.pid), target.token, "60", "0"]
    argv = [sys.executable, "-m", "console.automation.drill.holder", *arguments]
    began = os_process.spawn(argv, {}, tmp_path, tmp_path / "holder.log", token)
    await_true(lambda: is_stopped(target), "it is stopped")
    os.killpg(began.pid, signal.SIGKILL)
    await_true(lambda: not is_stopped(target), "it goes on")


def test_nobody_is_held_before_the_child_is_out_of_reach_of_what_kills_the_session(target, monkeypatch):
    leave = os.setsid

    def leave_late() -> None:
        time.sleep(0.3)
        leave()

    monkeypatch.setattr(holder.os, "setsid", leave_late)
    child = holder._guard(os.pidfd_open(target.pid), 60)
    try:
        assert os.getsid(child) == child
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_slow_one_runs_a_part_of_the_time_and_is_never_left_stopped(target, hold):
    began = hold(2, runs_ms=20)
    seen = set()
    while began.poll() is None:
        seen.add(is_stopped(target))
        time.sleep(0.003)
    assert seen == {True, False}
    assert not is_stopped(target)


def test_another_process_with_its_pid_is_not_touched(target, hold):
    assert hold(5, token="0" * 32).wait(20) == 3
    assert not is_stopped(target)


def test_a_process_that_has_gone_ends_it(target, hold):
    began = hold(60)
    await_true(lambda: is_stopped(target), "it is stopped")
    os.kill(target.pid, signal.SIGKILL)
    os_process.look(target)
    began.terminate()
    assert began.wait(20) == 0
    assert hold(5).wait(20) == 3


def test_nobody_is_held_longer_than_is_allowed(monkeypatch):
    held = []
    monkeypatch.setattr(holder.os, "pidfd_open", lambda _pid: 0)
    monkeypatch.setattr(holder, "has_token", lambda *_: True)
    monkeypatch.setattr(holder, "_guard", lambda _target, seconds: held.append(seconds) or 0)
    monkeypatch.setattr(holder, "hold", lambda _target, seconds, _runs: held.append(seconds))
    monkeypatch.setattr(holder, "send", lambda *_: True)
    monkeypatch.setattr(holder.os, "kill", lambda *_: None)
    monkeypatch.setattr(holder.signal, "pthread_sigmask", lambda *_: None)
    assert holder.main(["1", "t", "86400", "0"]) == 0
    assert held == [holder.SECONDS_MAX] * 2


def test_it_looks_for_the_variable_that_processes_are_given():
    assert holder.TOKEN_VARIABLE.decode() == f"{RUN_TOKEN_VARIABLE}="
