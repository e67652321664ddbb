"""Rows and real processes together: what a step writes down."""

import os
import signal
import time
from datetime import timedelta

import psutil
import pytest
from django.db import OperationalError
from django.utils import timezone

from broker.common import extras
from console.kit.common.clock import now_ms
from console.kit.common.names import DEFAULT_CLUSTER
from console.processes import os_process, step
from console.processes.facts import run_files_of_processes
from console.processes.models import ManagedProcess
from console.processes.restarts import Policy
from console.processes.run_files import read_run_file
from console.processes.states import Desired, Observed, Request
from console.processes.step import settle
from console.processes.tasks import reconcile_host
from console.processes.truths import ClusterLook, ProcessState
from console.state.clusters.models import ClusterState
from console.state.history.models import Change
from tests.barnabas_cluster import await_true
from tests.console.processes.conftest import STUBBORN

pytestmark = pytest.mark.django_db


def wish(process: ManagedProcess, request: Request, desired: Desired) -> ManagedProcess:
    ManagedProcess.objects.filter(pk=process.pk).update(request=request, desired=desired)
    return settle(process.name, 10)


def start(process: ManagedProcess) -> ManagedProcess:
    return wish(process, Request.START, Desired.RUNNING)


def until(name: str, observed: Observed) -> ManagedProcess:
    deadline = time.monotonic() + 10
    while (row := step.step(name)).observed != observed:
        assert time.monotonic() < deadline, f"{row.observed}: {row.sentence}"
        time.sleep(0.02)
    return row


def test_started_process_is_recorded_with_pid_create_time_and_token(make_process):
    row = start(make_process())
    assert (row.observed, row.request) == (Observed.RUNNING, Request.NONE)
    assert os_process.look(os_process.ProcessIdentity(row.pid, row.create_time, row.run_token)).alive
    assert read_run_file(run_files_of_processes(), row.name).pid == row.pid


@pytest.mark.parametrize(("kind", "arenas"), [("probe", "1"), ("zookeeper", "1"), ("broker", None), ("connect", None)])
def test_memory_is_spared_where_little_passes_through(make_process, monkeypatch, kind, arenas):
    monkeypatch.delenv("MALLOC_ARENA_MAX", raising=False)
    row = make_process(kind=kind)
    ManagedProcess.objects.filter(pk=row.pk).update(request=Request.START, desired=Desired.RUNNING)
    row = step.step(row.name)
    began = psutil.Process(row.pid)
    await_true(began.environ, "it has become what was started")
    assert began.environ().get("MALLOC_ARENA_MAX") == arenas


def test_process_killed_by_hand_stays_ended_if_it_is_never_to_be_restarted(make_process, settings):
    row = start(make_process(restart=Policy.NEVER))
    os.kill(row.pid, signal.SIGKILL)
    row = until(row.name, Observed.EXITED)
    assert "killed by signal 9 (SIGKILL)" in row.sentence
    reconcile_host(settings.HOST_NAME)
    row.refresh_from_db()
    assert (row.observed, row.pid, row.desired) == (Observed.EXITED, None, Desired.RUNNING)


def test_process_that_died_is_started_again_after_a_delay_and_counted(make_process):
    row = start(make_process())
    os.kill(row.pid, signal.SIGKILL)
    died = until(row.name, Observed.EXITED)
    assert "started again in 1 s (try 1)" in died.sentence
    assert died.start_again_at - died.ended_at == timedelta(seconds=1)
    assert (len(died.deaths), died.deaths_in_a_row, died.restart_count) == (1, 1, 0)
    again = until(row.name, Observed.RUNNING)
    assert again.pid not in (None, row.pid)
    assert again.started_at >= died.start_again_at
    assert (again.restart_count, again.deaths_in_a_row, again.start_again_at) == (1, 1, None)


def test_process_that_waits_for_its_next_try_can_be_called_off(make_process):
    row = start(make_process())
    os.kill(row.pid, signal.SIGKILL)
    until(row.name, Observed.EXITED)
    row = wish(row, Request.STOP, Desired.STOPPED)
    assert (row.observed, row.start_again_at, row.pid) == (Observed.STOPPED, None, None)


