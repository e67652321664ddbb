"""The two clusters the suite runs on: the one in memory, and real broker processes asked over the wire."""

import uuid

import pytest

from tests.conformance.gateway.real import kafka_gateway
from tests.fakes.gateway import FakeGateway


@pytest.fixture(scope="package")
def running_brokers(zookeeper):
    """A real cluster of at least one broker, started once for the whole suite."""
    from tests.barnabas_cluster import running_cluster

    with running_cluster(zookeeper=zookeeper) as cluster:
        yield cluster


@pytest.fixture(scope="package")
def three_brokers(zookeeper):
    """A real cluster for tests that move replicas, or stop a broker and start it again."""
    from tests.barnabas_cluster import running_cluster

    with running_cluster(brokers=3, zookeeper=zookeeper) as cluster:
        yield cluster


@pytest.fixture(params=["fake", "real"])
def gateway(request):
    if request.param == "fake":
        yield FakeGateway()
        return
    cluster = request.getfixturevalue("running_brokers")
    real = kafka_gateway(cluster)
    yield real
    real.close()


@pytest.fixture
def append(request, gateway):
    """append(topic, partition, record_count): records arrive as a producer would bring them."""
    if isinstance(gateway, FakeGateway):
        return gateway.append
    cluster = request.getfixturevalue("running_brokers")
    return lambda topic, partition, count: _produce(cluster.bootstrap_servers, topic, partition, count)


def _produce(bootstrap_servers: str, topic: str, partition: int, record_count: int) -> None:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": bootstrap_servers, "acks": "all"})
    errors = []
    for number in range(record_count):
        producer.produce(topic, b"%d" % number, partition=partition, callback=lambda error, _: errors.append(error))
    assert producer.flush(20) == 0
    assert errors == [None] * record_count


@pytest.fixture
def commit(request, gateway):
    """commit(group, topic, partition, offset): as a consumer of the group would."""
    if isinstance(gateway, FakeGateway):
        return gateway.commit
    cluster = request.getfixturevalue("running_brokers")
    return lambda group, topic, partition, offset: _commit(cluster.bootstrap_servers, group, topic, partition, offset)


def _commit(bootstrap_servers: str, group: str, topic: str, partition: int, offset: int) -> None:
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": bootstrap_servers, "group.id": group})
    try:
        consumer.commit(offsets=[TopicPartition(topic, partition, offset)], asynchronous=False)
    finally:
        consumer.close()


@pytest.fixture
def topic_name():
    return f"conformance-{uuid.uuid4().hex[:12]}"
