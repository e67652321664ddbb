"""What a mirror's clients make of a cluster that is away."""

import pytest
from confluent_kafka import KafkaException

from broker.mirror.clusters import read_address
from tests.zookeeper_server import free_ports


def test_clients_of_a_cluster_that_is_away_fill_no_log(capfd):
    (port,) = free_ports(1)
    admin = read_address("south", {"bootstrap.servers": f"127.0.0.1:{port}"}).admin()
    with pytest.raises(KafkaException):
        admin.list_topics(timeout=0.3)
    # Clients of other tests may live as long as this process does.
    assert [line for line in capfd.readouterr().err.splitlines() if f":{port}" in line] == []
