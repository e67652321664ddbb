"""Users log in by each mechanism, with each client that people use, on brokers that have no other listener."""

import asyncio
import json
import subprocess
import sys
from contextlib import suppress

import aiokafka
import kafka
import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka.admin import (
    AdminClient,
    NewTopic,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)

from tests.barnabas_cluster import await_true, running_cluster
from tests.zookeeper_server import ZooKeeperServer

#: With what JAAS, URLs, SCRAM and znodes have a meaning for.
PASSWORD = "p,a=s s/%\"'ü\\"
IN_JAAS = PASSWORD.replace("\\", "\\\\").replace('"', '\\"')
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
SASL = {
    "listeners": "SASL_PLAINTEXT://127.0.0.1:{port}",
    "security.inter.broker.protocol": "SASL_PLAINTEXT",
    "sasl.enabled.mechanisms": ",".join(MECHANISMS),
    "listener.name.sasl_plaintext.plain.sasl.jaas.config": (
        "org.apache.kafka.common.security.plain.PlainLoginModule required "
        f'user_alice="{IN_JAAS}" user_admin="admin-secret";'
    ),
}
ADMIN = {"sasl.mechanism": "PLAIN", "sasl.username": "admin", "sasl.password": "admin-secret"}


def command(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "broker.cli", *words], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def give(cluster, user: str, password: str = PASSWORD) -> None:
    added = ",".join(f"{mechanism}=[iterations=4096,password={password}]" for mechanism in MECHANISMS[1:])
    output = command(
        *("kafka-configs", "--zookeeper", cluster.zookeeper.connect, "--alter"),
        *("--entity-type", "users", "--entity-name", user, "--add-config", added),
    )
    assert "Completed Updating config for entity: user-principal" in output


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, zookeeper):
    with running_cluster(tmp_path_factory.mktemp("sasl"), brokers=2, overrides=SASL, zookeeper=zookeeper) as running:
        give(running, "alice")
        admin = admin_of(running)
        admin.create_topics([NewTopic("orders", 2, 2)])["orders"].result(30)
        yield running


def properties(cluster, mechanism: str, user: str = "alice", password: str = PASSWORD) -> dict[str, object]:
    login = {"sasl.mechanism": mechanism, "sasl.username": user, "sasl.password": password}
    return {"bootstrap.servers": cluster.bootstrap_servers, "security.protocol": "SASL_PLAINTEXT", **login}


def admin_of(cluster) -> AdminClient:
    return AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "security.protocol": "SASL_PLAINTEXT", **ADMIN})


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_users_of_confluent_kafka_log_in(cluster, name, mechanism):
    login = properties(cluster, mechanism)
    producer = Producer({**login, "acks": "all"})
    for number in range(10):
        producer.produce("orders", f"{name}-{number}")
    assert producer.flush(30) == 0
    reader = Consumer({**login, "group.id": name, "auto.offset.reset": "earliest"})
    reader.subscribe(["orders"])
    read = []

    def has_all() -> bool:
        read.extend(item.value().decode() for item in reader.consume(100, 0.1) if item.error() is None)
        return {f"{name}-{number}" for number in range(10)} <= set(read)

    await_true(has_all, "all is read")
    reader.close()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_users_of_kafka_python_log_in(cluster, name, mechanism):
    login = {
        "bootstrap_servers": cluster.bootstrap_servers,
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": mechanism,
        "sasl_plain_username": "alice",
        "sasl_plain_password": PASSWORD,
    }
    producer = kafka.KafkaProducer(**login)
    assert producer.send("orders", name.encode()).get(30).topic == "orders"
    producer.close()
    reader = kafka.KafkaConsumer("orders", auto_offset_reset="earliest", consumer_timeout_ms=20_000, **login)
    assert any(item.value == name.encode() for item in reader)
    reader.close()


