"""Brokers with listeners for clients, for each other and for the controller: all are told of their own, and use it."""

import json
import socket

import psutil
import pytest
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewTopic
from kazoo.client import KazooClient

from tests.barnabas_cluster import await_true
from tests.interop.conftest import LISTENERS as OF_SHARED_CLUSTER

SET = AlterConfigOpType.SET
LISTENERS = ("PLAINTEXT", "PARTNERS", "MEMBERS-1", "CONTROL")


@pytest.fixture(scope="module")
def znodes(cluster) -> KazooClient:
    client = KazooClient(cluster.zookeeper.connect)
    client.start()
    yield client
    client.stop()
    client.close()


def registration(znodes: KazooClient, broker_id: int) -> dict:
    return json.loads(znodes.get(f"/brokers/ids/{broker_id}")[0])


@pytest.fixture(scope="module")
def registrations(cluster, znodes) -> dict[int, dict]:
    return {broker.broker_id: registration(znodes, broker.broker_id) for broker in cluster.brokers}


def addresses(registrations, listener: str) -> dict[int, str]:
    described = {
        number: dict(endpoint.split("://") for endpoint in one["endpoints"]) for number, one in registrations.items()
    }
    return {number: endpoints[listener] for number, endpoints in described.items()}


def ports(registrations, listener: str) -> set[int]:
    return {int(address.rpartition(":")[2]) for address in addresses(registrations, listener).values()}


def test_a_broker_registers_every_listener_with_its_protocol(cluster, registrations):
    for broker in cluster.brokers:
        registration = registrations[broker.broker_id]
        assert registration["listener_security_protocol_map"] == dict.fromkeys(LISTENERS, "PLAINTEXT")
        assert registration["endpoints"][0] == f"PLAINTEXT://127.0.0.1:{broker.port}"
        assert (registration["version"], registration["port"]) == (5, broker.port)


@pytest.mark.parametrize("listener", ["PLAINTEXT", "PARTNERS"])
def test_a_client_is_told_of_the_listener_that_it_came_by(cluster, registrations, listener):
    wanted = addresses(registrations, listener)
    admin = AdminClient({"bootstrap.servers": wanted[1]})
    await_true(lambda: len(admin.list_topics(timeout=10).brokers) == 3, "all brokers are known")
    assert {number: f"{one.host}:{one.port}" for number, one in admin.list_topics(timeout=10).brokers.items()} == wanted
    described = admin.describe_cluster().result(30)
    assert {node.id: f"{node.host}:{node.port}" for node in described.nodes} == wanted


def test_what_partners_write_clients_read_and_members_copy_by_their_own_listener(cluster, registrations, name):
    partners, clients = (",".join(addresses(registrations, name).values()) for name in ("PARTNERS", "PLAINTEXT"))
    admin = AdminClient({"bootstrap.servers": partners})
    admin.create_topics([NewTopic(name, 6, 3)])[name].result(30)
    producer = Producer({"bootstrap.servers": partners, "acks": "all"})
    for number in range(100):
        producer.produce(name, str(number))
    assert producer.flush(30) == 0
    reader = Consumer({"bootstrap.servers": clients, "group.id": name, "auto.offset.reset": "earliest"})
    reader.subscribe([name])
    read = []
    await_true(lambda: read.extend(reader.consume(100, 0.1)) or len(read) >= 100, "all is read")
    reader.close()
    assert sorted(int(message.value()) for message in read) == list(range(100))

    of_members, of_controller = ports(registrations, "MEMBERS-1"), ports(registrations, "CONTROL")
    dialled = {port for broker in cluster.brokers for port in dialled_by(broker, registrations)}
    assert of_members <= dialled, "all follow each other"
    assert of_controller <= dialled, "the controller speaks to all"
    assert dialled <= of_members | of_controller


def dialled_by(broker, registrations) -> set[int]:
    """Ports of brokers to which the broker has connected."""
    served = {port for name in LISTENERS for port in ports(registrations, name)}
    connections = psutil.Process(broker.process.pid).net_connections(kind="tcp")
    return {
        connection.raddr.port for connection in connections if connection.raddr and connection.raddr.port in served
    } - {connection.raddr.port for connection in connections if connection.raddr and connection.laddr.port in served}


