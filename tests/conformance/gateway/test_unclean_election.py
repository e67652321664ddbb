"""An unclean election of a real cluster, as the console sees it: over the wire, and in ZooKeeper until it is healed."""

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from console.kit.gateway.zookeeper.leader_recovery import LeaderRecovery
from console.kit.gateway.zookeeper.znodes import KazooGateway
from console.state.clusters.topic_looks import TopicLooks
from console.state.clusters.topic_rows import compare
from console.state.history.unclean import Sign, UncleanWatch
from tests.barnabas_cluster import await_true, running_cluster
from tests.conformance.gateway.real import kafka_gateway
from tests.interop.replicas import isr_of, leader_of, log_bytes
from tests.interop.test_unclean_election import allow_unclean_election, produce


@pytest.fixture
def cluster(tmp_path, zookeeper):
    overrides = {"replica.lag.time.max.ms": "1500"}
    with running_cluster(tmp_path, brokers=2, overrides=overrides, zookeeper=zookeeper) as running:
        yield running


def test_what_was_lost_is_told_by_two_looks_and_zookeeper_knows_until_a_replica_is_back(cluster):
    gateway, zookeeper = kafka_gateway(cluster), KazooGateway(cluster.zookeeper.connect)
    is_recovering, watch, looks = LeaderRecovery(zookeeper), UncleanWatch(), TopicLooks()
    known, at_ms, results = {}, 0, []

    def look() -> bool:
        nonlocal known, at_ms
        at_ms += 1_000
        rows = looks.look(gateway.describe_topics(), known, at_ms)
        results.extend(watch.look(known, compare(known, rows), is_next_look=True, is_recovering=is_recovering))
        known = rows
        return bool(results)

    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.create_topics([NewTopic("t", 1, replica_assignment=[[1, 2]])])["t"].result(20)
    complete, stale = cluster.broker(1), cluster.broker(2)
    produce(cluster, b"both have it")
    await_true(lambda: len(set(log_bytes(cluster, "t").values())) == 1, "both replicas are equal")
    stale.kill()
    await_true(lambda: isr_of(cluster, "t") == {1}, "broker 2 is out")
    produce(cluster, b"only 1 has it", b"and this")
    await_true(lambda: not look() and known["t"].partitions[0].next_offset == 3, "the console has seen all three")
    assert not is_recovering("t", 0)
    complete.kill()
    stale.start()
    stale.await_healthy()
    await_true(lambda: not look() and leader_of(cluster, "t") == -1, "nobody leads")
    allow_unclean_election(cluster)
    await_true(look, "the console has seen the election")
    (election,) = results
    assert (election.sign, election.leader, election.leader_before, election.lost) == (Sign.WENT_BACK, 2, 1, 2)
    assert is_recovering("t", 0)
    complete.start()
    complete.await_healthy()
    await_true(lambda: isr_of(cluster, "t") == {1, 2}, "in sync again")
    await_true(lambda: not is_recovering("t", 0), "ZooKeeper has forgotten it")
    assert not is_recovering("none", 0)
    look()
    assert len(results) == 1
    zookeeper.close()
    gateway.close()
