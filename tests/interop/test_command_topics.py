import json

import pytest

from tests.barnabas_cluster import await_true
from tests.typed import typed, typed_in_shell


@pytest.fixture
def topics(cluster):
    """`kafka-topics` on the cluster."""
    return lambda *words: typed("kafka-topics", "--bootstrap-server", cluster.bootstrap_servers, *words)


def test_a_topic_is_created_listed_described_enlarged_and_deleted(topics, name):
    created = topics("--create", "--topic", name, "--partitions", "2", "--replication-factor", "3")
    assert created == (0, f"Created topic {name}.\n", "")
    assert name in topics("--list").out.split()
    assert topics("--alter", "--topic", name, "--partitions", "4") == (0, "", "")
    head, *partitions = topics("--describe", "--topic", name).out.splitlines()
    assert head.startswith(f"Topic: {name}\tTopicId: ")
    assert head.endswith("\tPartitionCount: 4\tReplicationFactor: 3\tConfigs: min.insync.replicas=1")
    assert [line.split()[3] for line in partitions] == ["0", "1", "2", "3"]
    assert all(sorted(line.split()[7].split(",")) == ["1", "2", "3"] for line in partitions)
    assert topics("--delete", "--topic", name) == (0, "", "")
    await_true(lambda: name not in topics("--list").out.split(), "the topic is gone")


def test_the_zookeeper_generation_finds_the_same_cluster_and_says_what_it_said(cluster, topics, name):
    zookeeper = cluster.brokers[0].zookeeper_connect
    created = typed_in_shell(
        "kafka-topics.sh", "-create", "--zookeeper", zookeeper, "--replication-factor=2", "-partitions", "1",
        "--topic", name, "--config", "retention.ms=1000000",
    )  # fmt: skip
    assert created == (0, f"Created topic {name}.\n", "")
    assert name in typed("kafka-topics", "--zookeeper", zookeeper, "--list").out.split()
    altered = typed(
        "kafka-topics", "--zookeeper", zookeeper, "--alter", "--topic", name, "--config", "cleanup.policy=compact"
    )
    assert altered.status == 0
    assert f"Updated config for topic {name}.\n" in altered.out
    await_true(
        lambda: (
            "cleanup.policy=compact,min.insync.replicas=1,retention.ms=1000000"
            in topics("--describe", "--topic", name).out
        ),
        "the settings are described",
    )
    deleted = typed("kafka-topics", "--zookeeper", zookeeper, "--delete", "--topic", name)
    assert deleted.out.startswith(f"Topic {name} is marked for deletion.\nNote: ")


def test_an_option_typed_with_a_long_dash_is_taken_for_what_was_meant(cluster):
    listed = typed("kafka-topics", "–bootstrap-server", cluster.bootstrap_servers, "—list")
    assert listed.status == 0
    assert "–bootstrap-server is typed with a long dash; it is taken for --bootstrap-server." in listed.err


def test_what_is_refused_is_one_sentence_where_scripts_look_for_it(topics, name):
    topics("--create", "--topic", name)
    assert topics("--create", "--topic", name) == (
        1,
        f"Error while executing topic command : Topic '{name}' already exists.\n",
        "",
    )
    assert topics("--create", "--if-not-exists", "--topic", name) == (0, "", "")
    assert topics("--describe", "--topic", f"{name}-x") == (
        1,
        f"Error while executing topic command : Topic '{name}-x' does not exist as expected\n",
        "",
    )
    assert topics("--delete", "--if-exists", "--topic", f"{name}-x") == (0, "", "")
    refused = topics("--create", "--topic", f"{name}-y", "--config", "retention.ms=soon")
    assert refused.status == 1
    assert "retention.ms" in refused.out
    assert refused.err == ""


def test_filters_print_partitions_only_and_nothing_when_all_is_well(topics, name):
    topics("--create", "--topic", name, "--replication-factor", "3", "--config", "min.insync.replicas=3")
    describe = ("--describe", "--topic", name)
    await_true(lambda: not topics(*describe, "--under-replicated-partitions").out, "all are in sync")
    assert topics(*describe, "--unavailable-partitions").out == ""
    assert topics(*describe, "--under-min-isr-partitions").out == ""
    assert topics(*describe, "--at-min-isr-partitions").out.startswith(f"\tTopic: {name}\tPartition: 0")
    assert topics(*describe, "--topics-with-overrides").out.count("\n") == 1


def test_a_program_gets_json(topics, name):
    topics("--create", "--topic", name, "--replication-factor", "2")
    (described,) = json.loads(topics("--describe", "--topic", name, "--output", "json").out)
    assert described["topic"] == name
    assert described["replicationFactor"] == 2
    assert sorted(described["partitions"][0]["isr"]) == sorted(described["partitions"][0]["replicas"])


def test_names_are_regular_expressions_of_whole_names(topics, name):
    for end in ("a", "b", "ab"):
        topics("--create", "--topic", f"{name}{end}")
    assert topics("--list", "--topic", f"{name}a,{name}b").out.split() == [f"{name}a", f"{name}b"]
    assert topics("--list", "--topic", f"{name}.").out.split() == [f"{name}a", f"{name}b"]
