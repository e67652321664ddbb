"""Real small processes: seen alive, seen killed, found again, ended with everything they started."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from broker import __version__
from broker.common.installation import module_command
from console.processes import os_process
from tests.console.processes.conftest import SLEEPER, STUBBORN

PARENT = """
import sys
from pathlib import Path
from console.processes import os_process
identity = os_process.spawn([sys.executable, "-c", sys.argv[1]], {}, Path("."), Path(sys.argv[2]), sys.argv[3])
print(identity.pid, identity.create_time)
"""


def wait_until(condition, deadline_s: float = 10.0):
    end = time.monotonic() + deadline_s
    while time.monotonic() < end:
        if result := condition():
            return result
        time.sleep(0.02)
    raise AssertionError(f"not within {deadline_s} s")


def test_a_process_killed_by_hand_is_dead_with_its_signal(spawned, tmp_path):
    identity = spawned(SLEEPER, tmp_path / "log", "token-killed")
    assert os_process.look(identity).alive
    os.kill(identity.pid, signal.SIGKILL)
    sighting = wait_until(lambda: not (seen := os_process.look(identity)).alive and seen)
    assert sighting.exit_status == -signal.SIGKILL


def test_a_child_that_ended_is_reaped_and_its_status_taken(spawned, tmp_path):
    identity = spawned("raise SystemExit(3)", tmp_path / "log", "token-status")
    sighting = wait_until(lambda: not (seen := os_process.look(identity)).alive and seen)
    assert sighting.exit_status == 3
    assert not psutil.pid_exists(identity.pid)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_zombie_of_somebody_else_is_dead_and_tells_its_status(tmp_path):
    code = "import os, sys\nif (pid := os.fork()) == 0: os._exit(7)\nprint(pid, flush=True)\nsys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1, text=True) as parent:
        pid = int(parent.stdout.readline())
        zombie = wait_until(lambda: (p := psutil.Process(pid)).status() == psutil.STATUS_ZOMBIE and p)
        sighting = os_process.look(os_process.ProcessIdentity(pid, zombie.create_time(), "any"))
        parent.stdin.close()
    assert (sighting.alive, sighting.exit_status) == (False, 7)


def test_a_process_outlives_its_parent_and_is_known_by_the_next(tmp_path):
    log = tmp_path / "log"
    arguments = [sys.executable, "-c", PARENT, SLEEPER, str(log), "token-orphan"]
    answer = subprocess.run(arguments, capture_output=True, text=True, check=True, cwd=Path.cwd()).stdout.split()
    identity = os_process.ProcessIdentity(int(answer[0]), float(answer[1]), "token-orphan")
    try:
        assert os_process.look(identity).alive
        assert os_process.find_leader("token-orphan") == identity
    finally:
        os_process.kill_family("token-orphan")
    wait_until(lambda: not os_process.look(identity).alive)


def known_by_token(identity):
    """A process that is just executing has no environment yet; it is known by its create time for that moment."""
    process = psutil.Process(identity.pid)
    wait_until(lambda: os_process._token_of(process) == identity.token)
    return identity


def test_a_pid_used_again_is_not_taken_for_the_old_process(spawned, tmp_path):
    identity = known_by_token(spawned(SLEEPER, tmp_path / "log", "token-reuse"))
    assert not os_process.look(os_process.ProcessIdentity(identity.pid, identity.create_time, "another-token")).alive


def test_a_clock_that_was_set_hides_no_process(spawned, tmp_path):
    """Create times are counted from the boot time, which moves with the clock; the token does not."""
    identity = known_by_token(spawned(SLEEPER, tmp_path / "log", "token-clock"))
    assert os_process.look(replace(identity, create_time=identity.create_time - 60)).alive


def test_a_process_whose_token_cannot_be_read_is_known_by_its_create_time(spawned, tmp_path, monkeypatch):
    identity = spawned(SLEEPER, tmp_path / "log", "token-unread")
    monkeypatch.setattr(os_process, "_token_of", lambda process: None)
    assert os_process.look(identity).alive
    assert not os_process.look(replace(identity, create_time=identity.create_time - 60)).alive


def test_a_suspended_process_is_alive_and_suspended(spawned, tmp_path):
    identity = spawned(SLEEPER, tmp_path / "log", "token-suspended")
    os.kill(identity.pid, signal.SIGSTOP)
    assert wait_until(lambda: os_process.look(identity).suspended)


def test_sigterm_ends_even_a_suspended_process(spawned, tmp_path):
    identity = spawned(SLEEPER, tmp_path / "log", "token-term")
    os.kill(identity.pid, signal.SIGSTOP)
    os_process.terminate(identity)
    sighting = wait_until(lambda: not (seen := os_process.look(identity)).alive and seen)
    assert sighting.exit_status == -signal.SIGTERM


def test_killing_the_family_reaches_children_in_groups_of_their_own(spawned, tmp_path):
    log = tmp_path / "log"
    code = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {STUBBORN!r}], process_group=0).wait()"
    identity = spawned(code, log, "token-family")
    wait_until(lambda: log.exists() and "up" in log.read_text())
    grandchild = psutil.Process(identity.pid).children()[0]
    assert os_process.kill_family("token-family") == 2
    wait_until(lambda: not grandchild.is_running() or grandchild.status() == psutil.STATUS_ZOMBIE)


def test_no_secret_of_ours_reaches_a_child(spawned, tmp_path, monkeypatch):
    monkeypatch.setenv("BARNABAS_DATABASE_URL", "postgres://user:secret@host/db")
    log = tmp_path / "log"
    spawned("import os; print(sorted(os.environ), flush=True)", log, "token-secret")
    names = wait_until(lambda: log.read_text())
    assert "BARNABAS_RUN_TOKEN" in names
    assert "BARNABAS_DATABASE_URL" not in names


def test_a_program_that_does_not_exist_is_an_error_and_leaves_nothing(tmp_path):
    with pytest.raises(OSError, match="No such file"):
        os_process.spawn([str(tmp_path / "nothing")], {}, tmp_path, tmp_path / "log", "token-nothing")
    assert os_process.find_leader("token-nothing") is None


def test_memory_and_cpu_are_measured(spawned, tmp_path):
    log = tmp_path / "log"
    identity = spawned(SLEEPER, log, "token-measure")
    wait_until(lambda: "up" in log.read_text())
    measure = os_process.measure(identity)
    assert measure.memory_bytes > 1_000_000
    assert measure.cpu_seconds >= 0


def test_memory_that_forks_share_counts_once(spawned, tmp_path):
    log = tmp_path / "log"
    shared = 100 * 1024 * 1024
    code = (
        f"import os, time; held = b'x' * {shared}; children = [os.fork() for _ in range(2)]; "
        "print('up', flush=True); time.sleep(60)"
    )
    identity = spawned(code, log, "token-forks")
    wait_until(lambda: log.read_text().count("up") == 4)
    assert shared < os_process.measure(identity).memory_bytes < 2 * shared


def test_a_process_of_ours_runs_this_code_wherever_it_works(tmp_path):
    elsewhere, log = tmp_path / "elsewhere", tmp_path / "log"
    (elsewhere / "broker").mkdir(parents=True)
    (elsewhere / "broker" / "__init__.py").write_text("raise SystemExit('a stranger')")
    identity = os_process.spawn(module_command("broker", "--version"), {}, elsewhere, log, "token-elsewhere")
    wait_until(lambda: not os_process.look(identity).alive, deadline_s=60)
    assert log.read_text() == f"barnabas {__version__}\n"