@pytest.mark.parametrize("mechanism", MECHANISMS)
async def test_users_of_aiokafka_log_in(cluster, name, mechanism):
    login = {
        "bootstrap_servers": cluster.bootstrap_servers,
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": mechanism,
        "sasl_plain_username": "alice",
        "sasl_plain_password": PASSWORD,
    }
    async with aiokafka.AIOKafkaProducer(**login) as producer:
        await producer.send_and_wait("orders", name.encode())
    async with aiokafka.AIOKafkaConsumer("orders", auto_offset_reset="earliest", **login) as reader:
        async with asyncio.timeout(30):
            while (await reader.getone()).value != name.encode():
                pass


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_users_of_kcat_log_in(cluster, name, mechanism):
    login = [word for key, value in properties(cluster, mechanism).items() for word in ("-X", f"{key}={value}")]
    sent = subprocess.run(["kcat", *login, "-P", "-t", "orders"], input=name, text=True, timeout=60, check=False)
    assert sent.returncode == 0
    read = subprocess.run(
        ["kcat", *login, "-C", "-t", "orders", "-e", "-q"], capture_output=True, text=True, timeout=60, check=False
    )
    assert name in read.stdout.splitlines()


REFUSED = {"PLAIN": "Invalid username or password", "SCRAM-SHA-256": "invalid credentials with SASL mechanism SCRAM"}


@pytest.mark.parametrize("mechanism", REFUSED)
@pytest.mark.parametrize(("user", "password"), [("alice", "wrong"), ("nobody", PASSWORD), ("__cluster", PASSWORD)])
def test_who_cannot_prove_it_hears_the_same_whoever_it_says_it_is(cluster, mechanism, user, password):
    assert REFUSED[mechanism] in refusal(cluster, mechanism, user, password)


def refusal(cluster, mechanism: str, user: str, password: str) -> str:
    """What a client that cannot log in is told."""
    heard: list[str] = []
    client = AdminClient({**properties(cluster, mechanism, user, password), "error_cb": lambda e: heard.append(str(e))})

    def hears() -> bool:
        client.poll(0.1)
        return any("_AUTHENTICATION" in item for item in heard)

    await_true(hears, "the client is refused")
    return next(item for item in heard if "_AUTHENTICATION" in item)


def logs_in(cluster, mechanism: str, user: str, password: str) -> bool:
    with suppress(KafkaException):
        AdminClient(properties(cluster, mechanism, user, password)).list_topics(timeout=3)
        return True
    return False


def test_users_are_made_described_and_removed_by_kafkas_own_calls(cluster, name):
    admin, mechanism = admin_of(cluster), ScramMechanism.SCRAM_SHA_512
    info = ScramCredentialInfo(mechanism, 8192)
    made = admin.alter_user_scram_credentials([UserScramCredentialUpsertion(name, info, b"secret")])
    made[name].result(30)
    await_true(lambda: logs_in(cluster, "SCRAM-SHA-512", name, "secret"), "the new user logs in")
    described = admin.describe_user_scram_credentials([name])[name].result(30)
    assert [(info.mechanism, info.iterations) for info in described.scram_credential_infos] == [(mechanism, 8192)]
    assert {name, "alice"} <= set(admin.describe_user_scram_credentials().result(30))

    admin.alter_user_scram_credentials([UserScramCredentialDeletion(name, mechanism)])[name].result(30)
    await_true(lambda: not logs_in(cluster, "SCRAM-SHA-512", name, "secret"), "the removed user does not")
    with pytest.raises(KafkaException) as refused:
        admin.describe_user_scram_credentials([name])[name].result(30)
    assert refused.value.args[0].code() == KafkaError.RESOURCE_NOT_FOUND


@pytest.mark.parametrize("user", ["a,b=c", "a/b", "x" * 300, "CN=me, O=we", "100%", "~*+ "])
def test_a_user_may_be_called_anything_that_scram_can_say(cluster, user):
    give(cluster, user, "secret")
    await_true(lambda: logs_in(cluster, "SCRAM-SHA-256", user, "secret"), "the user logs in")


def test_quotas_of_a_user_outlive_its_passwords(cluster, name, zookeeper: ZooKeeperServer):
    from kazoo.client import KazooClient

    client = KazooClient(cluster.zookeeper.connect)
    client.start()
    client.create(f"/config/users/{name}", b'{"version":1,"config":{"producer_byte_rate":"1024"}}')
    give(cluster, name)
    for mechanism in MECHANISMS[1:]:
        command(
            *("kafka-configs", "--zookeeper", cluster.zookeeper.connect, "--alter"),
            *("--user", name, "--delete-config", mechanism),
        )
    assert json.loads(client.get(f"/config/users/{name}")[0]) == {
        "version": 1,
        "config": {"producer_byte_rate": "1024"},
    }
    client.stop()
    client.close()
