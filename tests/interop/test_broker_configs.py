"""Brokers' configurations are changed by clients' admin tools while brokers run, and survive a restart."""

import socket
import time

import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ConfigSource, NewTopic
from kafka import KafkaAdminClient
from kafka.admin import ConfigResource as KafkaPythonResource
from kafka.admin import ConfigResourceType
from kafka.protocol.admin import IncrementalAlterConfigsRequest

from tests.barnabas_cluster import await_true, running_cluster

BROKER = 4
SET, DELETE = 0, 1
FAST = {
    "log.retention.check.interval.ms": "200",
    "log.initial.task.delay.ms": "100",
    "log.segment.delete.delay.ms": "0",
    "log.segment.bytes": "100000",
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, zookeeper):
    with running_cluster(tmp_path_factory.mktemp("configs"), brokers=2, overrides=FAST, zookeeper=zookeeper) as running:
        yield running


@pytest.fixture
def admin(cluster):
    return AdminClient({"bootstrap.servers": cluster.bootstrap_servers})


@pytest.fixture
def kafka_python(cluster):
    client = KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers)
    yield client
    client.close()


def change(admin, broker_id, key, value, operation=AlterConfigOpType.SET) -> None:
    entry = ConfigEntry(key, value, incremental_operation=operation)
    resource = ConfigResource(ConfigResource.Type.BROKER, str(broker_id), incremental_configs=[entry])
    admin.incremental_alter_configs([resource])[resource].result(10)


def described(admin, broker_id) -> dict[str, ConfigEntry]:
    resource = ConfigResource(ConfigResource.Type.BROKER, str(broker_id))
    return admin.describe_configs([resource])[resource].result(10)


def change_all(client, key, value) -> None:
    """For all brokers, which the public methods of neither client can name."""
    config = (key, DELETE if value is None else SET, value)
    request = IncrementalAlterConfigsRequest(resources=[(BROKER, "", [config])], validate_only=False)
    (outcome,) = client._manager.run(client._manager.send, request).responses
    assert outcome.error_code == 0, outcome.error_message


def refuses(cluster, name, partition) -> bool:
    """Whether a record of 5,000 bytes is too large."""
    errors = []
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    producer.produce(name, b"x" * 5_000, partition=partition, on_delivery=lambda error, _: errors.append(error))
    producer.flush(10)
    return errors[0] is not None and errors[0].name() == "MSG_SIZE_TOO_LARGE"


def leader_of(admin, name, partition) -> int:
    return admin.list_topics(name, timeout=10).topics[name].partitions[partition].leader


def partition_of(admin, name, leader: int) -> int:
    """Which of two it leads, as soon as whoever is asked knows."""

    def led() -> list[int]:
        return [partition for partition in (0, 1) if leader_of(admin, name, partition) == leader]

    await_true(lambda: len(led()) == 1, f"broker {leader} leads one of the two")
    return led()[0]


def test_one_brokers_value_is_described_and_counts_on_it_alone(cluster, name, admin):
    admin.create_topics([NewTopic(name, 2, 1)])[name].result(30)
    on_second = partition_of(admin, name, 2)
    change(admin, 2, "message.max.bytes", "2000")
    entry = described(admin, 2)["message.max.bytes"]
    assert (entry.value, entry.source, entry.is_read_only) == (
        "2000",
        ConfigSource.DYNAMIC_BROKER_CONFIG.value,
        False,
    )
    assert described(admin, 1)["message.max.bytes"].is_default
    assert refuses(cluster, name, on_second)
    assert not refuses(cluster, name, 1 - on_second)
    change(admin, 2, "message.max.bytes", "", AlterConfigOpType.DELETE)
    assert not refuses(cluster, name, on_second)


