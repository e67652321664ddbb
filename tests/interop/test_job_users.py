"""The demo's users as `make up SECURE=1` makes them in ZooKeeper: enough for what they run, and for nothing else."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from broker.client.coordinators import Coordinators
from broker.client.leaders import Leaders
from broker.client.transactions import init_producer
from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.records.batch import Compression
from broker.spark.client_settings import cluster_of, read_sink_settings
from broker.spark.cluster import create_topic, latest_offsets, partitions_of
from broker.spark.ledger import SinkCommitLog
from broker.spark.ledger_names import LEDGER_PREFIX
from broker.spark.record_encoding import EncodedRows
from broker.spark.task_producer import TaskProducer
from console.kit.gateway.credentials.first_user import NewUser, admit_users
from console.processes.job_users import (
    COUNTS_TOPIC,
    DOCUMENTS_TOPIC,
    METRICS_TOPIC,
    PROBE,
    PROBE_TOPIC,
    REQUESTS_TOPIC,
    SOURCES,
    STREAMS,
    job_users,
)
from console.processes.setup import read_setup
from tests.barnabas_cluster import await_true, running_cluster
from tests.broker.probe.running import running_probe
from tests.secure_broker import written

SETUP = replace(read_setup({"BARNABAS_DEMO": "1"}, ""), documents=(Path("/notes.txt"),))
MECHANISM = "SCRAM-SHA-256"
_SECURED = {
    "listeners": "SASL_PLAINTEXT://127.0.0.1:{port}",
    "security.inter.broker.protocol": "SASL_PLAINTEXT",
    "sasl.enabled.mechanisms": MECHANISM,
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    "super.users": "User:console",
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, zookeeper):
    owner = NewUser("console", "of console")
    users = [NewUser(user.name, f"of {user.name}", user.rules) for user in job_users(SETUP)]
    with running_cluster(tmp_path_factory.mktemp("users"), overrides=_SECURED, zookeeper=zookeeper) as running:
        for _ in range(2):  # at each start
            assert admit_users(running.zookeeper.connect, "", [owner, *users], MECHANISM) == ""
        await_true(lambda: knows_all(running), "users and rules have reached the broker")
        yield running


def login(cluster, user: str) -> dict[str, str]:
    properties = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": MECHANISM}
    own = {"sasl.username": user, "sasl.password": f"of {user}"}
    return {"bootstrap.servers": cluster.bootstrap_servers, **properties, **own}


def knows_all(cluster) -> bool:
    """The rules of `streams` are written last."""
    try:
        AdminClient(login(cluster, "console")).list_topics(timeout=2)
        return _code(lambda: init_producer(coordinators(cluster), f"{LEDGER_PREFIX}probe", 60_000)) is None
    except Exception:
        return False


def _code(act) -> object:
    try:
        act()
    except Exception as error:
        return error
    return None


def stream_cluster(cluster):
    properties = login(cluster, STREAMS)
    options = {f"kafka.{name}": text for name, text in properties.items() if "password" not in name}
    file = written(
        cluster.brokers[0].directory / "streams.properties", f"sasl.password={properties['sasl.password']}\n"
    )
    return cluster_of(read_sink_settings(options | {"kafka.client.config": file}))


def coordinators(cluster) -> Coordinators:
    return Coordinators(stream_cluster(cluster))


def delivered(cluster, user: str, topic: str) -> KafkaError | None:
    messages: list[KafkaError | None] = []
    producer = Producer(login(cluster, user) | {"message.timeout.ms": 8_000})
    producer.produce(topic, b"x", on_delivery=lambda error, _message: messages.append(error))
    producer.flush(20)
    return messages[0]


@pytest.mark.parametrize("topic", [METRICS_TOPIC, REQUESTS_TOPIC, DOCUMENTS_TOPIC])
def test_sources_make_their_topics_and_write_into_them(cluster, topic):
    admin = AdminClient(login(cluster, SOURCES))
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(20)
    assert set(admin.list_topics(timeout=10).topics) >= {topic}
    assert delivered(cluster, SOURCES, topic) is None


def test_sources_do_nothing_else(cluster):
    owner = AdminClient(login(cluster, "console"))
    owner.create_topics([NewTopic("orders", 1, 1)])["orders"].result(20)
    assert delivered(cluster, SOURCES, "orders").code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
    admin = AdminClient(login(cluster, SOURCES))
    for refused in (
        lambda: admin.create_topics([NewTopic("theirs", 1, 1)])["theirs"].result(20),
        lambda: admin.delete_topics([METRICS_TOPIC])[METRICS_TOPIC].result(20),
    ):
        with pytest.raises(KafkaException) as error:
            refused()
        assert error.value.args[0].code() == KafkaError.TOPIC_AUTHORIZATION_FAILED


def test_the_stream_job_writes_a_batch_exactly_once_and_the_next_driver_takes_over(cluster):
    admin = AdminClient(login(cluster, STREAMS))
    for topic, configs in ((REQUESTS_TOPIC, {}), (COUNTS_TOPIC, {"cleanup.policy": "compact"})):
        create_topic(admin, topic, 1, configs)
    assert latest_offsets(admin, partitions_of(admin, [REQUESTS_TOPIC]), committed_only=True)
    result = stream_cluster(cluster)
    coordinators, name = Coordinators(result), f"{LEDGER_PREFIX}query"
    ledger = SinkCommitLog(name, result, coordinators)
    for batch, run in enumerate(("first driver", "second driver")):
        await_true(lambda run=run: _code(lambda: ledger.enter(run)) is None, "the driver takes over")
        producer = init_producer(coordinators, ledger.free_id(0, batch), 60_000)
        rows = EncodedRows(pa.array([b"k"], pa.binary()), pa.array([b"v"], pa.binary()), None)
        TaskProducer(Leaders(result), coordinators, producer, Compression.NONE).write(
            {TopicPartition(COUNTS_TOPIC, 0): rows}
        )
        ledger.decide(run, batch, [producer])
        ledger.finish(batch)
        ledger.sweep(run)
    assert ledger.enter("second driver").batch == 1


def test_the_stream_job_does_nothing_else(cluster):
    for topic in (METRICS_TOPIC, REQUESTS_TOPIC):
        assert delivered(cluster, STREAMS, topic).code() in (
            KafkaError.TOPIC_AUTHORIZATION_FAILED,
            KafkaError._UNKNOWN_TOPIC,
        )
    assert METRICS_TOPIC not in AdminClient(login(cluster, STREAMS)).list_topics(timeout=10).topics
    refused = _code(lambda: init_producer(coordinators(cluster), "another", 60_000))
    assert refused.code is ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


def test_the_probe_makes_its_topic_and_reads_what_it_writes_and_does_nothing_else(cluster, tmp_path):
    file = written(
        tmp_path / "client.properties",
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-256\n"
        "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required "
        f'username="{PROBE}" password="of {PROBE}";\n',
    )
    with running_probe(tmp_path, cluster.bootstrap_servers, topic=PROBE_TOPIC, **{"client.config": file}) as probe:
        probe.await_reading(brokers=1)
    owner = AdminClient(login(cluster, "console"))
    owner.create_topics([NewTopic("mine", 1, 1)])["mine"].result(20)
    assert delivered(cluster, PROBE, PROBE_TOPIC) is None
    assert delivered(cluster, PROBE, "mine").code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
