"""What clients tell of an outage: one line when it begins, one when it is over, whoever tells it how often."""

import re
import socket
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException

from broker.common import quiet_clients
from broker.common.quiet_clients import ClientWatch, with_error_logging, with_quiet_logging
from broker.spark.cluster import connect_admin
from tests.barnabas_cluster import await_true

_ROOT = Path(__file__).parents[3]


class Error:
    def __init__(self, name="_ALL_BROKERS_DOWN"):
        self._name = name

    def name(self):
        return self._name

    def str(self):
        return f"of {self._name}"


class Log:
    def __init__(self):
        self.lines = []

    def warning(self, event, **facts):
        self.lines.append(event if event == "no broker is reached" else f"{event}: {facts['error']}")

    def info(self, event, **_facts):
        self.lines.append(event)


@pytest.fixture
def log(monkeypatch):
    log = Log()
    monkeypatch.setattr(quiet_clients, "_log", log)
    return log


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def test_an_outage_is_a_line_when_it_begins_and_one_when_it_is_over(log):
    watch, port = ClientWatch(look_first_s=0.01), free_port()
    servers = f"127.0.0.1:1,127.0.0.1:{port}"
    for _ in range(50):
        watch.heard(servers, Error())
        watch.heard(servers, Error("_TRANSPORT"))
    await_true(lambda: log.lines == ["no broker is reached"], "told")
    with socket.create_server(("127.0.0.1", port)):
        await_true(lambda: log.lines == ["no broker is reached", "brokers are reached again"], "told again")


def test_one_that_was_told_a_moment_ago_is_not_told_again_until_it_has_lasted(log):
    watch, port = ClientWatch(quiet_s=1.0, look_first_s=0.01), free_port()
    servers, both = f"127.0.0.1:{port}", ["no broker is reached", "brokers are reached again"]
    watch.heard(servers, Error())
    await_true(lambda: log.lines, "told")
    with socket.create_server(("127.0.0.1", port)):
        await_true(lambda: log.lines == both, "over")
    watch.heard(servers, Error())
    await_true(lambda: log.lines == [*both, both[0]], "told when it has lasted")
    with socket.create_server(("127.0.0.1", port)):
        await_true(lambda: log.lines == both * 2, "over")


def test_what_is_no_outage_is_told_by_its_name_once(log):
    watch = ClientWatch()
    for _ in range(5):
        watch.heard("a:1", Error("_AUTHENTICATION"))
        watch.heard("a:1", Error("_SSL"))
        watch.heard("a:1", Error("_TRANSPORT"))
    assert log.lines == ["client in trouble: _AUTHENTICATION", "client in trouble: _SSL"]


def test_a_real_client_says_nothing_by_itself_and_is_heard(log, capfd):
    address = f"127.0.0.1:{free_port()}"
    settings = {"bootstrap.servers": address, "group.id": "g"}
    consumer = Consumer(with_error_logging(settings))
    consumer.subscribe(["t"])
    await_true(lambda: (consumer.poll(0.1), log.lines)[1] == ["no broker is reached"], "heard")
    consumer.close()
    Consumer(with_quiet_logging(settings)).close()
    assert address not in capfd.readouterr().err


def test_a_job_s_client_says_nothing_of_a_cluster_that_is_away(capfd):
    address = f"127.0.0.1:{free_port()}"
    admin = connect_admin({"bootstrap.servers": address})
    with pytest.raises(KafkaException, match="_TRANSPORT"):
        admin.list_topics(timeout=0.5)
    assert address not in capfd.readouterr().err


def test_who_wants_to_hear_more_does():
    def own(_error):
        return

    assert with_quiet_logging({"log_level": 7}) == {"log_level": 7}
    assert with_error_logging({"error_cb": own})["error_cb"] is own


def test_no_client_of_a_daemon_writes_to_standard_error_by_itself():
    made = re.compile(r"\b(?:Producer|Consumer|AdminClient)\((?!\s*(?:with_quiet_logging|with_error_logging)\()")
    assert made.search("Producer(dict(settings))")
    for room in ("audit", "connect/storage", "connect/tasks", "registry", "spark"):
        for path in (_ROOT / "broker" / room).rglob("*.py"):
            code = re.sub(r'"""(.*?)"""', "", path.read_text(), flags=re.DOTALL)
            assert not made.findall(code), path