def test_five_minutes_of_running_forgive_the_deaths_before(make_process):
    row = start(make_process())
    long_ago = timezone.now() - timedelta(seconds=301)
    ManagedProcess.objects.filter(pk=row.pk).update(deaths_in_a_row=6, changed_at=long_ago)
    os.kill(row.pid, signal.SIGKILL)
    assert "started again in 1 s (try 1)" in until(row.name, Observed.EXITED).sentence


def test_kill_ends_even_what_ignores_sigterm_at_once(make_process):
    row = start(make_process(STUBBORN))
    row = wish(row, Request.KILL, Desired.STOPPED)
    assert row.observed == Observed.STOPPED
    assert "killed, as asked" in row.sentence


def test_what_a_process_started_does_not_outlive_it(make_process):
    family = "import subprocess, sys, time; subprocess.Popen(['sleep', '60'], start_new_session=True); time.sleep(60)"
    row = start(make_process(family))
    [child] = await_children(row.pid)
    os.kill(row.pid, signal.SIGKILL)
    until(row.name, Observed.EXITED)
    psutil.wait_procs([child], timeout=10)
    assert not child.is_running()


def await_children(pid: int) -> list[psutil.Process]:
    deadline = time.monotonic() + 10
    while not (children := psutil.Process(pid).children()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return children


def test_suspended_process_says_so_and_goes_on_afterwards(make_process):
    row = start(make_process())
    os.kill(row.pid, signal.SIGSTOP)
    stopped = until(row.name, Observed.UNRESPONSIVE)
    assert (stopped.state, stopped.port_says) == (ProcessState.SUSPENDED, "not asked: it is suspended")
    os.kill(row.pid, signal.SIGCONT)
    assert until(row.name, Observed.RUNNING).pid == row.pid


def test_stopped_process_is_gone_and_stays_wanted_stopped(make_process):
    row = start(make_process())
    pid = row.pid
    row = wish(row, Request.STOP, Desired.STOPPED)
    assert (row.observed, row.desired, row.pid) == (Observed.STOPPED, Desired.STOPPED, None)
    assert not os.path.exists(f"/proc/{pid}")


def test_process_that_ignores_sigterm_is_killed_after_its_grace(make_process, monkeypatch):
    monkeypatch.setattr(ManagedProcess, "grace_s", 0.3)
    row = start(make_process(STUBBORN))
    deadline = time.monotonic() + 10
    while "up" not in row.log_path.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    row = wish(row, Request.STOP, Desired.STOPPED)
    assert row.observed == Observed.STOPPED
    assert "had to be killed" in row.sentence


def test_restart_gives_another_process(make_process):
    row = start(make_process())
    again = wish(row, Request.RESTART, Desired.RUNNING)
    assert again.observed == Observed.RUNNING
    assert again.pid != row.pid


def test_process_whose_worker_died_before_the_row_was_written_is_found_by_its_token(make_process, run_dir):
    row = start(make_process())
    ManagedProcess.objects.filter(pk=row.pk).update(pid=None, create_time=None, observed=Observed.STARTING)
    (run_files_of_processes() / f"{row.name}.json").unlink()
    result = step.step(row.name)
    assert (result.pid, result.observed) == (row.pid, Observed.RUNNING)


def test_process_lost_from_the_row_is_found_by_its_run_file(make_process):
    row = start(make_process())
    ManagedProcess.objects.filter(pk=row.pk).update(pid=None, create_time=None, run_token="", observed=Observed.STOPPED)
    result = step.step(row.name)
    assert (result.pid, result.run_token) == (row.pid, row.run_token)


def test_how_a_process_ended_outlives_the_worker_that_saw_it_and_could_not_write_it_down(make_process, monkeypatch):
    row = start(make_process(restart=Policy.NEVER))
    os.kill(row.pid, signal.SIGKILL)
    os.waitid(os.P_PID, row.pid, os.WEXITED | os.WNOWAIT)  # a step that finds it alive would fail to save, too

    def locked(*_) -> None:
        raise OperationalError("database is locked")

    with monkeypatch.context() as patched:
        patched.setattr(step, "_save", locked)
        with pytest.raises(OperationalError):
            until(row.name, Observed.EXITED)
    os_process._children.clear()  # the next worker is the parent of nobody
    row = until(row.name, Observed.EXITED)
    assert "killed by signal 9 (SIGKILL)" in row.sentence
    assert read_run_file(run_files_of_processes(), row.name) is None


def test_start_of_a_running_process_changes_nothing(make_process):
    row = start(make_process())
    assert start(row).pid == row.pid


def test_program_that_cannot_be_started_says_why(make_process, tmp_path):
    row = start(make_process(argv=[str(tmp_path / "nothing")]))
    assert row.observed == Observed.EXITED
    assert "could not be started" in row.sentence
    assert "No such file" in row.sentence
    assert (row.request, row.deaths_in_a_row) == (Request.NONE, 1)


@pytest.mark.parametrize(
    ("kind", "module"),
    [("stream", "pyspark"), ("connect", "fastavro"), ("registry", "starlette"), ("zookeeper", "pyspark")],
)
def test_a_process_whose_part_is_not_installed_says_what_to_install(make_process, monkeypatch, kind, module):
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == module else name)
    row = start(make_process(kind=kind))
    assert row.observed == Observed.EXITED
    assert f"the Python package {module}, which is not installed: make setup" in row.sentence


