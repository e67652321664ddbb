"""Topic ids that foreign hands remove or bring back: znodes written by CMAK and by Kafka's tools up to 2.7, directories
restored from a backup, replicas that lost a part of their logs. No record is deleted for any of it.
"""

import contextlib
import json
import shutil
from collections.abc import Iterator

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from kazoo.client import KazooClient

from tests.barnabas_cluster import BrokerProcess, Cluster, await_true
from tests.interop.replicas import isr_of, leader_of, log_bytes
from tests.interop.test_confluent_kafka import consumer
from tests.interop.test_restart import acknowledged, stored

ALL_THREE = [1, 2, 3]


@contextlib.contextmanager
def zookeeper_client(cluster: Cluster) -> Iterator[KazooClient]:
    client = KazooClient(cluster.zookeeper.connect)
    client.start(10)
    try:
        yield client
    finally:
        client.stop()
        client.close()


@pytest.fixture
def znodes(cluster) -> Iterator[KazooClient]:
    with zookeeper_client(cluster) as client:
        yield client


def create(cluster: Cluster, *names: str, partitions: int = 1) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    replicas = [ALL_THREE[index:] + ALL_THREE[:index] for index in range(partitions)]
    topics = [
        NewTopic(name, partitions, replica_assignment=replicas, config={"min.insync.replicas": "2"}) for name in names
    ]
    for created in admin.create_topics(topics).values():
        created.result(30)


def without_id(**partitions: list[int]) -> bytes:
    """A topic's znode as CMAK and Kafka's tools up to 2.3 write it; partitions as `p0=[1, 2]`."""
    replicas = {name.removeprefix("p"): ids for name, ids in partitions.items()}
    return json.dumps({"version": 1, "partitions": replicas}).encode()


def id_in(znodes: KazooClient, topic: str) -> str | None:
    return json.loads(znodes.get(f"/brokers/topics/{topic}")[0]).get("topic_id")


def await_in_sync(cluster: Cluster, topic: str, partitions: int = 1) -> None:
    for index in range(partitions):
        await_true(lambda index=index: isr_of(cluster, topic, index) == {1, 2, 3}, f"{topic}-{index} is in sync")


def strays(broker: BrokerProcess, partition: str) -> list:
    return list((broker.directory / "logs").glob(f"{partition}.*-stray"))


def test_a_znode_written_anew_without_its_topic_id_gets_it_back_and_keeps_records_and_offsets(cluster, znodes, name):
    """yahoo/CMAK#900, KAFKA-14190: partitions are added by a tool that knows nothing of topic ids."""
    create(cluster, name, partitions=2)
    written = acknowledged(cluster, name, 200)
    reader = consumer(cluster, f"readers-{name}")
    reader.commit(offsets=[TopicPartition(name, 0, 17)], asynchronous=False)
    topic_id = id_in(znodes, name)
    znodes.set(f"/brokers/topics/{name}", without_id(p0=[1, 2, 3], p1=[2, 3, 1], p2=[3, 1, 2]))
    await_true(lambda: leader_of(cluster, name, 2) == 3, "the added partition has its leader")
    assert id_in(znodes, name) == topic_id
    written |= acknowledged(cluster, name, 100, start=200)
    assert stored(cluster, name, 3, 300) == written
    assert reader.committed([TopicPartition(name, 0)], timeout=30)[0].offset == 17
    reader.close()
    await_in_sync(cluster, name, partitions=3)
    assert not any(strays(broker, f"{name}-*") for broker in cluster.brokers)


def test_two_topics_made_without_ids_are_replicated_each_by_itself(cluster, znodes, name):
    """As `kafka-topics.sh --zookeeper --create` of Kafka 2.7 makes them."""
    alpha, beta = f"alpha-{name}", f"beta-{name}"
    for topic in (alpha, beta):
        znodes.create(f"/config/topics/{topic}", b'{"version":1,"config":{"min.insync.replicas":"2"}}')
        znodes.create(f"/brokers/topics/{topic}", without_id(p0=[1, 2, 3]))
    for topic in (alpha, beta):
        await_true(lambda topic=topic: leader_of(cluster, topic) == 1, f"{topic} has its leader")
    written = {topic: acknowledged(cluster, topic, count) for topic, count in ((alpha, 150), (beta, 100))}
    for topic in (alpha, beta):
        assert stored(cluster, topic, 1, len(written[topic])) == written[topic]
        await_in_sync(cluster, topic)
        await_true(lambda topic=topic: len(set(log_bytes(cluster, topic).values())) == 1, "all replicas are the same")
    assert len({id_in(znodes, alpha), id_in(znodes, beta), None}) == 3


