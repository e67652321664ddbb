"""A cluster in use is secured, and its certificates are exchanged, broker by broker: no client sees an error."""

import socket
import ssl
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from cryptography import x509
from kafka import KafkaProducer

from tests.barnabas_cluster import BrokerProcess, Cluster, await_true, running_cluster
from tests.certificates import Authority
from tests.interop.test_sasl import command
from tests.zookeeper_server import free_ports

TOPIC, PARTITIONS = "orders", 4
PASSWORD = "alice-secret"


class Load:
    """Writes with idempotence and acks=all, and a group reads it, both without a pause; `errors` is what they met."""

    def __init__(self, settings: dict[str, object], group: str):
        self.settings, self.errors = {**settings, "log_level": 0}, []
        self.acknowledged: set[bytes] = set()
        self.read: set[bytes] = set()
        self._name = group
        self._is_over = threading.Event()
        self._threads = [threading.Thread(target=item) for item in (self._write, self._follow)]

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        self.await_progress()
        return self

    def __exit__(self, *error: object) -> None:
        if error[0] is None:
            await_true(lambda: self.acknowledged <= self.read, "all that was acknowledged is read")
        self._is_over.set()
        for thread in self._threads:
            thread.join(60)

    def await_progress(self) -> None:
        written, read = len(self.acknowledged), len(self.read)
        errors = lambda: f"errors: {self.errors}"  # noqa: E731
        await_true(lambda: len(self.acknowledged) > written + 50, "more is written", why_not=errors)
        await_true(lambda: len(self.read) > read, "more is read", why_not=errors)

    def _write(self) -> None:
        producer = Producer({**self.settings, "enable.idempotence": True, "linger.ms": 2, "error_cb": self._note})
        number = 0
        while not self._is_over.wait(0.002):
            producer.produce(TOPIC, f"{self._name}-{number}".encode(), on_delivery=self._delivered)
            producer.poll(0)
            number += 1
        assert producer.flush(60) == 0

    def _follow(self) -> None:
        reader = Consumer({**self.settings, "group.id": self._name, "auto.offset.reset": "earliest"})
        reader.subscribe([TOPIC])
        while not self._is_over.is_set():
            for message in reader.consume(500, 0.1):
                if message.error() is not None:
                    self.errors.append(f"read: {message.error()}")
                elif message.value().startswith(f"{self._name}-".encode()):
                    self.read.add(message.value())
        reader.close()

    def _delivered(self, error, message) -> None:
        if error is None:
            self.acknowledged.add(message.value())
        else:
            self.errors.append(f"written: {error}")

    def _note(self, error) -> None:
        """Of a login or a certificate. That brokers go away, even the last it knows, each restart tells."""
        if error.name() not in ("_TRANSPORT", "_ALL_BROKERS_DOWN"):
            self.errors.append(str(error))


def roll(cluster: Cluster, changes: Callable[[BrokerProcess], dict[str, str]], load: Load) -> None:
    """Restart one after the other, each once all replicas are in sync, with its file changed."""
    for broker in cluster.brokers:
        await_in_sync(load)
        assert broker.stop() == 0
        broker.overrides |= changes(broker)
        broker.start()
        broker.await_healthy()
        load.await_progress()
    await_in_sync(load)


def await_in_sync(load: Load) -> None:
    admin = AdminClient({**load.settings})

    def are() -> bool:
        partitions = admin.list_topics(TOPIC, timeout=10).topics[TOPIC].partitions
        return len(partitions) == PARTITIONS and all(len(partition.isrs) == 2 for partition in partitions.values())

    await_true(are, "all replicas are in sync")


@pytest.fixture
def cluster(tmp_path, zookeeper):
    with running_cluster(tmp_path, brokers=2, zookeeper=zookeeper) as running:
        admin = AdminClient({"bootstrap.servers": running.bootstrap_servers})
        admin.create_topics([NewTopic(TOPIC, PARTITIONS, 2)])[TOPIC].result(30)
        yield running


