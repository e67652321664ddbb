"""A mirror from a cluster that lets in certificates only: its properties say how, and no log repeats them."""

import uuid

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.barnabas_cluster import await_true, running_cluster
from tests.broker.mirror.running import begun, properties
from tests.certificates import Authority, inline

AUTHORITY = Authority()


@pytest.fixture(scope="module")
def locked(tmp_path_factory, zookeeper):
    """Client properties of the cluster."""
    directory = tmp_path_factory.mktemp("locked")
    server = directory / "server.pem"
    server.write_text(AUTHORITY.server().pem("secret of the key"))
    overrides = {
        "listeners": "SSL://127.0.0.1:{port}", "security.inter.broker.protocol": "SSL", "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(server), "ssl.key.password": "secret of the key", "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": inline(AUTHORITY.pem), "ssl.client.auth": "required",
    }  # fmt: skip
    certificate, key = AUTHORITY.client("CN=mirror").write(directory, "mirror")
    with running_cluster(directory, overrides=overrides, zookeeper=zookeeper) as running:
        yield {
            "bootstrap.servers": running.bootstrap_servers, "security.protocol": "SSL",
            "ssl.ca.location": AUTHORITY.write(directory), "ssl.certificate.location": certificate,
            "ssl.key.location": key,
        }  # fmt: skip


def test_records_come_out_of_a_cluster_that_wants_certificates(locked, south, tmp_path):
    topic = f"t-{uuid.uuid4().hex[:10]}"
    admin = AdminClient(locked)
    admin.create_topics([NewTopic(topic, 2, 1)])[topic].result(20)
    producer = Producer(locked)
    for number in range(3_000):
        producer.produce(topic, f"{number} {'x' * 400}", partition=number % 2)
    assert producer.flush(30) == 0
    flow = {
        "clusters": "locked, south", "south.bootstrap.servers": south.bootstrap, "locked->south.enabled": "true",
        "south.exactly.once.source.support": "enabled", "topics": topic, "replication.factor": "1",
        "emit.heartbeats.enabled": "false", "emit.checkpoints.enabled": "false",
        **{f"locked.{name}": value for name, value in locked.items()},
    }  # fmt: skip
    with begun("connect-mirror-maker", properties(tmp_path / "mm2.properties", **flow), log=tmp_path / "log"):
        copy = f"locked.{topic}"
        await_true(lambda: copy in south.admin.list_topics(timeout=10).topics, "it is made", 60)
        await_true(lambda: [len(south.read(copy, at)) for at in (0, 1)] == [1_500, 1_500], "all is there", 60)
    assert "PRIVATE KEY" not in (tmp_path / "log").read_text()
