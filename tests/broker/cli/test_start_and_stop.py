import os
import sys

import pytest

from broker.cli.kafka_server_stop import is_broker, node_id
from broker.cli.servers.running_servers import RunningServer
from broker.cli.zookeeper_server_stop import is_zookeeper
from broker.config.broker import read_broker_config
from broker.config.properties import parse_properties
from broker.zookeeper.server_file import read_server_file
from tests.tidy.sources import ROOT
from tests.typed import typed


@pytest.mark.parametrize(
    ("words", "broker"),
    [
        ((sys.executable, "-P", "-m", "broker", "server", "--config", "server-1.properties"), True),
        (("python3", "-m", "broker", "server", "--config=x"), True),
        (("/venv/bin/python", "/venv/bin/barnabas", "broker", "--config", "x"), True),
        (("timeout", "9", "python3", "-m", "broker", "server", "--config", "x"), False),
        (("grep", "-m", "broker", "server"), False),
        (("python3", "-m", "broker", "zookeeper", "server"), False),
        (("python3", "-m", "broker"), False),
        ((), False),
    ],
)
def test_a_broker_is_known_by_its_command_line(words, broker):
    assert is_broker(words) is broker


def test_any_zookeeper_server_of_java_is_one():
    main = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
    assert is_zookeeper(("/usr/bin/java", "-Xmx16m", main, "zoo.cfg"))
    assert not is_zookeeper(("grep", main))
    assert not is_zookeeper(("java", "kafka.Kafka"))


@pytest.mark.parametrize(
    ("words", "number"),
    [
        (("--config", "server.properties"), 3),
        (("--config=server.properties",), 3),
        (("--config", "server.properties", "--override", "a=b", "--override", "broker.id=4"), 4),
        (("--config", "gone.properties"), None),
    ],
)
def test_the_number_of_a_broker_is_what_its_file_says_unless_it_was_told_otherwise(tmp_path, words, number):
    (tmp_path / "server.properties").write_text("broker.id=3\n")
    running = ("python", "-m", "broker", "server", *words)
    assert node_id(RunningServer(1, running, str(tmp_path), is_managed=False)) == number


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "cannot read {path}: No such file or directory"),
        ("log.dirs=/tmp/x\nzookeeper.connect=z:1\n", "broker.id"),
        (
            "broker.id=1\nnum.partitions=x\nzookeeper.connect=z:1\n",
            "Invalid value x for configuration num.partitions: Not a number of type INT",
        ),
    ],
)
def test_what_is_wrong_with_a_broker_s_file_is_told_before_anything_is_left_running(tmp_path, text, sentence):
    path = tmp_path / "server.properties"
    if text is not None:
        path.write_text(text)
    refused = typed("kafka-server-start", "-daemon", str(path))
    assert (refused.status, refused.out) == (1, "")
    assert sentence.format(path=path) in refused.err
    assert refused.err.count("\n") == 1


def test_an_override_that_is_no_pair_is_refused(tmp_path):
    refused = typed("kafka-server-start", str(tmp_path / "x"), "--override", "broker.id")
    assert refused.status == 1
    assert 'write it as "key=value"' in refused.err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "cannot read {path}: No such file or directory"),
        ("clientPort=2181\n", "dataDir is missing"),
        ("dataDir={there}\n", "clientPort is missing"),
        ("dataDir={there}\nclientPort=21811\nserver.1=a:1:2\nserver.2=b:1:2\n", "{there}/myid is missing"),
    ],
)
def test_what_is_wrong_with_a_zookeeper_s_file_is_told_in_one_sentence(tmp_path, text, sentence):
    path = tmp_path / "zookeeper.properties"
    if text is not None:
        path.write_text(text.format(there=tmp_path))
    refused = typed("zookeeper-server-start", "-daemon", str(path))
    assert (refused.status, refused.out) == (1, "")
    assert sentence.format(path=path, there=tmp_path) in refused.err
    assert refused.err.count("\n") == 1


def test_a_signal_that_is_none_is_refused(monkeypatch):
    monkeypatch.setenv("SIGNAL", "NOTHING")
    monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("nobody may be told anything"))
    refused = typed("kafka-server-stop", "--node-id=-7")
    assert refused.status == 1
    assert "SIGNAL=NOTHING is no signal" in refused.err


def test_the_files_that_are_to_be_copied_start_what_they_describe():
    config = read_broker_config((ROOT / "config" / "server.properties").read_text())
    assert (config.broker_id, config.zookeeper_connect, config.unused) == (0, "localhost:2181", ())
    server = read_server_file((ROOT / "config" / "zookeeper.properties").read_text())
    assert (str(server.data_dir), server.client_host, server.client_port) == ("/tmp/zookeeper", "localhost", 2181)
    for name in ("producer", "consumer"):
        assert parse_properties((ROOT / "config" / f"{name}.properties").read_text())["bootstrap.servers"]
