"""kill -9 and clean stops: whatever was acknowledged is there afterwards, at the offset it was given."""

import socket
import time

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from kazoo.client import KazooClient

from tests.barnabas_cluster import await_true, running_cluster
from tests.interop.test_confluent_kafka import consumer, create_topic, drain


@pytest.fixture(scope="module")
def running(tmp_path_factory, zookeeper):
    with running_cluster(tmp_path_factory.mktemp("restart"), brokers=2, zookeeper=zookeeper) as cluster:
        yield cluster


@pytest.fixture
def cluster(running):
    """The cluster with both brokers running, as whoever is asked knows."""
    for broker in running.brokers:
        if broker.process.poll() is not None:
            broker.start()
        broker.await_healthy()
    for broker in running.brokers:
        admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{broker.port}"})
        await_true(lambda admin=admin: len(admin.list_topics(timeout=10).brokers) == 2, "each knows of both brokers")
    return running


def acknowledged(cluster, topic, count, start=0) -> dict[tuple[int, int], bytes]:
    """Produce `count` records and return those the brokers acknowledged, by partition and offset."""
    written = {}

    def note(error, message):
        if error is None:
            written[message.partition(), message.offset()] = message.value()

    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "linger.ms": 1, "batch.num.messages": 20})
    for number in range(start, start + count):
        producer.produce(topic, f"value-{number}".encode(), on_delivery=note)
        producer.poll(0)
    assert producer.flush(60) == 0
    return written


def stored(cluster, topic, partitions, count) -> dict[tuple[int, int], bytes]:
    reader = consumer(cluster)
    reader.assign([TopicPartition(topic, index, OFFSET_BEGINNING) for index in range(partitions)])
    records = {(partition, offset): sent.value for partition, offset, sent in drain(reader, count)}
    reader.close()
    return records


def restart(broker, *, hard: bool) -> None:
    broker.kill() if hard else broker.stop()
    broker.start()
    broker.await_healthy()


@pytest.mark.parametrize("hard", [True, False], ids=["kill -9", "SIGTERM"])
def test_acknowledged_records_survive_the_restart_of_every_broker(cluster, name, hard):
    create_topic(cluster, name, partitions=4)
    written = acknowledged(cluster, name, 3_000)
    for broker in cluster.brokers:
        restart(broker, hard=hard)
    assert len(written) == 3_000
    assert stored(cluster, name, 4, 3_000) == written
    more = acknowledged(cluster, name, 500, start=3_000)
    assert stored(cluster, name, 4, 3_500) == written | more


@pytest.mark.long
def test_a_broker_that_is_not_registered_answers_nobody(cluster):
    """Words to its earlier life would reach it: it could lead with a log that has lost its end meanwhile."""
    broker = cluster.brokers[1]
    broker.stop()
    zookeeper = KazooClient(cluster.zookeeper.connect)
    zookeeper.start()
    zookeeper.create(f"/brokers/ids/{broker.broker_id}", b"{}", ephemeral=True)
    broker.start()
    while broker.process.poll() is None:
        with socket.socket() as client:
            assert client.connect_ex(("127.0.0.1", broker.port)) != 0
        time.sleep(0.01)
    assert "is taken by a broker that is alive" in broker.log_path.read_text()
    zookeeper.stop()
    zookeeper.close()
    broker.start()
    broker.await_healthy()


def test_a_producer_rides_out_a_kill_and_writes_nothing_twice(cluster, name):
    create_topic(cluster, name, partitions=2)
    written, errors = {}, []

    def note(error, message):
        if error is None:
            written[message.partition(), message.offset()] = message.value()
        else:
            errors.append(error)

    quiet = {"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0}
    producer = Producer({**quiet, "enable.idempotence": True, "linger.ms": 1})
    for number in range(2_000):
        if number == 1_000:
            cluster.broker(1).kill()
            cluster.broker(1).start()
        producer.produce(name, f"value-{number}".encode(), on_delivery=note)
        producer.poll(0)
    assert producer.flush(60) == 0
    assert errors == []
    assert sorted(written.values()) == sorted(f"value-{number}".encode() for number in range(2_000))
    assert stored(cluster, name, 2, 2_000) == written


@pytest.mark.long
def test_committed_offsets_survive_the_kill_of_their_coordinator(cluster, name):
    create_topic(cluster, name, partitions=1)
    acknowledged(cluster, name, 100)
    reader = consumer(cluster, f"readers-{name}")
    reader.subscribe([name])
    drain(reader, 100)
    reader.commit(asynchronous=False)
    reader.close()
    for broker in cluster.brokers:
        restart(broker, hard=True)
    successor = consumer(cluster, f"readers-{name}")
    assert successor.committed([TopicPartition(name, 0)], timeout=30)[0].offset == 100
    successor.close()


@pytest.mark.long
def test_a_topic_deleted_while_a_broker_is_away_is_deleted_when_it_returns(cluster, name):
    admin = create_topic(cluster, name, partitions=2)
    acknowledged(cluster, name, 10)
    described = admin.describe_cluster().result(10)
    away = cluster.broker(next(node.id for node in described.nodes if node.id != described.controller.id))
    away.kill()
    admin.delete_topics([name], operation_timeout=0.5)
    away.start()
    away.await_healthy()
    await_true(lambda: name not in admin.list_topics(timeout=10).topics, f"topic {name} gone")
    await_true(
        lambda: not [path for broker in cluster.brokers for path in (broker.directory / "logs").glob(f"{name}-*")],
        "its directories gone",
    )


def test_a_broker_stops_quickly_and_cleanly(cluster):
    reader = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g"})
    reader.subscribe(["anything"])
    reader.poll(0.5)
    assert cluster.broker(2).stop() == 0
    assert (cluster.broker(2).directory / "logs" / ".kafka_cleanshutdown").exists()
    reader.close()