@pytest.mark.long
def test_a_znode_written_anew_while_all_brokers_were_down_gets_the_id_that_logs_note(three_brokers):
    cluster = three_brokers
    create(cluster, "old", partitions=2)
    written = acknowledged(cluster, "old", 200)
    reader = consumer(cluster, "readers")
    reader.commit(offsets=[TopicPartition("old", 1, 5)], asynchronous=False)
    reader.close()
    cluster.stop_brokers()
    with zookeeper_client(cluster) as znodes:
        topic_id = id_in(znodes, "old")
        znodes.set("/brokers/topics/old", without_id(p0=[1, 2, 3], p1=[2, 3, 1]))
        _start_all(cluster)
        await_in_sync(cluster, "old", partitions=2)
        assert id_in(znodes, "old") == topic_id
    assert stored(cluster, "old", 2, 200) == written
    reader = consumer(cluster, "readers")
    assert reader.committed([TopicPartition("old", 1)], timeout=30)[0].offset == 5
    reader.close()


@pytest.mark.long
@pytest.mark.parametrize("disk", ["some directories are gone", "one of two disks is out of the configuration"])
def test_a_replica_that_lost_some_of_its_logs_does_not_empty_the_others(three_brokers, tmp_path, disk):
    """KAFKA-14139, of a part of the disks: the first broker that is back leads nothing it has lost."""
    cluster, first = three_brokers, three_brokers.broker(1)
    first.stop()
    one, other = f"{first.directory}/logs", f"{first.directory}/other"
    first.overrides["log.dirs"] = f"{one},{other}"
    first.start()
    first.await_healthy()
    create(cluster, "t", partitions=4)
    written = acknowledged(cluster, "t", 400)
    await_in_sync(cluster, "t", partitions=4)
    for broker in cluster.brokers:
        broker.kill()
    if disk == "some directories are gone":
        for directory in tmp_path.glob("broker-1/*/t-[02]"):
            shutil.rmtree(directory)
    else:
        first.overrides["log.dirs"] = one
    first.start()
    first.await_healthy()
    for broker in cluster.brokers[1:]:
        broker.start()
    for broker in cluster.brokers[1:]:
        broker.await_healthy()
    await_in_sync(cluster, "t", partitions=4)
    assert stored(cluster, "t", 4, 400) == written
    assert "log may lack records, left the isr" in first.log_path.read_text()


@pytest.mark.long
def test_a_directory_restored_from_a_backup_of_a_deleted_topic_is_set_aside_with_its_records(three_brokers, tmp_path):
    cluster, broker = three_brokers, three_brokers.broker(1)
    create(cluster, "t")
    acknowledged(cluster, "t", 100)
    broker.stop()
    lies_in = broker.directory / "logs" / "t-0"
    shutil.copytree(lies_in, tmp_path / "backup")
    broker.start()
    broker.await_healthy()
    await_in_sync(cluster, "t")
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.delete_topics(["t"])["t"].result(30)
    await_true(
        lambda: not any(directory.exists() for directory in _directories(cluster, "t-0")), "the topic is deleted"
    )
    create(cluster, "t")
    written = acknowledged(cluster, "t", 10, start=500)
    broker.stop()
    shutil.rmtree(lies_in)
    shutil.copytree(tmp_path / "backup", lies_in)
    broker.start()
    broker.await_healthy()
    await_in_sync(cluster, "t")
    (aside,) = strays(broker, "t-0")
    assert b"value-99" in b"".join(path.read_bytes() for path in aside.glob("*.log"))
    assert stored(cluster, "t", 1, 10) == written
    assert "barnabas_broker_stray_logs 1.0" in broker.get("/metrics")
    broker.stop()
    broker.start()
    broker.await_healthy()
    assert broker.log_path.read_text().count(f"path={aside}") >= 2, "each start names it"
    assert aside.exists()


def _start_all(cluster: Cluster) -> None:
    for broker in cluster.brokers:
        broker.start()
    for broker in cluster.brokers:
        broker.await_healthy()


def _directories(cluster: Cluster, partition: str) -> list:
    return [broker.directory / "logs" / partition for broker in cluster.brokers]
