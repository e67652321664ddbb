"""A short reign of chaos, and that its judge can tell right from wrong. `make chaos` reigns for ten minutes."""

import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from tests.chaos.run import run_chaos
from tests.chaos.truth import Seen, faults_of, processes_of
from tests.chaos.victims import Row

SPEC = {"directory": "/data/broker-1", "broker_id": 1}
ROW = Row("broker-1", "broker", "running", "", "running", "healthy", "", 10, "t", (), SPEC)
LEADER = Seen(10, "t", 10, "python -m broker server --config /data/broker-1/server.properties in / ", False)
SLICE_S = 30.0


@pytest.mark.long
@pytest.mark.timeout(300)
def test_after_a_short_reign_the_console_and_the_truth_agree(tmp_path_factory):
    run = run_chaos(tmp_path_factory.mktemp("c"), SLICE_S, seed=7)
    assert run.violations == [], str(run)
    assert len(run.faults) >= 5, str(run)


def test_row_and_process_that_agree_have_no_fault():
    assert faults_of(ROW, [LEADER]) == []
    assert faults_of(replace(ROW, desired="stopped", observed="stopped", pid=None), []) == []


WRONG = [
    (ROW, [], "pid 10 is not its process"),
    (ROW, [LEADER, replace(LEADER, pid=11, session=11, token="x")], "runs 2 times"),
    (ROW, [replace(LEADER, is_stopped=True)], "is suspended"),
    (replace(ROW, observed="exited", pid=None), [], "wanted running, is exited"),
    (replace(ROW, desired="stopped", observed="stopped", pid=None), [LEADER], "runs 1 times"),
    (replace(ROW, desired="stopped"), [LEADER], "wanted stopped, is running"),
    (replace(ROW, request="restart"), [LEADER], "restart is still asked for"),
    (replace(ROW, pid=None), [LEADER], "is running with pid None"),
    (ROW, [replace(LEADER, token="of another start")], "pid 10 is not its process"),
]


@pytest.mark.parametrize(("row", "seen", "fault"), WRONG)
def test_each_way_to_differ_is_a_fault(row, seen, fault):
    assert any(fault in item for item in faults_of(row, seen))


def test_process_that_carries_a_token_and_works_in_the_directory_is_found(tmp_path):
    environment = {**os.environ, "BARNABAS_RUN_TOKEN": "t"}
    child = subprocess.Popen([sys.executable, "-c", "input()"], cwd=tmp_path, env=environment, stdin=subprocess.PIPE)
    try:
        os.kill(child.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, child.pid, os.WSTOPPED)
        assert [(item.pid, item.token, item.is_stopped) for item in processes_of(tmp_path)] == [(child.pid, "t", True)]
    finally:
        child.kill()
        child.wait()
        child.stdin.close()
