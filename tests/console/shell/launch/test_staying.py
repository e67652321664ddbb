"""What `up` becomes: the same process, which keeps services alive, and becomes `up` again to take everything down."""

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest

from broker.common.installation import CODE_DIR
from console.kit.common.reloading import ask_to_reload, is_asked_to_reload
from console.processes import os_process
from console.processes.run_files import read_run_file
from console.shell.launch.running import claim_data_dir, is_claimed
from console.shell.launch.service import service_from_json
from console.shell.launch.supervisor import Supervisor
from tests.barnabas_cluster import await_true
from tests.console.shell.launch.conftest import SLEEPER, service

#: As `up` does, with one service: claims the directory, starts it, and stays.
UP = """
    import os, sys
    from pathlib import Path
    from console.shell.launch.running import claim_data_dir
    from console.shell.launch.service import Service
    from console.shell.launch.staying import stay
    from console.shell.launch.supervisor import Supervisor

    os.umask(0o077)
    run = Path(sys.argv[1])
    with claim_data_dir(run) as claim:
        supervisor = Supervisor(run / "services", dict(os.environ), run)
        supervisor.start(Service("web", [sys.executable, "-c", sys.argv[2]], run / "web.log"))
        stay(supervisor.services, run, supervisor.environment, claim)
"""


@pytest.fixture
def up(directories, settings):
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("BARNABAS_", "DJANGO_"))
    } | {"BARNABAS_DATA": str(directories), "PYTHONPATH": str(CODE_DIR), "DJANGO_SETTINGS_MODULE": "console.settings"}
    run = directories / "run"
    run.mkdir(mode=0o700)
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(UP), str(run), SLEEPER],
        env=environment,
        stdout=(directories / "up.log").open("w"),
        stderr=subprocess.STDOUT,
    )
    await_true(lambda: "-m console.shell.launch.staying" in " ".join(command_of(process.pid)), "it stays", 30)
    await_true(lambda: is_kept(run), "the service", 30)
    yield process, run
    if process.poll() is None:
        process.kill()
        process.wait()
    os_process.kill(read_run_file(run / "services", "web") or os_process.ProcessIdentity(0, 0.0, ""))


def command_of(pid: int) -> list[str]:
    return psutil.Process(pid).cmdline()


def is_kept(run) -> bool:
    identity = read_run_file(run / "services", "web")
    return identity is not None and os_process.look(identity).alive


def test_a_service_that_dies_is_started_again_by_the_same_process(up):
    process, run = up
    before = read_run_file(run / "services", "web")
    os.kill(before.pid, signal.SIGKILL)
    await_true(lambda: read_run_file(run / "services", "web") != before and is_kept(run), "another", 30)
    assert "web was killed by signal 9 (SIGKILL); started again in 0.5 s" in (run.parent / "up.log").read_text()
    assert psutil.Process(process.pid).children()[0].pid == read_run_file(run / "services", "web").pid


def test_the_directory_stays_claimed_and_the_services_do_not_hold_it(up):
    process, run = up
    assert is_claimed(run)
    process.kill()
    process.wait()
    assert is_kept(run)
    assert not is_claimed(run)


def test_what_it_carries_is_none_of_django(up):
    process, _run = up
    maps = psutil.Process(process.pid).memory_maps()
    assert not any("confluent_kafka" in map_.path or "librdkafka" in map_.path for map_ in maps)


