"""The properties files that Kafka ships are read as they are, or why not is one sentence."""

import pytest

from broker.cli.frame.declaration import Command
from broker.cli.frame.parsing import parse
from broker.common.errors import StartupError
from broker.config.broker import read_broker_config
from broker.config.properties import parse_properties, properties_text
from broker.connect.mirror_flows import read_flows
from broker.connect.settings import DISTRIBUTED, STANDALONE, read_settings
from tests import shipped_files as shipped


def by_versions(files: dict[str, dict[str, str]]):
    return [pytest.param(settings, id=versions) for versions, settings in files.items()]


@pytest.mark.parametrize("settings", by_versions(shipped.ZOOKEEPER_SERVERS))
def test_a_broker_starts_with_a_file_of_a_broker_with_zookeeper(settings):
    config = read_broker_config(properties_text(settings))
    assert config.broker_id == 0
    assert config.zookeeper_connect == "localhost:2181"
    assert config.inter_broker_listener == "PLAINTEXT"


@pytest.mark.parametrize("settings", by_versions(shipped.KRAFT_SERVERS))
def test_a_broker_with_a_file_of_kraft_says_that_it_needs_zookeeper(settings):
    with pytest.raises(StartupError) as refused:
        read_broker_config(properties_text(settings))
    assert str(refused.value) == (
        f"zookeeper.connect must be set: process.roles={settings['process.roles']} is for KRaft, and this broker keeps "
        "the cluster's metadata in ZooKeeper"
    )


@pytest.mark.parametrize("settings", by_versions(shipped.KRAFT_SERVERS))
def test_a_broker_with_a_file_of_kraft_starts_once_it_has_zookeeper(settings):
    config = read_broker_config(properties_text(settings), {"zookeeper.connect": "localhost:2181"})
    assert config.broker_id == int(settings["node.id"])
    assert [endpoint.listener for endpoint in config.listeners] == ["PLAINTEXT"]
    assert [(endpoint.host, endpoint.port) for endpoint in config.advertised_listeners] == [("localhost", 9092)]
    assert "process.roles" in config.unused


@pytest.mark.parametrize("settings", by_versions(shipped.CONTROLLERS))
def test_a_controller_is_refused_whatever_is_added(settings):
    with pytest.raises(
        StartupError, match=r"^process\.roles=controller is for a controller of KRaft, which is not here"
    ):
        read_broker_config(properties_text(settings), {"zookeeper.connect": "localhost:2181"})


def test_two_numbers_of_one_broker_are_refused():
    text = "broker.id=1\nnode.id=2\nzookeeper.connect=localhost:2181\n"
    with pytest.raises(StartupError, match=r"broker\.id=1 and node\.id=2 must be the same number"):
        read_broker_config(text)


@pytest.mark.parametrize("settings", by_versions(shipped.DISTRIBUTED_WORKERS))
def test_a_distributed_worker_starts(settings):
    read = read_settings(parse_properties(properties_text(settings)), DISTRIBUTED)
    assert read.group_id == "connect-cluster"
    assert read.offset_flush_interval_ms == 10_000


@pytest.mark.parametrize("settings", by_versions(shipped.STANDALONE_WORKERS))
def test_a_standalone_worker_starts(settings):
    read = read_settings(parse_properties(properties_text(settings)), STANDALONE)
    assert read.offset_storage_file_filename == "/tmp/connect.offsets"


@pytest.mark.parametrize("settings", by_versions(shipped.MIRRORS))
def test_a_mirror_starts(settings):
    flows = read_flows(parse_properties(properties_text(settings)), [])
    assert [flow.name for flow in flows] == ["A->B", "B->A"]


@pytest.mark.parametrize(("name", "files"), [("consumer", shipped.CONSUMERS), ("producer", shipped.PRODUCERS)])
def test_clients_open_with_their_file(name, files):
    from broker.cli.clients.clients import open_consumer, open_producer
    from broker.cli.commands import load

    command: Command = load(f"kafka-console-{name}")
    for settings in files.values():
        words = ["--bootstrap-server", "127.0.0.1:1", "--topic", "t"]
        arguments, _ = parse(command, words)
        if name == "consumer":
            open_consumer(arguments, settings).close()
        else:
            open_producer(arguments, settings)