def test_wrong_configuration_is_given_up_after_three_tries(make_process):
    row = start(make_process("import sys; sys.exit(78)"))
    ManagedProcess.objects.filter(pk=row.pk).update(deaths_in_a_row=2)
    row = until(row.name, Observed.FAILED)
    assert "gave up after 3 tries" in row.sentence
    assert (row.state, row.start_again_at, row.desired) == (ProcessState.FAILED, None, Desired.RUNNING)
    assert "try 1" in start(row).sentence


def test_process_that_ends_by_itself_shows_its_last_line(make_process):
    row = start(make_process("import sys; sys.exit('server: port 1 is taken')"))
    row = until(row.name, Observed.EXITED)
    assert row.sentence.endswith("its last line: server: port 1 is taken")
    assert "status 1" in row.sentence


def test_port_that_never_answers_keeps_it_starting(make_process):
    row = make_process(kind="broker", name="broker-9", ports=[1])
    ManagedProcess.objects.filter(pk=row.pk).update(request=Request.START, desired=Desired.RUNNING)
    row = settle(row.name, 0.5)
    assert row.observed == Observed.STARTING
    assert "port 1 does not answer yet" in row.sentence


def test_step_that_changes_nothing_writes_and_pushes_nothing(make_process, monkeypatch, django_assert_num_queries):
    row = start(make_process())
    pushed = []
    monkeypatch.setattr(step, "push_process", pushed.append)
    with django_assert_num_queries(3):  # the row, and an empty savepoint
        step.step(row.name, ClusterLook())
    assert pushed == []


def test_wish_that_came_during_a_step_is_not_lost(make_process, monkeypatch):
    row = make_process()
    original = os_process.spawn

    def spawn_while_somebody_presses_stop(*arguments):
        ManagedProcess.objects.filter(pk=row.pk).update(request=Request.STOP, desired=Desired.STOPPED)
        return original(*arguments)

    monkeypatch.setattr(os_process, "spawn", spawn_while_somebody_presses_stop)
    ManagedProcess.objects.filter(pk=row.pk).update(request=Request.START, desired=Desired.RUNNING)
    step.step(row.name)
    row.refresh_from_db()
    assert (row.request, row.desired) == (Request.STOP, Desired.STOPPED)


