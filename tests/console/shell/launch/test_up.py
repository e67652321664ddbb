"""What goes wrong in one part costs a sentence, not the rest of the stack."""

import io
import secrets
import shutil
import sys

import pytest
from django.conf import settings
from django.db import OperationalError

from console.processes import os_process
from console.processes.facts import run_files_of_processes
from console.processes.run_files import run_file_names, write_run_file
from console.processes.setup import SetupError, read_setup
from console.shell.launch import migrating, up
from console.shell.launch.interrupts import Interrupts
from console.shell.launch.management.commands.up import Command, without_uninstalled
from console.shell.launch.progress import LaunchProgress
from console.shell.launch.running import claim_data_dir
from console.shell.launch.up import Stack, end_services
from tests.console.shell.launch.conftest import SLEEPER, service


def refuse(*_args, **_options):
    raise OperationalError("database or disk is full")


@pytest.fixture
def out() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def small_house(directories, out):
    with claim_data_dir(settings.RUN_DIR) as claim:
        small = Stack(read_setup({}, ""), LaunchProgress(out), Interrupts(), claim)
        yield small
        end_services(small.progress, lambda: True)


def test_database_that_fails_keeps_nothing_up(small_house, out, monkeypatch):
    """Brokers go before ZooKeeper, whatever starts processes again before them all."""
    monkeypatch.setattr(up, "processes_of_host", refuse)
    small_house.supervisor.start(service("worker"))
    identities = {name: run(name) for name in ("zookeeper", "zookeeper-2", "broker-1", "broker-2", "access-counts")}
    small_house.close()
    assert not small_house.supervisor.is_alive("worker")
    assert not any(os_process.look(identity).alive for identity in identities.values())
    text = out.getvalue()
    assert "database or disk is full" in text
    places = [text.index(f"✓ {name}") for name in ("worker", "broker-1", "zookeeper")]
    assert places == sorted(places)
    assert run_file_names(run_files_of_processes()) == []


def test_database_that_fails_on_the_way_down_keeps_nothing_up(small_house, monkeypatch):
    identity = run("broker-1")
    monkeypatch.setattr(up, "processes_of_host", list)
    monkeypatch.setattr(up, "shut_down", refuse)
    small_house.close()
    assert not os_process.look(identity).alive


def run(name: str) -> os_process.ProcessIdentity:
    """A process that only its run file knows."""
    argv = [sys.executable, "-c", SLEEPER]
    identity = os_process.spawn(argv, {}, settings.DATA_DIR, settings.LOG_DIR / name, secrets.token_hex(16))
    write_run_file(run_files_of_processes(), name, identity)
    return identity


def test_database_that_cannot_be_used_is_one_sentence(small_house, monkeypatch):
    monkeypatch.setattr(migrating, "call_command", refuse)
    with pytest.raises(SetupError, match="The database cannot be used: database or disk is full"):
        small_house.open()


def delete() -> None:
    shutil.rmtree(settings.DATA_DIR)


def delete_and_make_anew() -> None:
    """As a worker does that writes on."""
    shutil.rmtree(settings.DATA_DIR)
    settings.LOG_DIR.mkdir(parents=True)


@pytest.mark.django_db
@pytest.mark.parametrize("lose", [delete, delete_and_make_anew])
@pytest.mark.parametrize("stage", ["_open_database", "_open_redis", "_await_web", "_keep_sources"])
def test_a_data_directory_that_is_lost_before_all_is_up_is_one_sentence_and_leaves_nothing(
    small_house, out, monkeypatch, stage, lose
):
    """Whatever was being done would fail in its own words, or go on in a directory made anew."""
    for name in ("_open_database", "_open_redis", "_await_web", "_keep_sources", "_refuse_taken_ports"):
        monkeypatch.setattr(small_house, name, small_house.look_after_services)
    monkeypatch.setattr(up, "register", lambda setup: [])
    monkeypatch.setattr(up, "prepare_clients", lambda setup: None)
    monkeypatch.setattr(up, "ensure_first_user", lambda password: None)
    monkeypatch.setattr(up, "console_services", lambda: [service("worker")])
    managed = [run("broker-1")]

    def lose_it() -> None:
        lose()
        if settings.LOG_DIR.exists():
            managed.append(run("broker-2"))
        small_house.look_after_services()

    monkeypatch.setattr(small_house, stage, lose_it)
    try:
        with pytest.raises(SystemExit) as ended:
            Command()._run(small_house)
        assert ended.value.code == 1
        assert not small_house.supervisor.is_alive("worker")
        assert not [item for item in managed if os_process.look(item).alive]
    finally:
        for item in managed:
            os_process.kill(item)
    message = f"! {settings.RUN_DIR} was deleted or moved: everything that was started is ended"
    assert message in out.getvalue()


def test_a_data_directory_that_is_lost_on_the_way_down_leaves_nothing(small_house, out, monkeypatch):
    managed = run("broker-1")

    def lose_it(*_arguments) -> None:
        delete()
        raise FileNotFoundError("services")

    monkeypatch.setattr(up, "take_down", lose_it)
    with pytest.raises(SystemExit):
        small_house.close()
    assert not os_process.look(managed).alive
    assert "was deleted or moved" in out.getvalue()


class TestWithoutAZooKeeperThatCanRun:
    def test_a_console_of_a_cluster_from_elsewhere_starts_none(self):
        setup = read_setup({"BARNABAS_BROKERS": "0", "BARNABAS_BOOTSTRAP_SERVERS": "kafka1:9092"}, "local[2]")
        assert without_uninstalled(setup, None) is setup
        assert without_uninstalled(setup, "It is not installed.").zookeeper_port is None

    def test_brokers_need_one_and_one_of_your_own_is_enough(self):
        with pytest.raises(SetupError, match=r"BARNABAS_ZOOKEEPER names no .*\. It is not installed"):
            without_uninstalled(read_setup({}, "local[2]"), "It is not installed.")
        setup = read_setup({"BARNABAS_ZOOKEEPER": "zoo1:2181"}, "local[2]")
        assert without_uninstalled(setup, "It is not installed.") is setup
