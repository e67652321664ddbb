"""Unmodified clients over TLS, to brokers that reach each other over TLS, too; certificates say who everybody is."""

import os
import shutil
import socket
import ssl
import struct
import subprocess
import time
import uuid
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewTopic
from cryptography import x509
from kafka import KafkaConsumer, KafkaProducer

from tests.barnabas_cluster import Cluster, await_true, running_cluster
from tests.certificates import Authority, inline

AUTHORITY = Authority()


@pytest.fixture(scope="module")
def directory(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("tls")


@pytest.fixture(scope="module")
def cluster(directory):
    server = directory / "server.pem"
    server.write_text(AUTHORITY.server().pem("secret of the key"))
    overrides = {
        "listeners": "SSL://127.0.0.1:{port}",
        "security.inter.broker.protocol": "SSL",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(server),
        "ssl.key.password": "secret of the key",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": inline(AUTHORITY.pem),
        "ssl.client.auth": "required",
        "ssl.principal.mapping.rules": "RULE:^CN=([^,]*).*$/$1/L",
    }
    with running_cluster(directory, brokers=2, overrides=overrides) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def ca(directory) -> str:
    return AUTHORITY.write(directory)


@pytest.fixture(scope="module")
def own(directory) -> tuple[str, str]:
    return AUTHORITY.client("CN=Alice,O=Acme").write(directory, "alice")


@pytest.fixture
def settings(cluster: Cluster, ca, own) -> dict[str, str]:
    return {
        "bootstrap.servers": cluster.bootstrap_servers,
        "security.protocol": "SSL",
        "ssl.ca.location": ca,
        "ssl.certificate.location": own[0],
        "ssl.key.location": own[1],
    }


@pytest.fixture
def topic(settings) -> str:
    name = f"t-{uuid.uuid4().hex[:8]}"
    admin = AdminClient(settings)
    admin.create_topics([NewTopic(name, 2, 2)])[name].result(20)
    return name


def test_what_is_produced_is_replicated_and_consumed(settings, topic):
    sent = {f"{number}".encode() + os.urandom(500) for number in range(2_000)} | {os.urandom(900_000) for _ in range(8)}
    producer = Producer(settings | {"acks": "all", "linger.ms": 5})
    for value in sent:
        producer.produce(topic, value)
        producer.poll(0)
    assert producer.flush(30) == 0
    consumer = Consumer(settings | {"group.id": topic, "auto.offset.reset": "earliest", "fetch.max.bytes": 60_000_000})
    consumer.subscribe([topic])
    received: set[bytes] = set()
    end = time.monotonic() + 40
    while received != sent and time.monotonic() < end:
        for message in consumer.consume(500, 0.2):
            assert message.error() is None
            received.add(message.value())
    consumer.close()
    assert received == sent


def test_who_shows_no_certificate_is_not_served(settings):
    without = {name: settings[name] for name in ("bootstrap.servers", "security.protocol", "ssl.ca.location")}
    with pytest.raises(KafkaException):
        AdminClient(without).list_topics(timeout=3)


def test_who_trusts_another_authority_does_not_connect(settings, tmp_path):
    with pytest.raises(KafkaException):
        AdminClient(settings | {"ssl.ca.location": Authority("another").write(tmp_path)}).list_topics(timeout=3)


def test_plaintext_clients_are_not_served_and_the_log_says_why(settings, cluster):
    with pytest.raises(KafkaException):
        AdminClient({"bootstrap.servers": settings["bootstrap.servers"]}).list_topics(timeout=3)
    assert any("does not speak TLS" in broker.log_path.read_text() for broker in cluster.brokers)


def test_kafka_python_speaks_tls(settings, topic, ca, own):
    tls = {
        "bootstrap_servers": settings["bootstrap.servers"],
        "security_protocol": "SSL",
        "ssl_cafile": ca,
        "ssl_certfile": own[0],
        "ssl_keyfile": own[1],
    }
    producer = KafkaProducer(**tls)
    for number in range(100):
        producer.send(topic, f"{number}".encode())
    producer.flush(20)
    producer.close()
    consumer = KafkaConsumer(topic, **tls, auto_offset_reset="earliest", consumer_timeout_ms=10_000)
    received = {next(consumer).value for _ in range(100)}
    consumer.close()
    assert received == {f"{number}".encode() for number in range(100)}


@pytest.mark.skipif(shutil.which("kcat") is None, reason="kcat is not installed")
def test_kcat_speaks_tls(settings, topic):
    options = [part for name, value in settings.items() for part in ("-X", f"{name}={value}")]
    subprocess.run(["kcat", "-P", "-t", topic, *options], input=b"by kcat\n", check=True, timeout=30)
    completed = subprocess.run(
        ["kcat", "-C", "-t", topic, "-e", "-q", *options], capture_output=True, check=True, timeout=30
    )
    assert completed.stdout == b"by kcat\n"


def alter(settings, broker_id: int, name: str, value: str | None) -> None:
    operation = AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET
    entry = ConfigEntry(name, value or "", incremental_operation=operation)
    resource = ConfigResource(ConfigResource.Type.BROKER, str(broker_id), incremental_configs=[entry])
    admin = AdminClient(settings)
    admin.incremental_alter_configs([resource])[resource].result(20)


def connected(broker, ca: str, own: tuple[str, str]) -> ssl.SSLSocket:
    context = ssl.create_default_context(cafile=ca)
    context.load_cert_chain(*own)
    return context.wrap_socket(socket.create_connection((broker.host, broker.port), 10), server_hostname=broker.host)


def serial(connection: ssl.SSLSocket) -> int:
    return x509.load_der_x509_certificate(connection.getpeercert(binary_form=True)).serial_number


def asks_versions(connection: ssl.SSLSocket, correlation_id: int) -> int:
    """ApiVersions 0; the correlation id of what is answered."""
    connection.sendall(struct.pack(">ihhih", 10, 18, 0, correlation_id, -1))
    answer = connection.makefile("rb")
    (size,) = struct.unpack(">i", answer.read(4))
    return struct.unpack(">i", answer.read(size)[:4])[0]


def test_a_keystore_named_anew_is_shown_to_who_connects_and_who_is_connected_goes_on(
    settings, cluster, directory, ca, own
):
    broker, other = cluster.brokers
    renewed = AUTHORITY.server()
    (directory / "renewed.pem").write_text(renewed.pem("secret of the key"))
    name = "listener.name.ssl.ssl.keystore.location"
    with connected(broker, ca, own) as live:
        before = serial(live)
        assert asks_versions(live, 1) == 1
        alter(settings, broker.broker_id, name, str(directory / "renewed.pem"))

        def shown(of) -> int:
            with connected(of, ca, own) as late:
                return serial(late)

        await_true(lambda: shown(broker) == renewed.certificate.serial_number, "the new certificate is shown")
        assert asks_versions(live, 2) == 2
        assert (serial(live), shown(other)) == (before, before)
        alter(settings, broker.broker_id, name, str(directory / "nowhere.pem"))
        await_true(lambda: "new TLS stores are not used" in broker.log_path.read_text(), "what is no keystore is told")
        assert shown(broker) == renewed.certificate.serial_number
        alter(settings, broker.broker_id, name, None)
        await_true(lambda: shown(broker) == before, "the keystore of the file is shown again")
        assert asks_versions(live, 3) == 3