def test_what_is_set_for_all_reaches_every_broker_and_its_topics(cluster, name, admin, kafka_python):
    admin.create_topics([NewTopic(name, 2, 1)])[name].result(30)
    change_all(kafka_python, "message.max.bytes", "2000")
    for partition in (0, 1):
        await_true(lambda partition=partition: refuses(cluster, name, partition), f"limit on {partition}", 15)
    for broker_id in (1, 2):
        entry = described(admin, broker_id)["message.max.bytes"]
        assert entry.source == ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG.value
    change_all(kafka_python, "message.max.bytes", None)
    await_true(lambda: described(admin, 1)["message.max.bytes"].is_default, "taken back", 15)
    await_true(lambda: not refuses(cluster, name, 0), "taken back on its topics", 15)


def test_old_records_go_when_brokers_are_told_to_keep_less(cluster, name, admin, kafka_python):
    admin.create_topics([NewTopic(name, 1, 1, config={"segment.bytes": "1000"})])[name].result(30)
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "batch.num.messages": 1, "linger.ms": 0})
    hour_ago = int(time.time() * 1000) - 3_600_000
    for _ in range(20):
        producer.produce(name, b"x" * 300, timestamp=hour_ago)
    assert producer.flush(30) == 0

    def segments() -> int:
        return sum(len(list((broker.directory / "logs").glob(f"{name}-0/*.log"))) for broker in cluster.brokers)

    assert segments() > 3
    change_all(kafka_python, "log.retention.ms", "60000")
    await_true(lambda: segments() == 1, "old segments deleted", 15)
    change_all(kafka_python, "log.retention.ms", None)


def test_a_key_read_at_the_start_is_read_only_and_refused(cluster, admin):
    configs = described(admin, 2)
    assert (configs["broker.id"].value, configs["broker.id"].is_read_only) == ("2", True)
    assert configs["log.retention.hours"].is_default
    with pytest.raises(KafkaException, match="restart"):
        change(admin, 2, "log.retention.hours", "1")


def test_kafka_python_finds_what_may_change_and_changes_it(cluster, kafka_python):
    broker = KafkaPythonResource(ConfigResourceType.BROKER, "1", {"log.cleaner.backoff.ms": "12345"})
    assert kafka_python.alter_configs([broker]) == {"broker": {"1": "OK"}}
    resource = KafkaPythonResource(ConfigResourceType.BROKER, "1")
    dynamic = kafka_python.describe_configs([resource], config_filter="dynamic")["broker"]["1"]
    assert dynamic["log.cleaner.backoff.ms"]["value"] == "12345"
    assert "broker.id" not in dynamic
    with pytest.raises(ValueError, match=r"broker\.id"):
        kafka_python.alter_configs([KafkaPythonResource(ConfigResourceType.BROKER, "1", {"broker.id": "9"})])
    assert kafka_python.reset_configs([broker]) == {"broker": {"1": "OK"}}


def test_connections_from_one_address_are_limited_while_the_broker_runs(cluster, admin):
    port = cluster.broker(1).port
    change(admin, 1, "max.connections.per.ip.overrides", "127.0.0.9:1")

    def connected() -> socket.socket:
        return socket.create_connection(("127.0.0.1", port), timeout=10, source_address=("127.0.0.9", 0))

    with connected(), connected() as refused:
        assert refused.recv(1) == b""
    change(admin, 1, "max.connections.per.ip.overrides", "", AlterConfigOpType.DELETE)


@pytest.mark.long
def test_a_restarted_broker_goes_by_what_was_set_before(cluster, name, admin, kafka_python):
    admin.create_topics([NewTopic(name, 2, 1)])[name].result(30)
    on_first = partition_of(admin, name, 1)
    change(admin, 1, "message.max.bytes", "3000")
    change_all(kafka_python, "log.retention.bytes", "123456789")
    first = cluster.broker(1)
    first.stop()
    first.start()
    first.await_healthy()
    configs = described(admin, 1)
    assert configs["message.max.bytes"].value == "3000"
    assert configs["log.retention.bytes"].value == "123456789"
    await_true(lambda: leader_of(admin, name, on_first) == 1, "broker 1 leads again")
    assert refuses(cluster, name, on_first)
    change(admin, 1, "message.max.bytes", "", AlterConfigOpType.DELETE)
