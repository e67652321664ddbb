"""ZooKeeper within TLS: a real server that has no port in plain text and demands a certificate of whoever comes."""

import asyncio
import contextlib
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from broker.common.errors import StartupError
from broker.config.definition import ConfigError
from broker.config.zookeeper import read_zookeeper_tls
from broker.zookeeper.session import ZooKeeperSession
from broker.zookeeper.tls import tls_settings
from console.kit.gateway.zookeeper.interface import ZooKeeperUnreachableError
from console.kit.gateway.zookeeper.znodes import KazooGateway
from tests.barnabas_cluster import await_true, running_cluster
from tests.certificates import Authority, Credential
from tests.eventually import eventually
from tests.registry_process import RegistryProcess
from tests.zookeeper_server import ZooKeeperServer, free_ports

ROOT = Path(__file__).resolve().parents[3]


@dataclass
class Secured:
    authority: Authority
    directory: Path
    server: ZooKeeperServer

    def keys(self, shown: Credential | None, believed: Authority, name: str = "client") -> dict[str, str]:
        """What a file says to be shown and believed, in PEM."""
        believed_path = believed.write(self.directory, f"{name}-ca")
        properties = {
            "zookeeper.ssl.client.enable": "true",
            "zookeeper.clientCnxnSocket": "org.apache.zookeeper.ClientCnxnSocketNetty",
            "zookeeper.ssl.truststore.location": believed_path,
            "zookeeper.ssl.truststore.type": "PEM",
        }
        if shown is not None:
            path = self.directory / f"{name}.pem"
            path.write_text(shown.pem())
            properties |= {"zookeeper.ssl.keystore.location": str(path), "zookeeper.ssl.keystore.type": "PEM"}
        return properties

    @property
    def good(self) -> dict[str, str]:
        return self.keys(self.authority.client("broker"), self.authority)

    def session(self, keys: dict[str, str], host: str = "127.0.0.1") -> ZooKeeperSession:
        tls = tls_settings(read_zookeeper_tls(keys))
        return ZooKeeperSession(f"{host}:{self.server.port}", 4_000, tls=tls)


@pytest.fixture(scope="module")
def secured(tmp_path_factory):
    directory = tmp_path_factory.mktemp("zookeeper-tls")
    authority = Authority()
    (directory / "server.pem").write_text(authority.server("127.0.0.1").pem())
    authority.write(directory)
    (port,) = free_ports(1)
    properties = directory / "zookeeper.properties"
    properties.write_text(
        f"""\
dataDir={directory / "data"}
secureClientPort={port}
secureClientPortAddress=127.0.0.1
serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory
ssl.keyStore.location={directory / "server.pem"}
ssl.trustStore.location={directory / "ca.pem"}
ssl.clientAuth=need
admin.enableServer=false
"""
    )
    (directory / "ca.crt").rename(directory / "ca.pem")
    with (directory / "test.log").open("ab") as log:
        command = [
            sys.executable,
            "-m",
            "broker.cli",
            "zookeeper-server-start",
            str(directory / "zookeeper.properties"),
        ]
        process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    server = ZooKeeperServer(process, port, directory)
    with contextlib.ExitStack() as stack:
        stack.callback(server.stop)
        yield Secured(authority, directory, server)


@pytest.fixture
async def session(secured):
    session = secured.session(secured.good)
    await session.connect(30_000)
    yield session
    await session.close()


async def test_znodes_are_made_read_and_watched(session):
    await session.ensure("/a")
    seen = []
    await session.get("/a", lambda: seen.append("changed"))
    await session.set("/a", b"2")
    await eventually(lambda: seen, "the watch fires")
    assert (await session.get("/a")).data == b"2"


async def test_many_large_answers_at_once_all_arrive(session):
    """Whatever of them OpenSSL unpacks together."""
    paths = [f"/many/{number:03}" for number in range(40)]
    await session.ensure("/many")
    await asyncio.gather(*(session.create(path, bytes(20_000)) for path in paths))
    for _ in range(5):
        result = await asyncio.gather(*(session.get(path) for path in paths))
        assert all(len(znode.data) == 20_000 for znode in result)


async def refused(session: ZooKeeperSession) -> str:
    with pytest.raises(StartupError) as problem:
        await session.connect(4_000)
    return str(problem.value)


async def test_a_server_of_another_authority_is_not_believed(secured, session):
    keys = secured.keys(secured.authority.client(), Authority("another"), "stranger")
    assert "its certificate is not believed" in await refused(secured.session(keys))


async def test_a_server_under_another_name_is_not_believed_unless_names_do_not_count(secured, session):
    assert "Hostname mismatch" in await refused(secured.session(secured.good, host="localhost"))
    careless = secured.session(secured.good | {"zookeeper.ssl.endpoint.identification.algorithm": ""}, "localhost")
    await careless.connect(10_000)
    await careless.close()


