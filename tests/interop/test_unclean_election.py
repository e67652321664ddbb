"""All in-sync replicas are dead, and only one that had fallen behind is alive (row 26 of the fault matrix); or disks
are lost while all brokers are down: the last to start must not take the others' records along.
"""

import shutil

import pytest
from confluent_kafka import ElectionType, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)
from kazoo.client import KazooClient

from broker.log.directory import LOCK_FILE
from tests.barnabas_cluster import Cluster, await_true, running_cluster
from tests.interop.replicas import isr_of, leader_of, log_bytes
from tests.interop.test_restart import stored

RECORDS = {(0, number): b"record %d" % number for number in range(200)}
UNCLEAN = "unclean.leader.election.enable"


@pytest.fixture
def cluster(request, tmp_path, zookeeper):
    """Of two brokers, unless the test is parametrized with another number."""
    brokers = getattr(request, "param", 2)
    with running_cluster(
        tmp_path, brokers=brokers, overrides={"replica.lag.time.max.ms": "1500"}, zookeeper=zookeeper
    ) as running:
        yield running


def produce(cluster, *values: bytes) -> None:
    errors = []
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "acks": "all"})
    for value in values:
        producer.produce("t", value, on_delivery=lambda error, _: error and errors.append(error))
    assert producer.flush(30) == 0
    assert errors == []


def allow_unclean_election(cluster) -> None:
    entry = ConfigEntry(UNCLEAN, "true", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, "t", incremental_configs=[entry])
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.incremental_alter_configs([resource])[resource].result(20)


@pytest.mark.long
def test_stale_replica_leads_only_when_the_topic_allows_it_and_the_other_then_follows(cluster):
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.create_topics([NewTopic("t", 1, replica_assignment=[[1, 2]])])["t"].result(20)
    produce(cluster, b"both have it")
    complete, stale = cluster.broker(1), cluster.broker(2)
    await_true(lambda: len(set(log_bytes(cluster, "t").values())) == 1, "both replicas are equal")
    stale.kill()
    await_true(lambda: isr_of(cluster, "t") == {1}, "broker 2 is out")
    produce(cluster, b"only 1 has it", b"and this")
    complete.kill()
    stale.start()
    stale.await_healthy()
    await_true(lambda: (leader_of(cluster, "t"), isr_of(cluster, "t")) == (-1, {1}), "nobody leads")
    allow_unclean_election(cluster)
    await_true(lambda: (leader_of(cluster, "t"), isr_of(cluster, "t")) == (2, {2}), "broker 2 leads")
    assert 'event="unclean election' in stale.log_path.read_text()
    await_true(lambda: "unclean_leader_elections_total 1.0" in stale.get("/metrics"), "it is counted")
    produce(cluster, b"in the new epoch")
    complete.start()
    complete.await_healthy()
    await_true(lambda: isr_of(cluster, "t") == {1, 2}, "in sync again")
    await_true(lambda: len(set(log_bytes(cluster, "t").values())) == 1, "both replicas are equal again")
    assert stored(cluster, "t", 1, 2) == {(0, 0): b"both have it", (0, 1): b"in the new epoch"}


def write_everywhere(cluster: Cluster) -> None:
    """Acknowledged by all; broker 1 is preferred, and broker 3 before broker 2."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.create_topics([NewTopic("t", 1, replica_assignment=[[1, 3, 2]])])["t"].result(20)
    produce(cluster, *RECORDS.values())
    await_true(lambda: len(set(log_bytes(cluster, "t").values())) == 1, "all replicas have everything")


def lose_the_disk(cluster: Cluster, broker_id: int) -> None:
    for log_dir in cluster.broker(broker_id).log_dirs:
        shutil.rmtree(log_dir)


def start(cluster: Cluster, *broker_ids: int) -> None:
    for broker_id in broker_ids:
        cluster.broker(broker_id).start()
        cluster.broker(broker_id).await_healthy()


def await_no_registration(cluster: Cluster) -> None:
    client = KazooClient(hosts=cluster.zookeeper.connect)
    client.start(timeout=20)
    await_true(lambda: client.get_children("/brokers/ids") == [], "ZooKeeper has ended all sessions")
    client.stop()
    client.close()


def metric(cluster: Cluster, broker_id: int, name: str) -> float:
    lines = cluster.broker(broker_id).get("/metrics").splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith(f"barnabas_broker_{name} "))


def await_whole(cluster: Cluster, records: dict[tuple[int, int], bytes]) -> None:
    await_true(lambda: isr_of(cluster, "t") == {1, 2, 3}, "all are in sync again")
    await_true(lambda: len(set(log_bytes(cluster, "t").values())) == 1, "all replicas are equal again")
    assert stored(cluster, "t", 1, len(records)) == records


@pytest.mark.long
@pytest.mark.parametrize("cluster", [3], indirect=True)
def test_the_last_in_sync_broker_that_lost_its_disk_leads_nothing_until_another_replica_is_elected(cluster):
    write_everywhere(cluster)
    cluster.broker(3).stop()
    more = {(0, len(RECORDS) + number): b"without broker 3: %d" % number for number in range(50)}
    produce(cluster, *more.values())
    await_true(lambda: log_bytes(cluster, "t")[1] == log_bytes(cluster, "t")[2], "broker 2 has all, broker 3 has not")
    for broker_id in (2, 1):
        cluster.broker(broker_id).stop()
    lose_the_disk(cluster, 1)
    start(cluster, 2, 3, 1)
    last = cluster.broker(1)
    await_true(lambda: 'event="cannot host partition" partition=t-0' in last.log_path.read_text(), "it refuses to lead")
    await_true(lambda: (leader_of(cluster, "t"), isr_of(cluster, "t")) == (-1, {1}), "no replica leads")
    assert metric(cluster, 1, "logs_missing") == 1
    assert log_bytes(cluster, "t").keys() == {2, 3}, "it makes no log"
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    elected = admin.elect_leaders(ElectionType.UNCLEAN, [TopicPartition("t", 0)]).result(20)
    assert [error for error in elected.values() if error is not None] == []
    assert leader_of(cluster, "t") == 2, "broker 3 comes first in the assignment, and has less"
    await_whole(cluster, RECORDS | more)
    assert metric(cluster, 1, "logs_missing") == 0


@pytest.mark.long
@pytest.mark.parametrize("cluster", [3], indirect=True)
def test_after_a_power_loss_everywhere_the_log_that_reaches_furthest_leads_whoever_starts_last(cluster):
    """The disk of one machine is gone, another has lost the end of its log: the third has everything."""
    write_everywhere(cluster)
    for broker in cluster.brokers:
        broker.kill()
        (broker.directory / "logs" / LOCK_FILE).write_text("the start of the machine before")
    (path,) = (cluster.broker(3).directory / "logs" / "t-0").glob("*.log")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    lose_the_disk(cluster, 1)
    await_no_registration(cluster)
    start(cluster, 2, 3, 1)
    await_true(lambda: leader_of(cluster, "t") == 2, "the furthest log leads")
    await_whole(cluster, RECORDS)
