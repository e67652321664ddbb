"""Apache Kafka itself runs beside: commands of ours work on it, and its last release with ZooKeeper on an ensemble."""

import pytest
from kazoo.client import KazooClient

from broker.zookeeper.znodes import broker_path
from tests.apache_kafka import running_kafka
from tests.fetched import KAFKA_WITH_ZOOKEEPER
from tests.typed import typed_in_shell

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


def test_our_commands_work_on_apache_kafka(apache_kafka):
    for command, shown in (
        ("kafka-topics --create --topic beside --partitions 2", "Created topic beside."),
        ("kafka-topics --describe --topic beside", "PartitionCount: 2"),
        ("kafka-producer-perf-test --topic beside --num-records 9 --record-size 9 --throughput -1", "9 records sent"),
    ):
        name, *words = command.split()
        ended = typed_in_shell(name, *words, "--bootstrap-server", apache_kafka)
        assert (ended.status, shown in ended.out) == (0, True), ended


def test_the_last_kafka_with_zookeeper_registers_in_our_ensemble(tmp_path, zookeeper):
    ensemble = f"{zookeeper.connect}/{tmp_path.name}"
    with running_kafka(tmp_path, name=KAFKA_WITH_ZOOKEEPER, zookeeper=ensemble, broker_id=11):
        client = KazooClient(hosts=ensemble)
        client.start(timeout=20)
        try:
            assert client.exists(broker_path(11))
        finally:
            client.stop()
            client.close()
