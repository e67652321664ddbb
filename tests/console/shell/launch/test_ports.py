"""A port that is taken is one sentence that names the setting."""

import socket

import pytest

from console.processes.setup import read_setup
from console.shell.launch.ports import NeededPort, needed_ports, port_complaints, taken_sentence


@pytest.fixture
def taken():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_taken_port_names_who_needs_it_who_has_it_and_the_setting(taken):
    (sentence,) = port_complaints([NeededPort(taken, "", "the console", "BARNABAS_CONSOLE_PORT")], frozenset())
    assert sentence.startswith(f"Port {taken}, needed by the console, is taken by ")
    assert sentence.endswith("stop that, or set BARNABAS_CONSOLE_PORT to another port.")


def test_holder_that_may_not_be_known_is_another_program():
    needed = NeededPort(9092, "broker-1", "broker 1", "BARNABAS_BROKER_PORT (the first of 3)")
    assert taken_sentence(needed, "") == (
        "Port 9092, needed by broker 1, is taken by another program: "
        "stop that, or set BARNABAS_BROKER_PORT (the first of 3) to another port."
    )


def test_broker_that_runs_already_may_keep_its_port(taken):
    needed = [NeededPort(taken, "broker-1", "broker 1", "BARNABAS_BROKER_PORT")]
    assert port_complaints(needed, frozenset({"broker-1"})) == []


def test_two_that_want_the_same_port_are_both_named():
    setup = read_setup({"BARNABAS_BROKERS": "1", "BARNABAS_BROKER_PORT": "18080"}, "")
    complaints = port_complaints(needed_ports(setup, 18080), frozenset())
    assert complaints[0] == (
        "Port 18080 is meant for broker 1 and for the console: change BARNABAS_BROKER_PORT (the first of 1)."
    )


def test_every_listener_of_the_setup_is_looked_at():
    ports = {needed.port for needed in needed_ports(read_setup({}, ""), 8080)}
    assert ports == {8080, 8081, 8083, 2181, 2888, 3888, 9092, 9093, 9094, 9191, 9192, 9193, 9194}
    mirrored = {needed.port for needed in needed_ports(read_setup({"BARNABAS_MIRROR": "1"}, ""), 8080)}
    assert mirrored - ports == {9292}


def test_zookeeper_from_elsewhere_needs_no_port():
    setup = read_setup({"BARNABAS_ZOOKEEPER": "zk:2181"}, "")
    assert 2181 not in {needed.port for needed in needed_ports(setup, 8080)}


def test_setting_with_several_taken_ports_is_named_once(taken):
    needed = [NeededPort(taken, "zookeeper", purpose, "BARNABAS_ZOOKEEPER_PORT") for purpose in ("ZooKeeper", "quorum")]
    complaints = port_complaints(needed, frozenset())
    assert sum("is taken by" in complaint for complaint in complaints) == 1
