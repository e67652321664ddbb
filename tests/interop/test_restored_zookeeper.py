"""ZooKeeper brought back from a backup while all brokers were down: its partition states are older than the logs."""

import pytest
from kazoo.client import KazooClient

from tests.barnabas_cluster import await_true
from tests.interop.replicas import isr_of
from tests.interop.test_restart import acknowledged, stored
from tests.interop.test_topic_ids import create

STATE = "/brokers/topics/t/partitions/0/state"


@pytest.mark.long
def test_a_partition_goes_on_with_the_state_of_a_backup_and_keeps_what_was_acknowledged_since(three_brokers):
    cluster = three_brokers
    create(cluster, "t")
    written = acknowledged(cluster, "t", 100)
    znodes = KazooClient(cluster.zookeeper.connect)
    znodes.start(10)
    backup, _ = znodes.get(STATE)
    for number, broker in enumerate(cluster.brokers, start=1):
        broker.stop()
        broker.start()
        broker.await_healthy()
        await_true(lambda: isr_of(cluster, "t", 0) == {1, 2, 3}, "all are in sync")
        written |= acknowledged(cluster, "t", 100, start=number * 100)
    cluster.stop_brokers()
    znodes.set(STATE, backup)
    znodes.stop()
    znodes.close()
    for broker in cluster.brokers:
        broker.start()
    for broker in cluster.brokers:
        broker.await_healthy()
    written |= acknowledged(cluster, "t", 100, start=400)
    await_true(lambda: isr_of(cluster, "t", 0) == {1, 2, 3}, "followers take what the leader writes")
    assert stored(cluster, "t", 1, 500) == written
    assert not list(cluster.broker(1).directory.parent.glob("broker-*/logs/t-0.*-stray"))
