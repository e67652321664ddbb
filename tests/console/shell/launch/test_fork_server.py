"""Services are forked from one process, and nobody can tell: command line, token, log and end are their own."""

import json
import os
import signal
import socket
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from django.conf import settings as django_settings

from broker.common.installation import RUN_TOKEN_VARIABLE, module_command
from console.processes import os_process
from console.processes.run_files import read_run_file, run_file_names
from console.shell.launch.forked import SOCKET_NAME, ForkRequest
from console.shell.launch.service import FORK_SERVER, Service
from console.shell.launch.supervisor import Supervisor, end_service
from tests.barnabas_cluster import await_true

STORY = "tests.console.shell.launch.forked_story"
#: A library of what the services have in common.
IMPORTED = "librdkafka"
RESTS_AT_ONCE = """
import sys
from console.shell.launch import fork_server, forking
forking.REST_AFTER_S = 0.1
sys.exit(fork_server.main())
"""


@pytest.fixture(scope="module")
def forking(tmp_path_factory):
    """A supervisor with a fork server, whose directory has a longer path than a socket's name may have."""
    directory = tmp_path_factory.mktemp("run") / ("d" * 120)
    yield from supervising(directory, module_command("console.shell.launch.fork_server", "worker", "web", "collector"))


@pytest.fixture
def resting(tmp_path):
    """A supervisor with a fork server that rests whenever nobody asks."""
    yield from supervising(tmp_path / "run", [sys.executable, "-P", "-c", RESTS_AT_ONCE])


def supervising(directory: Path, command: list[str]) -> Iterator[Supervisor]:
    directory.mkdir()
    environment = {"BARNABAS_DATA": str(directory), "DJANGO_SETTINGS_MODULE": "console.settings"}
    supervisor = Supervisor(directory / "services", environment, directory)
    supervisor.start(Service(FORK_SERVER, command, directory / "fork-server.log"))
    yield supervisor
    for name in run_file_names(supervisor.run_files):
        end_service(supervisor.run_files, name, 0, lambda: True)


@pytest.fixture
def story(forking):
    names = []

    def started(name: str, *arguments: str, **changes) -> os_process.ProcessIdentity:
        names.append(name)
        log = forking.working_dir / f"{name}.log"
        service = Service(name, module_command(STORY, *arguments), log, is_forked=True)
        return forking.start(replace(service, **changes))

    yield started
    for name in names:
        forking.stop(name, lambda: True)


def pid_of_fork_server(supervisor: Supervisor) -> int:
    return read_run_file(supervisor.run_files, FORK_SERVER).pid


def has_imported(pid: int) -> bool:
    return IMPORTED in Path(f"/proc/{pid}/maps").read_text()


def said_by(supervisor: Supervisor, name: str) -> dict:
    log = supervisor.working_dir / f"{name}.log"
    await_true(lambda: log.exists() and log.read_text().endswith("}\n"), "it has told", 30)
    return json.loads(log.read_text().splitlines()[-1])


def test_a_forked_service_is_known_as_one_that_was_started_by_itself(forking, story):
    identity = story("one", "--some", "word")
    process = psutil.Process(identity.pid)
    assert process.ppid() == pid_of_fork_server(forking)
    assert [item for item in process.cmdline() if item] == module_command(STORY, "--some", "word")
    assert process.environ()[RUN_TOKEN_VARIABLE] == identity.token
    assert os_process.find_leader(identity.token) == identity
    assert said_by(forking, "one") == {
        "argv": ["--some", "word"],
        "token": identity.token,
        "session": True,
        "django": True,
    }


def test_a_long_command_line_is_cut_and_runs_into_nothing_else(forking, story):
    identity = story("long", "x" * 4_000)
    process = psutil.Process(identity.pid)
    assert " ".join(process.cmdline()).startswith(" ".join(module_command(STORY, "xxx")))
    assert process.environ()[RUN_TOKEN_VARIABLE] == identity.token
    assert said_by(forking, "long")["argv"] == ["x" * 4_000]


def test_each_ends_by_itself(forking, story):
    first, second = story("first"), story("second")
    os_process.kill(first)
    await_true(lambda: not os_process.look(first).alive, "the first has ended", 10)
    assert os_process.look(second).alive
    assert forking.is_alive(FORK_SERVER)


def test_how_a_forked_one_ended_is_told_and_it_is_forked_again(forking, story):
    killed = story("killed")
    story("failed", "fail")
    os.kill(killed.pid, signal.SIGKILL)
    messages: list[str] = []
    await_true(lambda: messages.extend(forking.watch()) or len(messages) >= 2, "both ends are told", 20)
    assert any("killed was killed by signal 9" in sentence for sentence in messages)
    assert any("failed ended with status 7" in sentence for sentence in messages)
    await_true(lambda: forking.watch() is not None and forking.is_alive("killed"), "it is started again", 20)
    again = psutil.Process(read_run_file(forking.run_files, "killed").pid)
    assert again.ppid() == pid_of_fork_server(forking)


