"""Brokers whose disks are small file systems in memory, filled by another file: a full leader hands over, and comes
back; three full ones keep their leaders and lose nothing.
"""

import contextlib
import os
from types import SimpleNamespace

import pytest
from confluent_kafka import Consumer, ElectionType, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from kazoo.client import KazooClient

from broker.common.types import TopicPartition as OwnTopicPartition
from broker.zookeeper.znodes import decode_state, state_path
from tests.barnabas_cluster import await_true
from tests.faults.matrix.disk_row import cluster_with_small_disks, missing_for_a_small_disk

pytestmark = pytest.mark.skipif(bool(missing_for_a_small_disk()), reason="needs root, to mount a file system")

TOPIC, SINGLE = "three-replicas", "one-replica"
#: Larger than what the other file leaves.
PAYLOAD = os.urandom(100_000)


@pytest.fixture
def small(request, tmp_path, zookeeper):
    """Three brokers; those of the parameter have small disks. Broker 1 leads both topics."""
    overrides = {"replica.lag.time.max.ms": "3000", "min.insync.replicas": "1"}
    with cluster_with_small_disks(tmp_path, overrides, request.param, zookeeper) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
        topics = [
            NewTopic(TOPIC, 1, replica_assignment=[[1, 2, 3]]),
            NewTopic(SINGLE, 1, replica_assignment=[[1]]),
        ]
        for future in admin.create_topics(topics).values():
            future.result(30)
        with asked_zookeeper(cluster.zookeeper.connect) as client:

            def state():
                data, stat = client.retry(client.get, state_path(OwnTopicPartition(TOPIC, 0)))
                return decode_state(OwnTopicPartition(TOPIC, 0), data, stat.version)

            yield SimpleNamespace(cluster=cluster, admin=admin, state=state)


@contextlib.contextmanager
def asked_zookeeper(connect):
    client = KazooClient(hosts=connect)
    client.start(timeout=20)
    try:
        yield client
    finally:
        client.stop()
        client.close()


@contextlib.contextmanager
def filled(cluster, broker_id, left_bytes=20_000):
    path = cluster.broker(broker_id).directory / "logs"
    disk, ballast = os.statvfs(path), path / "ballast"
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, disk.f_bavail * disk.f_frsize - left_bytes)
    try:
        yield
    finally:
        ballast.unlink()


def written(cluster, topic, count, timeout_s=15):
    """How many of `count` records were acknowledged by all in-sync replicas."""
    outcomes = []
    producer = Producer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "acks": "all",
            "enable.idempotence": True,
            "message.timeout.ms": int(timeout_s * 1000),
            "log_level": 0,
        }
    )
    for _ in range(count):
        producer.produce(topic, PAYLOAD, partition=0, on_delivery=lambda error, _message: outcomes.append(error))
    producer.flush(timeout_s + 5)
    assert len(outcomes) == count
    return sum(error is None for error in outcomes)


def records_in(cluster, topic):
    """All of the topic's records, which are read; no group is asked for, whose topic would need room."""
    settings = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g", "enable.auto.commit": False}
    consumer = Consumer({**settings, "log_level": 0})
    try:
        partition = TopicPartition(topic, 0, 0)
        _, end = consumer.get_watermark_offsets(partition, timeout=20)
        consumer.assign([partition])
        results = []
        await_true(lambda: results.extend(consumer.consume(100, timeout=1)) or len(results) >= end, "all is read", 20)
        assert not [message.error() for message in results if message.error() is not None]
        return end
    finally:
        consumer.close()


def metric(cluster, broker_id, name):
    lines = cluster.broker(broker_id).get("/metrics").splitlines()
    [value] = [line.rpartition(" ")[2] for line in lines if line.startswith(f"barnabas_broker_{name}{{")]
    return float(value)


def log_of(cluster, broker_id):
    return cluster.broker(broker_id).log_path.read_text()