async def test_whoever_shows_no_certificate_is_told_why_nothing_is_reached(secured, session):
    message = await refused(secured.session(secured.keys(None, secured.authority, "nobody")))
    assert f"ZooKeeper did not answer at 127.0.0.1:{secured.server.port}" in message


async def test_pkcs12_stores_do_as_well(secured, session):
    shown, trust = secured.directory / "client.p12", secured.directory / "trust.p12"
    shown.write_bytes(secured.authority.client("broker").pkcs12("secret"))
    trust.write_bytes(secured.authority.pkcs12_trust("secret"))
    keys = {
        "zookeeper.ssl.client.enable": "true",
        "zookeeper.ssl.keystore.location": str(shown),
        "zookeeper.ssl.keystore.password": "secret",
        "zookeeper.ssl.truststore.location": str(trust),
        "zookeeper.ssl.truststore.password": "secret",
    }
    fine = secured.session(keys)
    await fine.connect(10_000)
    await fine.close()


def test_a_store_that_cannot_be_used_is_told_before_anything_is_tried(secured):
    with pytest.raises(StartupError, match="cannot be read"):
        tls_settings(read_zookeeper_tls(secured.good | {"zookeeper.ssl.truststore.location": "/nowhere"}))


def test_what_is_revoked_is_asked_by_nobody_and_that_is_said():
    with pytest.raises(ConfigError, match=r"zookeeper\.ssl\.crl\.enable=true cannot be heeded"):
        read_zookeeper_tls({"zookeeper.ssl.crl.enable": "true"})


def test_brokers_work_on_a_zookeeper_within_tls(secured, session, tmp_path):
    from confluent_kafka import Producer
    from confluent_kafka.admin import AdminClient, NewTopic

    with running_cluster(tmp_path, brokers=2, overrides=secured.good, zookeeper=secured.server) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        admin.create_topics([NewTopic("orders", 2, 2)])["orders"].result(30)
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "acks": "all"})
        messages = []
        producer.produce("orders", b"one", on_delivery=lambda error, _message: messages.append(error))
        assert producer.flush(30) == 0
        assert messages == [None]


def properties_file(secured: Secured, tmp_path: Path) -> str:
    path = tmp_path / "zookeeper-client.properties"
    path.write_text("".join(f"{key}={value}\n" for key, value in secured.good.items()))
    return str(path)


def typed(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "broker.cli", *words]
    return subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


def test_commands_that_ask_zookeeper_do_so_within_tls(secured, session, tmp_path):
    connect, file = f"127.0.0.1:{secured.server.port}", properties_file(secured, tmp_path)
    within = ("--zk-tls-config-file", file)
    listed = typed("zookeeper-shell", connect, *within, "ls", "/")
    assert "zookeeper" in listed.stdout, listed.stderr
    rule = ("--add", "--allow-principal", "User:alice", "--operation", "Read", "--topic", "orders")
    added = typed("kafka-acls", "--authorizer-properties", f"zookeeper.connect={connect}", *within, *rule)
    assert "User:alice" in added.stdout, added.stderr
    user = ("--entity-type", "users", "--entity-name", "alice", "--alter", "--add-config", "SCRAM-SHA-256=[password=x]")
    altered = typed("kafka-configs", "--zookeeper", connect, *within, *user)
    assert altered.returncode == 0, altered.stderr
    in_clear = typed("zookeeper-shell", connect, "--zk-tls-config-file", "/dev/null", "ls", "/")
    assert in_clear.returncode != 0
    assert "zookeeper.ssl.client.enable=true" in in_clear.stderr
    assert "Traceback" not in in_clear.stderr


def test_the_console_looks_at_znodes_within_tls(secured, session, tmp_path):
    gateway = KazooGateway(f"127.0.0.1:{secured.server.port}", tls_file=properties_file(secured, tmp_path))
    try:
        assert "zookeeper" in {child.name for child in gateway.look("/").children}
    finally:
        gateway.close()


def test_a_console_without_its_file_says_so(secured):
    gateway = KazooGateway(f"127.0.0.1:{secured.server.port}", tls_file="/nowhere")
    with pytest.raises(ZooKeeperUnreachableError, match="/nowhere cannot be used"):
        gateway.look("/")


def test_schema_registries_elect_their_leader_within_tls(secured, session, tmp_path):
    with running_cluster(tmp_path, overrides=secured.good, zookeeper=secured.server) as cluster:
        keys = {
            **secured.good,
            "kafkastore.bootstrap.servers": cluster.bootstrap_servers,
            "kafkastore.connection.url": cluster.zookeeper.connect,
            "kafkastore.topic.replication.factor": "1",
        }
        registry = RegistryProcess(free_ports(1)[0], tmp_path / "registry", keys)
        registry.start()
        try:
            registry.await_serving()
            await_true(lambda: _registers(registry), "the registry leads, and so registers", 30)
        finally:
            registry.stop()


def _registers(registry: RegistryProcess) -> bool:
    return registry.ask("POST", "/subjects/orders/versions", {"schema": '"string"'}).status == 200