@pytest.mark.long
def test_a_cluster_in_use_goes_from_plain_text_to_tls_with_logins(cluster, tmp_path):
    authority = Authority()
    (tmp_path / "server.pem").write_text(authority.server().pem())
    ca = authority.write(tmp_path)
    output = command(
        *("kafka-configs", "--zookeeper", cluster.zookeeper.connect, "--alter", "--entity-type", "users"),
        *("--entity-name", "alice", "--add-config", f"SCRAM-SHA-256=[iterations=4096,password={PASSWORD}]"),
    )
    assert "Completed Updating config" in output
    ports = dict(zip((broker.broker_id for broker in cluster.brokers), free_ports(2), strict=True))
    secured = ",".join(f"127.0.0.1:{port}" for port in ports.values())
    by_tls = {
        "bootstrap.servers": secured,
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-256",
        "sasl.username": "alice",
        "sasl.password": PASSWORD,
        "ssl.ca.location": ca,
    }
    tls = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(tmp_path / "server.pem"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": ca,
        "sasl.enabled.mechanisms": "SCRAM-SHA-256",
    }

    def both(broker: BrokerProcess) -> dict[str, str]:
        own = f"SASL_SSL://127.0.0.1:{ports[broker.broker_id]}"
        return {**tls, "listeners": f"PLAINTEXT://127.0.0.1:{broker.port},{own}"}

    def secured_only(broker: BrokerProcess) -> dict[str, str]:
        return {"listeners": f"SASL_SSL://127.0.0.1:{ports[broker.broker_id]}"}

    with Load({"bootstrap.servers": cluster.bootstrap_servers}, "in-clear") as before:
        roll(cluster, both, before)
        roll(cluster, lambda _: {"security.inter.broker.protocol": "SASL_SSL"}, before)
    with Load(by_tls, "by-tls") as after:
        roll(cluster, secured_only, after)
        by_another_client(secured, ca)
    assert before.errors == after.errors == []
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", cluster.brokers[0].port), 5)


def by_another_client(servers: str, ca: str) -> None:
    producer = KafkaProducer(
        bootstrap_servers=servers.split(","),
        security_protocol="SASL_SSL",
        sasl_mechanism="SCRAM-SHA-256",
        sasl_plain_username="alice",
        sasl_plain_password=PASSWORD,
        ssl_cafile=ca,
    )
    assert producer.send(TOPIC, b"from another").get(30).topic == TOPIC
    producer.close()


def served_by(port: int) -> x509.Certificate:
    """The certificate that whoever comes now is shown."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", port), 10) as plain, context.wrap_socket(plain) as within:
        return x509.load_der_x509_certificate(within.getpeercert(binary_form=True))


@pytest.mark.long
def test_certificates_and_then_their_authority_are_exchanged_while_clients_work(tmp_path, zookeeper):
    first, second = Authority("first"), Authority("second")
    store, trust = tmp_path / "server.pem", tmp_path / "trust.pem"
    exchange(store, first.server().pem())
    exchange(trust, first.pem)
    overrides = {
        "listeners": "SSL://127.0.0.1:{port}",
        "security.inter.broker.protocol": "SSL",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(store),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(trust),
    }
    with running_cluster(tmp_path, brokers=2, overrides=overrides, zookeeper=zookeeper) as cluster:
        both = tmp_path / "both.crt"
        both.write_text(first.pem + second.pem)
        settings = {
            "bootstrap.servers": cluster.bootstrap_servers,
            "security.protocol": "SSL",
            "ssl.ca.location": str(both),
        }
        admin = AdminClient(settings)
        admin.create_topics([NewTopic(TOPIC, PARTITIONS, 2)])[TOPIC].result(30)

        def show(certificate: x509.Certificate) -> None:
            for broker in cluster.brokers:
                await_true(lambda: served_by(broker.port) == certificate, "the new certificate is shown")  # noqa: B023

        with Load(settings, "clients") as load:
            renewed = first.server()
            exchange(store, renewed.pem())
            show(renewed.certificate)
            load.await_progress()
            exchange(trust, first.pem + second.pem)
            of_second = second.server()
            exchange(store, of_second.pem())
            show(of_second.certificate)
            exchange(trust, second.pem)
            for broker in cluster.brokers:  # whoever connects anew does so by the new authority alone
                await_in_sync(load)
                assert broker.stop() == 0
                broker.start()
                broker.await_healthy()
                load.await_progress()
            await_in_sync(load)
        assert load.errors == []


def exchange(path: Path, text: str) -> None:
    """Whole or not at all, as `python -m broker certificates` does."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_text(text)
    fresh.replace(path)
