"""What the documents about Kafka say happens without a setting happens here: one table."""

import pytest

from broker.config.broker import read_broker_config
from broker.config.resolution import topic_values

_HOUR_MS = 3_600_000
#: Key of a broker -> what its file says without a word about it.
BROKER = {
    "replica.lag.time.max.ms": 10_000,  # in sync is who was caught up within the last 10 seconds
    "zookeeper.session.timeout.ms": 6_000,  # alive is who sent a heartbeat in the last 6 seconds
    "log.retention.hours": 168,
    "log.retention.bytes": -1,
    "log.segment.bytes": 1024**3,
    "log.roll.hours": 168,  # a segment has 1 GB or a week
    "log.cleaner.min.cleanable.ratio": 0.5,  # compaction starts when half is dirty
    "log.cleanup.policy": ("delete",),
    "num.partitions": 1,
    "default.replication.factor": 1,
    "min.insync.replicas": 1,
    "unclean.leader.election.enable": False,
    "auto.create.topics.enable": True,
    "delete.topic.enable": True,
    "auto.leader.rebalance.enable": True,
    "offsets.topic.num.partitions": 50,
    "offsets.topic.replication.factor": 3,
}
#: Key of a topic -> what counts for its logs.
TOPIC = {
    "retention.ms": 168 * _HOUR_MS,
    "retention.bytes": -1,
    "segment.bytes": 1024**3,
    "segment.ms": 168 * _HOUR_MS,
    "message.timestamp.after.max.ms": _HOUR_MS,  # KIP-1030
    "message.timestamp.before.max.ms": 2**63 - 1,
    "min.cleanable.dirty.ratio": 0.5,
    "compression.type": "producer",
    "min.insync.replicas": 1,
    "unclean.leader.election.enable": False,
}
#: The documents' server.properties, one broker of three.
FILE = """
broker.id=2
listeners=PLAINTEXT://0.0.0.0:9092
advertised.listeners=PLAINTEXT://broker.example:9092
zookeeper.connect=zookeeper0:2181,zookeeper1:2181,zookeeper2:2181
log.dirs=/tmp/kafka-logs
"""


@pytest.mark.parametrize("name", BROKER)
def test_a_broker_of_which_nothing_is_said_does_as_the_documents_say(name):
    assert read_broker_config(FILE).values[name.replace(".", "_")] == BROKER[name]


@pytest.mark.parametrize("name", TOPIC)
def test_a_topic_of_which_nothing_is_said_does_as_the_documents_say(name):
    assert topic_values({}, read_broker_config(FILE))[name.replace(".", "_")] == TOPIC[name]
