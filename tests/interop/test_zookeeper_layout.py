"""ZooKeeper looks as a Kafka user expects, read by a client of its own."""

import json

import pytest
from kazoo.client import KazooClient

from tests.interop.test_confluent_kafka import create_topic


@pytest.fixture
def znodes(cluster):
    client = KazooClient(cluster.zookeeper.connect)
    client.start(10)
    yield client
    client.stop()
    client.close()


def content(znodes, path):
    return json.loads(znodes.get(path)[0])


def test_ls_brokers_shows_what_kafka_shows(znodes):
    assert sorted(znodes.get_children("/brokers")) == ["ids", "seqid", "topics"]
    assert sorted(znodes.get_children("/brokers/ids")) == ["1", "2", "3"]


def test_ls_root_shows_what_kafka_shows(znodes):
    expected = {"admin", "brokers", "cluster", "config", "consumers", "controller", "controller_epoch"}
    assert expected <= set(znodes.get_children("/"))


def test_a_broker_is_ephemeral_and_tells_its_address(cluster, znodes):
    data, stat = znodes.get("/brokers/ids/2")
    broker = json.loads(data)
    assert stat.ephemeralOwner != 0
    assert broker["version"] == 5
    assert (broker["host"], broker["port"]) == ("127.0.0.1", cluster.broker(2).port)
    assert broker["endpoints"][0] == f"PLAINTEXT://127.0.0.1:{cluster.broker(2).port}"


def test_there_is_one_controller_with_an_epoch(znodes):
    assert content(znodes, "/controller")["brokerid"] in {1, 2, 3}
    assert int(znodes.get("/controller_epoch")[0]) >= 1


def test_a_topic_has_its_assignment_and_the_state_of_each_partition(cluster, znodes, name):
    create_topic(cluster, name, partitions=2)
    topic = content(znodes, f"/brokers/topics/{name}")
    assert topic["version"] == 3
    assert sorted(topic["partitions"]) == ["0", "1"]
    for index, replicas in topic["partitions"].items():
        state = content(znodes, f"/brokers/topics/{name}/partitions/{index}/state")
        assert (state["leader"], state["isr"]) == (replicas[0], replicas)
    assert content(znodes, f"/config/topics/{name}") == {"version": 1, "config": {}}
