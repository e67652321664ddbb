"""`kafka-broker-api-versions`, `kafka-cluster`, `kafka-features`: what a cluster of ours tells Kafka's tools."""

import json
import re

import pytest
from confluent_kafka.admin import AdminClient

from tests.typed import typed


@pytest.fixture
def run_command(cluster):
    return lambda name, *words: typed(name, *words, "--bootstrap-server", cluster.bootstrap_servers)


def test_every_broker_tells_its_apis_and_our_own_have_names(cluster, run_command):
    outcome = run_command("kafka-broker-api-versions")
    assert (outcome.status, outcome.err) == (0, "")
    heads = re.findall(r"^(\S+) \(id: (\d) rack: null\) -> \($", outcome.out, re.MULTILINE)
    assert heads == [(f"{broker.host}:{broker.port}", str(broker.broker_id)) for broker in cluster.brokers]
    lines = outcome.out.split("\n)\n")[0].splitlines()
    assert lines[1] == "\tProduce(0): 0 to 13 [usable: 13],"
    assert "\tLeaderAndIsr(4): UNSUPPORTED," in lines
    assert "\tAlterPartitionReassignments(45): 0 to 1 [usable: 1]," in lines
    assert lines[-2:] == [
        "\tDescribeRequests(20001): 0 to 5 [usable: 5],",
        "\tDescribeClientTraffic(20002): 0 [usable: 0]",
    ]
    assert "UNKNOWN" not in outcome.out
    described = json.loads(run_command("kafka-broker-api-versions", "--output", "json").out)
    assert {"key": 0, "name": "Produce", "min": 0, "max": 13, "usable": 13} in described[0]["apis"]


def test_the_id_of_the_cluster_is_what_another_client_says(cluster, run_command):
    client = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    known = client.describe_cluster().result(30).cluster_id
    assert run_command("kafka-cluster", "cluster-id") == (0, f"Cluster ID: {known}\n", "")


def test_features_are_described_as_a_new_cluster_finalizes_them(run_command):
    described = run_command("kafka-features", "describe").out
    for name, level in (("eligible.leader.replicas.version", 1), ("group.version", 1), ("transaction.version", 2)):
        versions = f"SupportedMinVersion: 0\tSupportedMaxVersion: {level}\tFinalizedVersionLevel: {level}"
        assert f"Feature: {name}\t{versions}\tEpoch: " in described


def test_what_only_kraft_has_is_one_sentence(run_command):
    unregistered = run_command("kafka-cluster", "unregister", "--id", "9")
    assert unregistered.status == 1
    assert "Broker ID 9 is not currently registered" in unregistered.err
    changed = run_command("kafka-features", "upgrade", "--metadata", "3.8")
    assert (changed.status, "metadata.version" in changed.out) == (1, True)
    wrong = run_command("kafka-features", "upgrade", "--metadata", "2.8")
    assert "known are 3.0-IV1 to 3.9-IV0" in wrong.err
