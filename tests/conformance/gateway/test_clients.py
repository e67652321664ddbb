"""Which clients write and read topics, as real brokers tell the console: unmodified clients by their libraries."""

from importlib.metadata import version

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition, libversion
from kafka import KafkaConsumer, KafkaProducer
from kafka import TopicPartition as KafkaPythonPartition

from console.kit.gateway.clients.interface import TrafficView
from tests.conformance.gateway.real import kafka_gateway

COUNT = 40


@pytest.fixture
def real(running_brokers):
    gateway = kafka_gateway(running_brokers)
    yield gateway
    gateway.close()


@pytest.fixture
def of_topic(real):
    """of_topic(topic): by client id and whether it produces, what brokers tell; None: a broker does not tell."""

    def look(topic) -> dict[tuple[str, bool], TrafficView]:
        all_views = [view for views in real.clients.traffic().values() for view in views]
        return {(view.client.client_id, view.is_produce): view for view in all_views if view.topic == topic}

    return look


def test_confluent_kafka_is_told_by_its_library_client_id_and_records(running_brokers, real, of_topic, topic_name):
    real.create_topic(topic_name, 1, 1)
    settings = {"bootstrap.servers": running_brokers.bootstrap_servers}
    producer = Producer(settings | {"client.id": "app-x"})
    for number in range(COUNT):
        producer.produce(topic_name, b"%d" % number)
    assert producer.flush(20) == 0
    consumer = Consumer(settings | {"client.id": "reader-x", "group.id": topic_name})
    consumer.assign([TopicPartition(topic_name, 0, 0)])
    read = 0
    while read < COUNT:
        read += len(consumer.consume(COUNT, timeout=1))
    views = of_topic(topic_name)
    consumer.close()
    assert set(views) == {("app-x", True), ("reader-x", False)}
    for view in views.values():
        assert (view.client.principal, view.client.host) == ("User:ANONYMOUS", "127.0.0.1")
        assert view.client.software_name == "confluent-kafka-python"
        assert libversion()[0] in view.client.software_version
        assert (view.records > 0, view.records_per_second > 0, view.bytes_count > 0) == (True, True, True)


def test_kafka_python_is_told_by_its_library_client_id_and_records(running_brokers, real, of_topic, topic_name):
    real.create_topic(topic_name, 1, 1)
    servers = running_brokers.bootstrap_servers
    producer = KafkaProducer(bootstrap_servers=servers, client_id="app-py")
    for number in range(COUNT):
        producer.send(topic_name, b"%d" % number)
    producer.flush(20)
    producer.close()
    consumer = KafkaConsumer(bootstrap_servers=servers, client_id="reader-py")
    consumer.assign([KafkaPythonPartition(topic_name, 0)])
    consumer.seek_to_beginning()
    read = 0
    while read < COUNT:
        read += sum(map(len, consumer.poll(500).values()))
    consumer.close()
    views = of_topic(topic_name)
    assert set(views) == {("app-py", True), ("reader-py", False)}
    for view in views.values():
        assert (view.client.software_name, view.client.software_version) == ("kafka-python", version("kafka-python"))
        assert view.records > 0


def test_the_console_s_own_reading_is_told_as_well(real, of_topic, topic_name):
    real.create_topic(topic_name, 1, 1)
    real.produce_record(topic_name, 0, b"k", b"v")
    views = of_topic(topic_name)
    assert [view.records for view in views.values()] == [1]
    assert all(view.client.client_id == "barnabas-console" for view in views.values())
