"""Row 26 of the fault matrix: all in-sync replicas are dead, and only one that had fallen behind is alive."""

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from tests.barnabas_cluster import await_true, running_cluster
from tests.interop.replicas import isr_of, leader_of, log_bytes
from tests.interop.test_restart import stored

UNCLEAN = "unclean.leader.election.enable"


@pytest.fixture
def cluster(tmp_path, zookeeper):
    with running_cluster(
        tmp_path, brokers=2, overrides={"replica.lag.time.max.ms": "1500"}, zookeeper=zookeeper
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