def preferred_leader_is_back(small):
    """Nobody waits for the rebalance, which looks every five minutes."""
    with contextlib.suppress(KafkaException):
        small.admin.elect_leaders(ElectionType.PREFERRED, [TopicPartition(TOPIC, 0)]).result(10)
    return small.state().leader == 1


@pytest.mark.parametrize("small", [(1,)], indirect=True)
def test_a_leader_with_a_full_disk_hands_over_and_writes_go_on(small):
    cluster = small.cluster
    assert written(cluster, TOPIC, 3) == 3
    with filled(cluster, 1):
        assert written(cluster, TOPIC, 10) == 10, "all of them, and each by the in-sync replicas with room"
        state = small.state()
        assert (state.leader, set(state.isr)) == (2, {2, 3})
        assert metric(cluster, 1, "log_dir_full") == 1
        assert "log directory full" in log_of(cluster, 1)
        assert written(cluster, SINGLE, 1, timeout_s=2) == 0, "what has no other replica is refused as before"
    await_true(lambda: set(small.state().isr) == {1, 2, 3}, "the ISR is whole")
    assert small.state().leader == 2, "one election"
    assert records_in(cluster, TOPIC) == 13


@pytest.mark.long
@pytest.mark.parametrize("small", [(1,)], indirect=True)
def test_a_preferred_leader_comes_back_once_it_has_had_room_for_a_while(small):
    cluster = small.cluster
    with filled(cluster, 1):
        assert written(cluster, TOPIC, 5) == 5
        assert not preferred_leader_is_back(small)
    await_true(lambda: preferred_leader_is_back(small), "the preferred leader is back", 60)
    assert metric(cluster, 1, "log_dir_full") == 0
    assert written(cluster, TOPIC, 5) == 5
    assert written(cluster, SINGLE, 1) == 1
    assert records_in(cluster, TOPIC) == 10


@pytest.mark.long
@pytest.mark.parametrize("small", [(1,)], indirect=True)
def test_a_broker_that_starts_on_a_full_disk_leads_only_what_nobody_else_can(small):
    cluster = small.cluster
    assert written(cluster, SINGLE, 3) == 3
    with filled(cluster, 1):
        assert written(cluster, TOPIC, 5) == 5
        cluster.broker(1).kill()
        cluster.broker(1).start()
        cluster.broker(1).await_healthy()
        await_true(lambda: metric(cluster, 1, "log_dir_full") == 1, "it says so before anything is written")
        assert not preferred_leader_is_back(small)
        assert records_in(cluster, SINGLE) == 3, "it serves what only it can lead"
        assert written(cluster, SINGLE, 1, timeout_s=3) == 0
        assert written(cluster, TOPIC, 5) == 5
    await_true(lambda: preferred_leader_is_back(small), "the preferred leader is back", 60)
    assert records_in(cluster, TOPIC) == 10


@pytest.mark.long
@pytest.mark.parametrize("small", [(1, 2, 3)], indirect=True)
def test_three_full_disks_keep_a_leader_that_serves_reads_and_do_not_pass_leadership_around(small):
    cluster = small.cluster
    assert written(cluster, TOPIC, 5) == 5
    with contextlib.ExitStack() as ballast:
        for broker_id in (1, 2, 3):
            ballast.enter_context(filled(cluster, broker_id))
        assert written(cluster, TOPIC, 20, timeout_s=15) == 0
        epoch = small.state().leader_epoch
        assert epoch <= 3, "each broker has handed over at most once"
        assert written(cluster, TOPIC, 20, timeout_s=15) == 0
        assert small.state().leader_epoch == epoch
        assert small.state().has_leader
        assert records_in(cluster, TOPIC) >= 5
    await_true(lambda: set(small.state().isr) == {1, 2, 3}, "the ISR is whole", 60)
    assert written(cluster, TOPIC, 5) == 5
    assert small.state().leader_epoch <= epoch + 1
    assert records_in(cluster, TOPIC) >= 10
