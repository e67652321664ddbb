"""What is forked from a Python that is warm is a process as any other to who started it."""

import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.barnabas_cluster import await_true
from tests.tidy.sources import ROOT
from tests.warm_start import started

STARTS_AND_DIES = """
import sys
from tests import warm_start
warm_start.begin()
with open(sys.argv[1], "ab") as log:
    print(warm_start.started(sys.argv[2:], log).pid, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def waiting(tmp_path):
    """The arguments of a broker whose ZooKeeper never answers."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        config = tmp_path / "server.properties"
        connect = f"127.0.0.1:{silent.getsockname()[1]}"
        texts = {"broker.id": 1, "listeners": "PLAINTEXT://127.0.0.1:0", "log.dirs": tmp_path / "logs"}
        texts |= {"zookeeper.connect": connect, "zookeeper.connection.timeout.ms": 60_000}
        config.write_text("".join(f"{key}={value}\n" for key, value in texts.items()))
        yield ["server", "--config", str(config)]


def test_its_status_and_its_words_are_told(tmp_path):
    log = tmp_path / "log"
    with log.open("ab") as out:
        process = started(["server", "--config", str(tmp_path / "none")], out)
    assert process.wait(30) == process.poll() == process.returncode == 78
    assert "none" in log.read_text()


def test_who_is_told_to_stop_stops(waiting, tmp_path):
    log = tmp_path / "log"
    with log.open("ab") as out:
        process = started(waiting, out)
    await_true(lambda: "event=" in log.read_text(), "it says something")
    process.terminate()
    assert process.wait(30) == 0
    process.terminate()


def test_who_is_killed_tells_the_signal(waiting, tmp_path):
    with (tmp_path / "log").open("ab") as out:
        process = started(waiting, out)
    assert process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.01)
    process.kill()
    assert process.wait(30) == process.returncode == -signal.SIGKILL


def test_its_environment_is_that_of_who_starts_it(tmp_path, monkeypatch):
    monkeypatch.setenv("BARNABAS_URL", "http://elsewhere:1")
    log = tmp_path / "log"
    with log.open("ab") as out:
        assert started(["api", "--help"], out).wait(30) == 0
    assert "http://elsewhere:1" in log.read_text()


def test_what_python_reads_before_it_runs_is_read(waiting, tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text("import os; os._exit(7)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with (tmp_path / "log").open("ab") as out:
        assert started(waiting, out).wait(30) == 7


def test_who_is_forgotten_is_killed(waiting, tmp_path):
    with (tmp_path / "log").open("ab") as out:
        process = started(waiting, out)
    pid = process.pid
    del process
    await_true(lambda: not _runs(pid), "its end")


def test_it_ends_with_who_started_it_even_if_that_is_killed(waiting, tmp_path):
    command = [sys.executable, "-c", STARTS_AND_DIES, str(tmp_path / "log"), *waiting]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as starter:
        pid = int(starter.stdout.readline())
        assert _runs(pid)
        starter.kill()
    await_true(lambda: not _runs(pid), "its end")


def _runs(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()
