import threading
from contextlib import contextmanager

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)

from broker.client.cluster import ClusterConnections, parse_bootstrap_servers
from broker.common import types
from broker.mirror.lane import Flow
from broker.mirror.records import TOPIC
from broker.mirror.task import MirrorTask, TaskSettings
from tests.barnabas_cluster import await_true, running_cluster

#: Records of 1970 and 2023 are written, and not to be gone when retention looks.
_FOR_EVER = {"log.retention.ms": "-1"}


#: Everybody may do what is not denied.
_RULES = {
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}


@pytest.fixture(scope="package")
def north(tmp_path_factory, zookeeper):
    """It keeps rules, south none."""
    overrides = _FOR_EVER | _RULES
    with running_cluster(tmp_path_factory.mktemp("north"), overrides=overrides, zookeeper=zookeeper) as running:
        yield Side("north", running)


@pytest.fixture(scope="package")
def south(tmp_path_factory, zookeeper):
    with running_cluster(tmp_path_factory.mktemp("south"), overrides=_FOR_EVER, zookeeper=zookeeper) as running:
        yield Side("south", running)


@pytest.fixture(scope="package")
def sides(tmp_path_factory, zookeeper):
    """East and west, of two brokers each. Who kills one puts it back."""
    place = tmp_path_factory.mktemp("sides")
    with (
        running_cluster(place / "east", brokers=2, zookeeper=zookeeper) as east,
        running_cluster(place / "west", brokers=2, zookeeper=zookeeper) as west,
    ):
        yield Side("east", east, replicas=2), Side("west", west, replicas=2)


class Side:
    """A cluster, and what tests do with it."""

    def __init__(self, alias, running, replicas=1):
        self.alias, self.running, self._replicas = alias, running, replicas
        self.bootstrap = running.bootstrap_servers
        self.admin = AdminClient({"bootstrap.servers": self.bootstrap})
        self.id = self.admin.list_topics(timeout=10).cluster_id
        self.create(TOPIC, **{"cleanup.policy": "compact"})

    def connect(self):
        return ClusterConnections(parse_bootstrap_servers(self.bootstrap), client_id="mirror")

    def create(self, topic, partitions=1, **config):
        new = NewTopic(
            topic, partitions, self._replicas, config={key.replace("_", "."): value for key, value in config.items()}
        )
        await_true(lambda: self._is_made(new), f"{topic} is made", 20)
        await_true(lambda: self._is_led(topic, partitions), f"{topic} is led")

    def _is_made(self, new):
        """False if who was asked is the controller no more, or not yet: clients ask again then.

        Asked by a client that knows nothing yet: librdkafka goes on asking a controller it has once heard of.
        """
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        try:
            admin.create_topics([new])[new.topic].result(20)
        except KafkaException as refused:
            if refused.args[0].code() != KafkaError.NOT_CONTROLLER:
                raise
            return False
        return True

    def _is_led(self, topic, partitions):
        described = self.admin.list_topics(timeout=10).topics.get(topic)
        return (
            described is not None
            and [partition.leader >= 0 for partition in described.partitions.values()] == [True] * partitions
        )

    def write(self, topic, values, partition=0, producer=None, **named):
        producer = producer or Producer({"bootstrap.servers": self.bootstrap, "linger.ms": 5})
        for value in values:
            producer.produce(topic, value, partition=partition, **named)
        assert producer.flush(30) == 0

    def read(self, topic, partition=0):
        """All committed records there are: (offset, key, value, headers, timestamp)."""
        consumer = Consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "group.id": "reader",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "enable.partition.eof": True,
            }
        )
        consumer.assign([TopicPartition(topic, partition, 0)])
        records = []
        while (message := consumer.poll(10)) is not None and not message.error():
            records.append((message.offset(), message.key(), message.value(), message.headers(), message.timestamp()))
        consumer.close()
        return records

    def values(self, topic, partition=0):
        return [value for _, _, value, _, _ in self.read(topic, partition)]


def denial(topic, operation=AclOperation.ALL):
    return AclBinding(
        ResourceType.TOPIC, topic, ResourcePatternType.LITERAL, "User:ANONYMOUS", "*", operation, AclPermissionType.DENY
    )


def flow(source, target, *, exactly_once=False):
    return Flow(f"{source.alias}->{target.alias}", source.id, target.id, exactly_once)


@contextmanager
def mirroring(
    source, target, topics, *, exactly_once=False, prefix="", commit_interval_s=0.2, audit=None, from_end=False
):
    """Copies while the block runs; `step` is called on a thread of its own, as a worker would."""
    stopping = threading.Event()
    assigned = {
        types.TopicPartition(topic, partition): f"{prefix}{topic}"
        for topic, count in topics.items()
        for partition in range(count)
    }
    settings = TaskSettings(
        flow(source, target, exactly_once=exactly_once), assigned, commit_interval_s, from_end=from_end
    )
    task = MirrorTask(settings, source.connect, target.connect, stopping.is_set, audit)
    failures = []

    def run():
        try:
            while not stopping.is_set():
                task.step()
        except BaseException as error:
            failures.append(error)
        finally:
            task.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield task
    finally:
        stopping.set()
        thread.join(60)
    assert not failures, failures
    assert not thread.is_alive(), "it does not end"
