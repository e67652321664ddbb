"""Services that die are started again, later each time."""

import os
import signal
import time

from console.processes import os_process
from console.processes.run_files import read_run_file
from console.shell.launch.supervisor import end_service, left_services, restart_delay_s
from tests.console.shell.launch.conftest import service


def kill(supervisor, name: str) -> int:
    identity = read_run_file(supervisor.run_files, name)
    os.kill(identity.pid, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while os_process.look(identity).alive:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return identity.pid


def test_service_that_dies_is_started_again_after_its_delay(supervisor, clock):
    supervisor.start(service())
    pid = kill(supervisor, "web")
    (sentence,) = supervisor.watch()
    assert "web was killed by signal 9 (SIGKILL); started again in 0.5 s" in sentence
    assert supervisor.watch() == []
    assert not supervisor.is_alive("web")
    clock.now += 0.5
    assert supervisor.watch() == []
    assert supervisor.is_alive("web")
    assert read_run_file(supervisor.run_files, "web").pid != pid


def test_service_that_dies_again_and_again_waits_longer_each_time(supervisor, clock):
    supervisor.start(service())
    messages = []
    for _ in range(3):
        kill(supervisor, "web")
        messages += supervisor.watch()
        clock.now += 5
        supervisor.watch()
    assert [sentence.split("again in ")[1].split(" (")[0] for sentence in messages] == ["0.5 s", "1 s", "2 s"]


def test_service_that_ran_well_for_a_minute_is_forgiven(supervisor, clock):
    supervisor.start(service())
    kill(supervisor, "web")
    supervisor.watch()
    clock.now += 1
    supervisor.watch()
    clock.now += 61
    kill(supervisor, "web")
    assert "again in 0.5 s" in supervisor.watch()[0]


def test_delay_has_an_upper_bound():
    assert [restart_delay_s(deaths) for deaths in (1, 2, 6, 7, 50, 5_000)] == [0.5, 1.0, 16.0, 30.0, 30.0, 30.0]


def test_stopped_service_is_not_started_again(supervisor, clock):
    supervisor.start(service())
    assert supervisor.stop("web", lambda: False)
    clock.now += 60
    assert supervisor.watch() == []
    assert left_services(supervisor.run_files) == []


def test_service_that_went_as_soon_as_it_was_asked_is_told_too(supervisor):
    identity = supervisor.start(service())
    supervisor.ask_to_end(["web"])
    deadline = time.monotonic() + 10
    while os_process.look(identity).alive:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert supervisor.stop("web", lambda: False)
    assert not supervisor.stop("web", lambda: False)


def test_what_a_killed_terminal_left_is_found_and_ended_by_its_run_file(supervisor):
    identity = supervisor.start(service())
    assert left_services(supervisor.run_files) == ["web"]
    assert end_service(supervisor.run_files, "web", 5, lambda: False)
    assert not os_process.look(identity).alive
    assert not end_service(supervisor.run_files, "web", 5, lambda: False)


def test_service_that_ignores_sigterm_is_killed_after_its_grace(supervisor, settings):
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
    identity = supervisor.start(service("redis", code))
    log = settings.LOG_DIR / "redis.log"
    deadline = time.monotonic() + 10
    while "up" not in log.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert end_service(supervisor.run_files, "redis", 0.1, lambda: False)
    deadline = time.monotonic() + 10
    while os_process.look(identity).alive:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_whoever_watches_knows_when_the_next_service_is_due(supervisor, clock):
    supervisor.start(service())
    assert supervisor.due_in_s() == float("inf")

    kill(supervisor, "web")
    supervisor.watch()
    assert supervisor.due_in_s() == 0.5
    clock.now += 2
    assert supervisor.due_in_s() == 0.0
