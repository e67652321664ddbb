"""Topics are looked at and changed by the clients' own admin tools; a change takes effect while brokers run."""

import time

import pytest
from confluent_kafka import TIMESTAMP_LOG_APPEND_TIME, KafkaException, Producer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewPartitions, NewTopic
from kafka import KafkaAdminClient

from tests.barnabas_cluster import await_true
from tests.interop.records import records
from tests.interop.test_confluent_kafka import create_topic, produce


@pytest.fixture
def admin(cluster):
    return AdminClient({"bootstrap.servers": cluster.bootstrap_servers})


def described(admin, name) -> dict[str, ConfigEntry]:
    resource = ConfigResource(ConfigResource.Type.TOPIC, name)
    return admin.describe_configs([resource])[resource].result(10)


def change(admin, name, key, value, operation=AlterConfigOpType.SET) -> None:
    entry = ConfigEntry(key, value, incremental_operation=operation)
    resource = ConfigResource(ConfigResource.Type.TOPIC, name, incremental_configs=[entry])
    admin.incremental_alter_configs([resource])[resource].result(10)


def test_a_topics_configuration_is_described_with_its_sources(cluster, name, admin):
    admin.create_topics([NewTopic(name, 1, 1, config={"retention.ms": "60000"})])[name].result(30)
    configs = described(admin, name)
    assert (configs["retention.ms"].value, configs["retention.ms"].is_default) == ("60000", False)
    assert (configs["cleanup.policy"].value, configs["cleanup.policy"].is_default) == ("delete", True)
    assert "log.retention.hours" in configs["retention.ms"].synonyms


def test_single_values_are_set_appended_to_and_deleted(cluster, name, admin):
    create_topic(cluster, name)
    change(admin, name, "retention.ms", "1234")
    change(admin, name, "cleanup.policy", "compact", AlterConfigOpType.APPEND)
    assert described(admin, name)["retention.ms"].value == "1234"
    assert described(admin, name)["cleanup.policy"].value == "delete,compact"
    change(admin, name, "cleanup.policy", "delete", AlterConfigOpType.SUBTRACT)
    change(admin, name, "retention.ms", "", AlterConfigOpType.DELETE)
    assert described(admin, name)["cleanup.policy"].value == "compact"
    assert described(admin, name)["retention.ms"].is_default


@pytest.mark.parametrize(("key", "value"), [("retention.ms", "soon"), ("colour", "red")])
def test_a_value_that_cannot_be_changes_nothing(cluster, name, admin, key, value):
    create_topic(cluster, name)
    with pytest.raises(KafkaException) as refused:
        change(admin, name, key, value)
    assert key in refused.value.args[0].str()
    assert described(admin, name)["retention.ms"].is_default


def test_a_changed_size_limit_takes_effect_on_a_running_broker(cluster, name, admin):
    create_topic(cluster, name, partitions=1)
    change(admin, name, "max.message.bytes", "2000")

    def is_refused() -> bool:
        errors = []
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
        producer.produce(name, b"x" * 5_000, on_delivery=lambda error, _: errors.append(error))
        producer.flush(10)
        return errors[0] is not None and errors[0].name() == "MSG_SIZE_TOO_LARGE"

    await_true(is_refused, "a record of 5,000 bytes refused", 15)


def test_a_small_segment_size_makes_more_segments(cluster, name, admin):
    create_topic(cluster, name, partitions=1)
    change(admin, name, "segment.bytes", "20000")

    def segments() -> int:
        produce(cluster, name, records("none", 500), **{"batch.size": 4_000})
        return max(
            len(list(directory.glob("*.log")))
            for broker in cluster.brokers
            for directory in (broker.directory / "logs").glob(f"{name}-0")
        )

    await_true(lambda: segments() > 2, "several segments", 20)


def test_partitions_are_added_and_can_be_written_to(cluster, name, admin):
    create_topic(cluster, name, partitions=2)
    admin.create_partitions([NewPartitions(name, 5)])[name].result(30)
    await_true(lambda: len(admin.list_topics(name, timeout=10).topics[name].partitions) == 5, "five partitions")
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    await_true(lambda: len(producer.list_topics(name, timeout=10).topics[name].partitions) == 5, "the producer knows")
    errors = []
    producer.produce(name, b"v", partition=4, on_delivery=lambda error, _: errors.append(error))
    assert producer.flush(30) == 0
    assert errors == [None]


@pytest.mark.parametrize("count", [1, 2])
def test_partitions_are_never_taken_away(cluster, name, admin, count):
    create_topic(cluster, name, partitions=2)
    with pytest.raises(KafkaException) as refused:
        admin.create_partitions([NewPartitions(name, count)])[name].result(30)
    assert refused.value.args[0].name() == "INVALID_PARTITIONS"


def test_log_directories_tell_the_size_of_each_partition(cluster, name):
    create_topic(cluster, name, partitions=3)
    produce(cluster, name, records("none", 3_000))
    client = KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers)
    sizes = sum(_partition_sizes(client.describe_log_dirs(), name))
    client.close()
    on_disk = sum(
        log.stat().st_size
        for broker in cluster.brokers
        for directory in (broker.directory / "logs").glob(f"{name}-*")
        for log in directory.glob("*.log")
    )
    assert sizes == on_disk > 0


def _partition_sizes(part, name):
    """Sizes of the topic's partitions, wherever the client's answer keeps them."""
    if isinstance(part, dict):
        if part.get("name") == name or part.get("topic") == name:
            yield from (partition["partition_size"] for partition in part["partitions"])
        else:
            for item in part.values():
                yield from _partition_sizes(item, name)
    elif isinstance(part, list | tuple):
        for item in part:
            yield from _partition_sizes(item, name)


def test_many_topics_are_created_and_deleted_by_one_request_each(cluster, admin, name):
    names = [f"{name}-{number}" for number in range(60)]
    for future in admin.create_topics([NewTopic(name, 2, 1) for name in names], operation_timeout=60).values():
        future.result(90)
    known = admin.list_topics(timeout=10).topics
    assert all(len(known[name].partitions) == 2 for name in names)
    for future in admin.delete_topics(names, operation_timeout=60).values():
        future.result(90)
    await_true(lambda: not set(names) & admin.list_topics(timeout=10).topics.keys(), "all topics gone")


def test_a_producer_hears_the_brokers_time(cluster, admin, name):
    admin.create_topics([NewTopic(name, 1, 1, config={"message.timestamp.type": "LogAppendTime"})])[name].result(30)
    before_ms = int(time.time() * 1000)
    delivered = []
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    producer.produce(name, b"x", timestamp=1, on_delivery=lambda _, message: delivered.append(message.timestamp()))
    assert producer.flush(30) == 0
    kind, timestamp_ms = delivered[0]
    assert kind == TIMESTAMP_LOG_APPEND_TIME
    assert before_ms <= timestamp_ms <= int(time.time() * 1000)
