"""Everything of ours that is a client, on brokers that let nobody in without a login: by one file of properties."""

import subprocess
import sys

import pytest

from broker.client.cluster import ClusterConnections, parse_bootstrap_servers
from broker.client.retention import PreviewQuestion, preview_retention
from broker.client.security.file import read_own_security
from console.kit.gateway.cluster import KafkaGateway
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.connection.membership import ConsoleMembership
from console.kit.gateway.errors import ClientRefusedError
from console.kit.gateway.zookeeper.znodes import KazooGateway
from tests.barnabas_cluster import await_true, running_cluster
from tests.secure_broker import written

pytest.importorskip("broker.server.sasl_login", reason="brokers have no logins yet")
_PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
_SASL = {
    "listeners": "SASL_PLAINTEXT://127.0.0.1:{port}",
    "security.inter.broker.protocol": "SASL_PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
    "listener.name.sasl_plaintext.plain.sasl.jaas.config": f'{_PLAIN} user_ann="sesame";',
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, zookeeper):
    with running_cluster(tmp_path_factory.mktemp("login"), brokers=2, overrides=_SASL, zookeeper=zookeeper) as running:
        added = "SCRAM-SHA-512=[iterations=4096,password=sesame]"
        who = ("--entity-type", "users", "--entity-name", "ann", "--add-config", added)
        ran("kafka-configs", "--zookeeper", running.zookeeper.connect, "--alter", *who)
        yield running


@pytest.fixture(params=["PLAIN", "SCRAM-SHA-512"])
def file(tmp_path, request) -> str:
    properties = f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism={request.param}\n"
    return written(tmp_path / "client.properties", properties + "sasl.username=ann\nsasl.password=sesame\n")


def ran(*words: str, given: str = "") -> str:
    line = [sys.executable, "-m", "broker.cli", *words]
    ended = subprocess.run(line, input=given, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert "sesame" not in ended.stdout + ended.stderr
    return ended.stdout


def test_commands_make_fill_read_and_reset(cluster, file, name):
    at = ("--bootstrap-server", cluster.bootstrap_servers)
    ran("kafka-topics", *at, "--command-config", file, "--create", "--topic", name, "--partitions", "2")
    ran("kafka-console-producer", *at, "--producer.config", file, "--topic", name, given="one\ntwo\n")
    to_consume = ("--from-beginning", "--max-messages", "2", "--group", name)
    read = ran("kafka-console-consumer", *at, "--consumer.config", file, "--topic", name, *to_consume)
    assert sorted(read.split()) == ["one", "two"]
    reset = ("--group", name, "--topic", name, "--reset-offsets", "--to-earliest", "--execute")
    assert name in ran("kafka-consumer-groups", *at, "--command-config", file, *reset)
    assert name in ran("kafka-topics", *at, "--command-config", file, "--list").split()


@pytest.fixture
def membership(cluster):
    znodes = KazooGateway(cluster.zookeeper.connect)
    yield ConsoleMembership(lambda: znodes)
    znodes.close()


def gateway_of(cluster, membership: ConsoleMembership, file: str, timeout_s: float = 10.0) -> KafkaGateway:
    client = ClusterClient(cluster.bootstrap_servers, file, is_required=False)
    return KafkaGateway(client, membership, request_timeout_seconds=timeout_s)


def test_the_console_does_all_it_does_elsewhere(cluster, membership, file, name):
    gateway = gateway_of(cluster, membership, file)
    gateway.create_topic(name, 2, 2)
    assert {broker.id for broker in gateway.describe_cluster().brokers} == {1, 2}
    assert gateway.produce_record(name, 1, b"k", b"v") == (1, 0)
    stream = gateway.open_records(name, {1: 0}, True)
    assert [item.value for item in _read(stream)] == [b"v"]
    stream.close()
    gateway.groups.commit_offsets(name, {(name, 1): 1})
    assert gateway.groups.describe_one(name).committed == {(name, 1): 1}
    assert name in {group.group_id for group in gateway.groups.describe().groups}
    assert gateway.moves.assignments([name]).keys() == {(name, 0), (name, 1)}
    assert gateway.brokers.settings().keys() == {1, 2}
    assert gateway.brokers.request_times()[1]
    assert len(gateway.preview_retention(name, {}).partitions) == 2
    gateway.close()


def _read(stream) -> list:
    values: list = []
    await_true(lambda: values.extend(stream.read(1.0, 10)) or values, "the record to be read")
    return values


@pytest.mark.parametrize("password", ["", "guess"])
def test_a_console_that_is_not_let_in_is_told_why(cluster, membership, tmp_path, password):
    path = tmp_path / "client.properties"
    if password:
        properties = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.username=ann\n"
        written(path, properties + f"sasl.password={password}\n")
    with pytest.raises(ClientRefusedError, match="does not let the console in") as refused:
        gateway_of(cluster, membership, str(path), 2.0).describe_cluster()
    assert "guess" not in str(refused.value)


def test_a_user_asks_as_a_member_on_a_connection_of_its_own(cluster, membership, file, name):
    ran("kafka-topics", "--bootstrap-server", cluster.bootstrap_servers, "--command-config", file,
        "--create", "--topic", name)  # fmt: skip
    servers, security = parse_bootstrap_servers(cluster.bootstrap_servers), read_own_security(file)
    with ClusterConnections(servers, security=security) as asking:
        assert preview_retention(asking, PreviewQuestion(name), membership()).partitions
        assert asking.describe_topics([name]).topics[0].error_code == 0


def test_who_may_not_ask_is_one_sentence(cluster):
    line = ["kafka-topics", "--list", "--bootstrap-server", cluster.bootstrap_servers]
    ended = subprocess.run([sys.executable, "-m", "broker.cli", *line], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 1
    assert "want TLS or a login? see security.protocol" in ended.stderr