def test_a_listener_comes_and_goes_while_the_broker_runs(cluster, znodes):
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    before = registration(znodes, 2)
    keys = ("listeners", "listener.security.protocol.map")
    late = {"listeners": "LATE://127.0.0.1:0", "listener.security.protocol.map": "LATE:PLAINTEXT"}
    change(
        admin,
        *(ConfigEntry(key, f"{value_in_file(cluster, key)},{late[key]}", incremental_operation=SET) for key in keys),
    )
    await_true(lambda: len(registration(znodes, 2)["endpoints"]) == 5, "the listener is advertised")
    assert registration(znodes, 2)["endpoints"][:4] == before["endpoints"], "the others are where they were"
    address = dict(endpoint.split("://") for endpoint in registration(znodes, 2)["endpoints"])["LATE"]
    by_late = AdminClient({"bootstrap.servers": address})
    await_true(lambda: set(by_late.list_topics(timeout=10).brokers) == {2}, "it is known, and only this broker has it")
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port))) as connection:
        change(admin, *(ConfigEntry(key, "", incremental_operation=AlterConfigOpType.DELETE) for key in keys))
        connection.settimeout(30)
        assert connection.recv(1) == b"", "it is closed with its connections"
    await_true(lambda: registration(znodes, 2)["endpoints"] == before["endpoints"], "nobody is told of it any more")


def test_a_broker_is_advertised_elsewhere_while_it_runs(cluster, znodes, name):
    """Brokers and the controller follow; who still dials the former address finds it, too."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    before = registration(znodes, 2)["endpoints"]
    elsewhere = value_in_file(cluster, "listeners").replace("127.0.0.1", "127.1")
    change(admin, ConfigEntry("advertised.listeners", elsewhere, incremental_operation=SET))
    after = [item.replace("127.0.0.1", "127.1") for item in before]
    await_true(lambda: registration(znodes, 2)["endpoints"] == after, "its new addresses are registered")
    await_true(lambda: admin.list_topics(timeout=10).brokers[2].host == "127.1", "clients are told")
    admin.create_topics([NewTopic(name, 3, 3, config={"min.insync.replicas": "3"})])[name].result(30)
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "acks": "all"})
    for partition in range(3):
        producer.produce(name, b"x", partition=partition)
    assert producer.flush(30) == 0
    change(admin, ConfigEntry("advertised.listeners", "", incremental_operation=AlterConfigOpType.DELETE))
    await_true(lambda: registration(znodes, 2)["endpoints"] == before, "it is told of as before")
    await_true(lambda: admin.list_topics(timeout=10).brokers[2].host == "127.0.0.1", "clients are told")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("PLAINTEXT://127.0.0.1:1", "brokers shall reach each other by the listener MEMBERS-1"),
        ("{now},LATE://127.0.0.1:0", "no security protocol is defined for listener LATE"),
    ],
)
def test_listeners_that_cannot_be_are_refused_while_the_broker_runs(cluster, znodes, value, words):
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    text = value.replace("{now}", value_in_file(cluster, "listeners"))
    with pytest.raises(KafkaException) as refused:
        change(admin, ConfigEntry("listeners", text, incremental_operation=SET))
    assert words in refused.value.args[0].str()
    assert len(registration(znodes, 2)["endpoints"]) == 4


def test_a_listener_whose_port_is_taken_is_refused_while_the_broker_runs(cluster, znodes):
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    late = {
        "listeners": f"LATE://127.0.0.1:{cluster.broker(1).port}",
        "listener.security.protocol.map": "LATE:PLAINTEXT",
    }
    entries = [
        ConfigEntry(key, f"{value_in_file(cluster, key)},{late[key]}", incremental_operation=SET) for key in late
    ]
    with pytest.raises(KafkaException, match="cannot listen on LATE") as refused:
        change(admin, *entries)
    assert "already in use" in refused.value.args[0].str()


def value_in_file(cluster, key: str) -> str:
    """Broker 2's file."""
    return OF_SHARED_CLUSTER[key].replace("{port}", str(cluster.broker(2).port))


def change(admin: AdminClient, *entries: ConfigEntry) -> None:
    """Of broker 2."""
    resource = ConfigResource(ConfigResource.Type.BROKER, "2", incremental_configs=list(entries))
    admin.incremental_alter_configs([resource])[resource].result(30)