def test_one_process_that_cannot_be_stepped_does_not_stop_the_others(make_process, settings, monkeypatch):
    broken, sound = make_process(name="broken"), make_process(name="sound")
    ManagedProcess.objects.update(request=Request.START, desired=Desired.RUNNING)
    original = os_process.spawn

    def spawn(argv, env, working_dir, log_path, token):
        if "broken" in log_path.name:
            raise RuntimeError("no")
        return original(argv, env, working_dir, log_path, token)

    monkeypatch.setattr(os_process, "spawn", spawn)
    reconcile_host(settings.HOST_NAME)
    sound.refresh_from_db()
    broken.refresh_from_db()
    assert sound.pid is not None
    assert broken.pid is None


def test_a_look_at_all_processes_is_dated(make_process, settings):
    make_process()
    ClusterState.objects.create(name=DEFAULT_CLUSTER)
    before_ms = now_ms()
    reconcile_host(settings.HOST_NAME)
    assert before_ms <= ClusterState.objects.get().processes_at_ms <= now_ms()


def test_a_clock_set_back_does_not_put_off_measuring(make_process):
    row = start(make_process())
    later = timezone.now() + timedelta(hours=1)
    ManagedProcess.objects.filter(pk=row.pk).update(measured_at=later, cpu_seconds=0.0)
    assert step.step(row.name).measured_at < later


def test_every_state_of_a_process_is_in_the_history(make_process):
    row = start(make_process())
    wish(row, Request.STOP, Desired.STOPPED)
    sentences = [change.sentence for change in Change.objects.order_by("id")]
    assert any(f"{row.name} is healthy (" in sentence for sentence in sentences)
    assert sentences[-1].startswith(f"{row.name} is stopped (")
    assert set(Change.objects.values_list("kind", "object_name")) == {("process", row.name)}


@pytest.fixture
def stepped(monkeypatch) -> list[str]:
    """Names of the processes that a reconcile steps, from now on; nothing is due to be measured."""
    names: list[str] = []

    def note(name: str, look: ClusterLook) -> ManagedProcess:
        names.append(name)
        return step.step(name, look)

    monkeypatch.setattr("console.processes.tasks.step", note)
    for module in ("step", "facts"):
        monkeypatch.setattr(f"console.processes.{module}.measure_is_due", lambda _process, _now: False)
    return names


def test_a_process_at_rest_is_looked_at_and_not_stepped(make_process, settings, stepped, django_assert_max_num_queries):
    for number in range(5):
        start(make_process(name=f"demo-{number}"))
    with django_assert_max_num_queries(5):  # what the cluster says, the rows, and when they were looked at
        reconcile_host(settings.HOST_NAME)

    assert stepped == []


@pytest.mark.parametrize("disturb", ["killed", "suspended", "asked to stop", "not wanted", "to be measured"])
def test_a_process_is_stepped_as_soon_as_anything_is_otherwise(make_process, settings, stepped, monkeypatch, disturb):
    row = start(make_process())
    match disturb:
        case "killed":
            os.kill(row.pid, signal.SIGKILL)
            while os_process.look(os_process.ProcessIdentity(row.pid, row.create_time, row.run_token)).alive:
                time.sleep(0.01)
        case "suspended":
            os.kill(row.pid, signal.SIGSTOP)
            while psutil.Process(row.pid).status() != psutil.STATUS_STOPPED:
                time.sleep(0.01)
        case "asked to stop":
            ManagedProcess.objects.update(request=Request.STOP)
        case "not wanted":
            ManagedProcess.objects.update(desired=Desired.STOPPED)
        case "to be measured":
            monkeypatch.setattr(step, "measure_is_due", lambda _process, _now: True)
    reconcile_host(settings.HOST_NAME)

    assert stepped == [row.name]


def test_what_the_cluster_says_otherwise_is_written_down(make_process, settings, stepped):
    row = start(make_process())
    ManagedProcess.objects.update(cluster_says="what it said before")
    reconcile_host(settings.HOST_NAME)

    assert stepped == [row.name]
    assert ManagedProcess.objects.get().cluster_says == row.cluster_says