def test_whoever_looks_after_services_is_woken_when_a_forked_one_ends(story, monkeypatch):
    woken: list[int] = []
    before = signal.signal(signal.SIGCHLD, lambda number, _frame: woken.append(number))
    try:
        story("failing", "fail")
        await_true(lambda: woken, "SIGCHLD came", 20)
    finally:
        signal.signal(signal.SIGCHLD, before)


@pytest.mark.parametrize("line", [b"", b"\n", b"nonsense\n", b'{"argv": 1}\n', b"x" * 100_000])
def test_whoever_says_nonsense_is_not_answered_and_the_next_one_is(forking, story, line, monkeypatch):
    monkeypatch.chdir(forking.working_dir)
    with socket.socket(socket.AF_UNIX) as asking:
        asking.connect(SOCKET_NAME)
        asking.settimeout(10)
        try:
            asking.sendall(line)
            asking.shutdown(socket.SHUT_WR)
            assert asking.recv(10) == b""
        except (BrokenPipeError, ConnectionResetError):
            pass  # it did not read to the end
    assert os_process.look(story("after")).alive


def test_a_service_whose_log_cannot_be_written_is_no_half_service(forking, story):
    (forking.working_dir / "there").mkdir(exist_ok=True)
    children = len(psutil.Process(pid_of_fork_server(forking)).children())
    with pytest.raises(OSError):
        story("unlogged", log_path=forking.working_dir / "there")
    living = psutil.Process(pid_of_fork_server(forking)).children()
    await_true(
        lambda: sum(item.status() != psutil.STATUS_ZOMBIE for item in living) <= children, "nothing runs of it", 10
    )


def test_without_a_fork_server_a_service_is_started_by_itself(supervisor):
    log = django_settings.LOG_DIR / "alone.log"
    identity = supervisor.start(Service("alone", module_command(STORY), log, is_forked=True))
    assert psutil.Process(identity.pid).ppid() == os.getpid()


def test_who_has_lost_the_fork_server_goes_on(forking, story):
    identity = story("left")
    os.kill(pid_of_fork_server(forking), signal.SIGKILL)
    await_true(lambda: not forking.is_alive(FORK_SERVER), "it has ended", 10)
    assert os_process.look(identity).alive
    by_itself = story("later")
    assert psutil.Process(by_itself.pid).ppid() == os.getpid()
    await_true(lambda: forking.watch() is not None and forking.is_alive(FORK_SERVER), "it is started again", 20)
    assert psutil.Process(story("last").pid).ppid() == pid_of_fork_server(forking)


def test_who_nobody_asks_has_imported_nothing_and_is_still_the_parent_of_whom_it_forked(resting):
    pid = pid_of_fork_server(resting)
    forked = [
        resting.start(Service(name, module_command(STORY), resting.working_dir / f"{name}.log", is_forked=True))
        for name in ("first", "second")
    ]
    assert all(has_imported(item.pid) for item in forked)
    await_true(lambda: not has_imported(pid), "it rests", 30)
    assert resting.is_alive(FORK_SERVER)
    assert [psutil.Process(item.pid).ppid() for item in forked] == [pid, pid]

    os.kill(forked[0].pid, signal.SIGKILL)
    messages: list[str] = []
    await_true(lambda: messages.extend(resting.watch()) or messages, "the end is told", 20)
    assert "first was killed by signal 9" in messages[0]
    await_true(lambda: resting.watch() is not None and resting.is_alive("first"), "it is started again", 30)
    again = psutil.Process(read_run_file(resting.run_files, "first").pid)
    assert (again.ppid(), has_imported(again.pid)) == (pid, True)
    await_true(lambda: not has_imported(pid), "it rests again", 30)


def test_one_that_rests_wakes_whoever_looks_after_services_too(resting):
    failing = Service("ending", module_command(STORY), resting.working_dir / "ending.log", is_forked=True)
    identity = resting.start(failing)
    pid = pid_of_fork_server(resting)
    await_true(lambda: not has_imported(pid), "it rests", 30)
    await_true(lambda: catches(pid, signal.SIGCHLD), "it is told of ends", 10)
    woken: list[int] = []
    before = signal.signal(signal.SIGCHLD, lambda number, _frame: woken.append(number))
    try:
        os.kill(identity.pid, signal.SIGKILL)
        await_true(lambda: woken, "SIGCHLD came", 20)
    finally:
        signal.signal(signal.SIGCHLD, before)


def catches(pid: int, number: int) -> bool:
    (caught,) = (line.split()[1] for line in Path(f"/proc/{pid}/status").read_text().splitlines() if "SigCgt" in line)
    return bool(int(caught, 16) >> (number - 1) & 1)


def test_a_command_is_divided_as_python_divides_it():
    wanted = ForkRequest(module_command("console", "collect", "-m"), "log", "token")
    assert ForkRequest.from_json(wanted.as_json()) == wanted
    assert (wanted.module, wanted.arguments) == ("console", ["collect", "-m"])