def test_nobody_reads_a_secret_in_what_it_leaves(up):
    _process, run = up
    (service,) = json.loads((run / "services.json").read_text())
    assert service_from_json(service).name == "web"
    assert (run / "services.json").stat().st_mode & 0o077 == 0
    assert set(service) == {"name", "argv", "log_path", "grace_s", "environment", "is_forked"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_whoever_wants_to_stop_it_has_everything_taken_down(up, number):
    process, run = up
    os.kill(process.pid, number)
    assert process.wait(60) == 0
    assert not is_kept(run)
    assert not is_claimed(run)
    text = (run.parent / "up.log").read_text()
    assert "stopping (once more Ctrl-C: at once)" in text
    assert "Traceback" not in text


def test_who_asks_has_it_become_up_again_which_may_be_stopped_at_any_time(up):
    process, run = up
    ask_to_reload(run)
    await_true(lambda: "--reloading" in command_of(process.pid), "it is up again", 60)
    os.kill(process.pid, signal.SIGTERM)
    assert process.wait(90) == 0
    assert not is_kept(run)
    assert not is_claimed(run)


def test_settings_that_cannot_be_read_leave_everything_as_it_is(up):
    process, run = up
    clusters = run.parent / "clusters.toml"
    clusters.write_text("[clusters.west]\n")
    clusters.chmod(0o600)
    before = read_run_file(run / "services", "web")
    ask_to_reload(run)
    await_true(lambda: not is_asked_to_reload(run), "it has tried", 60)
    message = "goes on as it was, for it cannot start again: "
    await_true(lambda: message in (run.parent / "up.log").read_text(), "it says so", 30)
    assert 'must say bootstrap = "HOST:PORT,…" of west' in (run.parent / "up.log").read_text()
    assert read_run_file(run / "services", "web") == before
    assert "console.shell.launch.staying" in command_of(process.pid)


def delete(data: Path, _elsewhere: Path) -> None:
    shutil.rmtree(data)


def delete_run(data: Path, _elsewhere: Path) -> None:
    shutil.rmtree(data / "run")


def move(data: Path, elsewhere: Path) -> None:
    data.rename(elsewhere / "data")


def move_run(data: Path, elsewhere: Path) -> None:
    (data / "run").rename(elsewhere / "run")


@pytest.mark.parametrize("lose", [delete, delete_run, move, move_run])
def test_who_loses_the_directory_takes_everything_down_and_says_so(up, tmp_path_factory, lose):
    process, run = up
    elsewhere, beside = tmp_path_factory.mktemp("elsewhere"), run.parent / "zookeeper"
    beside.mkdir()
    service_of_it = read_run_file(run / "services", "web")
    managed = [sleeper_in(item) for item in (run, beside)]
    other = sleeper_in(elsewhere)
    with (run.parent / "up.log").open() as log:
        lose(run.parent, elsewhere)
        try:
            assert process.wait(60) == 1
            assert f"! {run} was deleted or moved: everything that was started is ended" in log.read()
            assert not [item for item in (service_of_it, *managed) if os_process.look(item).alive]
            assert os_process.look(other).alive
        finally:
            for item in (service_of_it, *managed, other):
                os_process.kill(item)
    assert not run.exists()


@pytest.mark.parametrize("lose", [delete, move])
def test_what_is_put_in_the_place_of_the_directory_that_was_lost_goes_on(up, tmp_path_factory, lose):
    """Another product may be there before anybody has looked; its processes are not ours to end."""
    process, run = up
    elsewhere, another = tmp_path_factory.mktemp("elsewhere"), tmp_path_factory.mktemp("another") / "data"
    (run.parent / "zookeeper").mkdir()
    for name in ("run", "zookeeper"):
        (another / name).mkdir(parents=True)
    managed = [sleeper_in(run), sleeper_in(run.parent / "zookeeper")]
    others = [sleeper_in(another / name, f"another-{name}") for name in ("run", "zookeeper")]
    os.kill(process.pid, signal.SIGSTOP)
    lose(run.parent, elsewhere)
    another.rename(run.parent)
    with claim_data_dir(run):
        os.kill(process.pid, signal.SIGCONT)
        try:
            assert process.wait(60) == 1
            assert not [item for item in managed if os_process.look(item).alive]
            assert all(os_process.look(other).alive for other in others)
        finally:
            for other in (*managed, *others):
                os_process.kill(other)


def test_what_is_started_in_a_directory_made_anew_is_ended_too(up):
    """As a worker does that has not heard yet."""
    process, run = up
    (run.parent / "zookeeper").mkdir()
    os.kill(process.pid, signal.SIGSTOP)
    shutil.rmtree(run.parent)
    (run.parent / "zookeeper").mkdir(parents=True)
    managed = sleeper_in(run.parent / "zookeeper")
    os.kill(process.pid, signal.SIGCONT)
    try:
        assert process.wait(60) == 1
        assert not os_process.look(managed).alive
    finally:
        os_process.kill(managed)


@pytest.mark.parametrize("lose", [delete_run, move_run])
def test_who_has_claimed_the_data_directory_since_has_what_works_in_it(up, tmp_path_factory, lose):
    process, run = up
    elsewhere, beside = tmp_path_factory.mktemp("elsewhere"), run.parent / "zookeeper"
    beside.mkdir()
    service_of_it, managed = read_run_file(run / "services", "web"), sleeper_in(beside)
    os.kill(process.pid, signal.SIGSTOP)
    lose(run.parent, elsewhere)
    with claim_data_dir(run):
        others = sleeper_in(run, "another-run")
        os.kill(process.pid, signal.SIGCONT)
        try:
            assert process.wait(60) == 1
            assert not os_process.look(service_of_it).alive
            assert all(os_process.look(item).alive for item in (managed, others))
        finally:
            for item in (service_of_it, managed, others):
                os_process.kill(item)


def sleeper_in(directory: Path, token: str = "") -> os_process.ProcessIdentity:
    token = token or f"token-{directory.name}"
    return os_process.spawn([sys.executable, "-c", SLEEPER], {}, directory, directory / "log", token)


def test_a_second_wish_to_stop_ends_nothing_half_way(up):
    """It may come while one program becomes the other, when nobody handles signals."""
    process, run = up
    for _ in range(20):
        os.kill(process.pid, signal.SIGINT)
        time.sleep(0.01)
        if process.poll() is not None:
            break
    assert process.wait(60) == 0
    assert not is_kept(run)


def test_a_list_of_services_that_cannot_be_read_ends_in_order(directories):
    """Whoever cannot look after them takes them down, as far as their run files tell."""
    run = directories / "run"
    run.mkdir(mode=0o700)
    (run / "services.json").write_text("{")
    watched = Supervisor(run / "services", dict(os.environ), run)
    identity = watched.start(service("web"))
    with claim_data_dir(run) as claim:
        environment = os.environ | {"BARNABAS_DATA": str(directories), "PYTHONPATH": str(CODE_DIR)}
        ended = subprocess.run(
            [sys.executable, "-P", "-m", "console.shell.launch.staying", str(run), str(claim)],
            env=environment,
            pass_fds=claim,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert "The services can be looked after no more (JSONDecodeError" in ended.stdout
    assert "Traceback" not in ended.stdout + ended.stderr
    assert not os_process.look(identity).alive
