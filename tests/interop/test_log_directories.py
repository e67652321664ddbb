"""A replica moves between its broker's directories, while records come and the broker is killed."""

import time
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from broker.client.cluster import ClusterConnections
from broker.client.errors import BrokerUnreachable
from broker.common.errors import ErrorCode
from broker.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from broker.protocol.messages.describe_log_dirs import DescribeLogDirsRequest
from tests.barnabas_cluster import await_true

TOPIC = "moving"


@pytest.fixture
def cluster(two_disks):
    admin = AdminClient({"bootstrap.servers": two_disks.bootstrap_servers})
    admin.create_topics([NewTopic(TOPIC, 1, 1, config={"segment.bytes": "500000"})])[TOPIC].result(30)
    return two_disks


@pytest.fixture
def connections(cluster):
    host, port = cluster.bootstrap_servers.split(":")
    with ClusterConnections([(host, int(port))]) as asking:
        yield asking


def places_of(connections) -> dict[str, tuple[bool, int]]:
    """By directory: is it a copy, and how far behind."""
    answer = connections.ask_any(DescribeLogDirsRequest(topics=None))
    return {
        result.log_dir: (one.is_future_key, one.offset_lag)
        for result in answer.results
        for topic in result.topics
        if topic.name == TOPIC
        for one in topic.partitions
    }


def alter(connections, path: str) -> ErrorCode:
    topics = [AlterReplicaLogDirTopic(name=TOPIC, partitions=[0])]
    answer = connections.ask_any(AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path=path, topics=topics)]))
    return ErrorCode(answer.results[0].partitions[0].error_code)


def segments(directory: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted((directory / f"{TOPIC}-0").glob("*.log")))


def test_a_replica_moves_byte_for_byte_though_it_is_written_to_and_the_broker_killed(cluster, connections, tmp_path):
    failures: list = []
    producer = Producer(
        {"bootstrap.servers": cluster.bootstrap_servers, "acks": "all", "linger.ms": 5, "batch.size": 100_000}
    )

    def send(count: int) -> None:
        for place in range(count):
            producer.produce(TOPIC, b"%d" % place * 400, on_delivery=lambda error, _: error and failures.append(error))
        assert producer.flush(60) == 0

    send(5_000)
    (here,) = places_of(connections)
    there = str(tmp_path / ("other" if here.endswith("one") else "one"))
    assert alter(connections, there) is ErrorCode.NONE
    await_true(lambda: places_of(connections).get(there, (False, 0))[0], "the copy is shown")
    send(500)
    (broker,) = cluster.brokers
    broker.kill()
    held = segments(Path(here))
    assert list(Path(there).glob(f"{TOPIC}-0.*-future")), "killed while it was copied"
    broker.start()
    broker.await_healthy()
    send(500)

    def is_moved() -> bool:
        try:
            return places_of(connections) == {there: (False, 0)}
        except BrokerUnreachable:
            return False  # the connection was to the process that was killed

    await_true(is_moved, "the log is in the other directory", 60)
    send(500)
    assert not failures
    assert segments(Path(there))[: len(held)] == held
    await_true(lambda: not list(Path(here).glob(f"{TOPIC}-0*")), "the old directory is freed")
    counted = records_count(cluster)
    assert counted == 6_500
    assert broker.stop() == 0
    broker.start()
    broker.await_healthy()
    assert records_count(cluster) == counted


def records_count(cluster) -> int:
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "counting"})
    try:
        deadline = time.monotonic() + 40
        while True:
            low, high = consumer.get_watermark_offsets(TopicPartition(TOPIC, 0), timeout=10)
            if high or time.monotonic() > deadline:
                break
        consumer.assign([TopicPartition(TOPIC, 0, low)])
        collected = 0
        while low + collected < high and time.monotonic() < deadline:
            collected += sum(message.error() is None for message in consumer.consume(1_000, timeout=1))
        return collected
    finally:
        consumer.close()
