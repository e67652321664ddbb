"""`kafka-leader-election` and `kafka-preferred-replica-election`, on topics that another client made."""

import json

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.barnabas_cluster import await_true
from tests.typed import typed


@pytest.fixture
def topic(cluster, name):
    """Two partitions whose replicas were turned round while brokers 1 and 2 led them: 2 and 3 are preferred."""
    client = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    client.create_topics([NewTopic(name, num_partitions=2, replica_assignment=[[1, 2], [2, 3]])])[name].result(30)
    return name


@pytest.fixture
def turned(cluster, topic, tmp_path):
    turned = [
        {"topic": topic, "partition": 0, "replicas": [2, 1]},
        {"topic": topic, "partition": 1, "replicas": [3, 2]},
    ]
    plan = tmp_path / "turned.json"
    plan.write_text(json.dumps({"version": 1, "partitions": turned}))
    reassign = ("kafka-reassign-partitions", "--bootstrap-server", cluster.bootstrap_servers)
    assert typed(*reassign, "--execute", "--reassignment-json-file", str(plan)).status == 0
    await_true(lambda: topic not in typed(*reassign, "--list").out, "the replicas are turned round")
    return topic


def elect(cluster, *words: str):
    return typed("kafka-leader-election", "--bootstrap-server", cluster.bootstrap_servers, *words)


def leaders(cluster, topic: str) -> list[int]:
    partitions = AdminClient({"bootstrap.servers": cluster.bootstrap_servers}).list_topics(topic, 10).topics[topic]
    return [partitions.partitions[at].leader for at in sorted(partitions.partitions)]


def test_the_preferred_replicas_lead_again_and_whoever_leads_already_is_told(cluster, turned, tmp_path):
    named = tmp_path / "partitions.json"
    named.write_text(json.dumps({"partitions": [{"topic": turned, "partition": at} for at in (1, 0)]}))
    one = elect(cluster, "--election-type", "PREFERRED", "--topic", turned, "--partition", "0")
    assert one == (0, f"Successfully completed leader election (PREFERRED) for partitions {turned}-0\n", "")
    both = elect(cluster, "--election-type", "preferred", "--path-to-json-file", str(named))
    assert both.out == (
        f"Successfully completed leader election (PREFERRED) for partitions {turned}-1\n"
        f"Valid replica already elected for partitions {turned}-0\n"
    )
    await_true(lambda: leaders(cluster, turned) == [2, 3], "the preferred replicas lead")
    assert elect(cluster, "--election-type", "preferred", "--all-topic-partitions").err == ""


def test_what_is_not_there_is_named_and_the_status_is_1(cluster, name):
    refused = elect(cluster, "--election-type", "unclean", "--topic", name, "--partition", "0")
    assert refused.status == 1
    assert refused.out.startswith(
        f"Error completing leader election (UNCLEAN) for partition: {name}-0: "
        "org.apache.kafka.common.errors.UnknownTopicOrPartitionException: "
    )
    assert refused.err == "1 replica(s) could not be elected\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("--election-type", "preferred"),
            "One and only one of the following options is required: topic, all-topic-partitions, path-to-json-file",
        ),
        (("--all-topic-partitions",), 'Missing required argument "[election-type]"'),
        (("--election-type", "best", "--all-topic-partitions"), "it is preferred or unclean"),
        (
            ("--election-type", "preferred", "--topic", "t"),
            "Missing required option(s): partition (it belongs to --topic)",
        ),
        (("--election-type", "preferred", "--path-to-json-file", "/nowhere"), "/nowhere cannot be read"),
    ],
)
def test_what_cannot_be_meant_is_said_before_a_broker_is_asked(words, sentence):
    refused = typed("kafka-leader-election", "--bootstrap-server", "127.0.0.1:1", *words)
    assert (refused.status, refused.out) == (1, "")
    assert sentence in refused.err


def test_the_zookeeper_generation_elects_and_skips_what_is_not_there(cluster, turned, tmp_path):
    named = tmp_path / "partitions.json"
    named.write_text(json.dumps({"partitions": [{"topic": turned, "partition": at} for at in (0, 1, 9)]}))
    zookeeper = cluster.brokers[0].zookeeper_connect
    elected = typed("kafka-preferred-replica-election", "--zookeeper", zookeeper, "--path-to-json-file", str(named))
    assert elected.out.splitlines() == [
        "This tool is deprecated. Please use kafka-leader-election tool. Tracking issue: KAFKA-8405",
        f"Skipping preferred replica leader election for partition {turned}-9 since it doesn't exist.",
        f"Successfully started preferred replica election for partitions Set({turned}-0, {turned}-1)",
    ]
    assert (elected.status, elected.err) == (0, "")
    again = typed(
        "kafka-preferred-replica-election", "--bootstrap-server", cluster.bootstrap_servers,
        "--path-to-json-file", str(named),
    )  # fmt: skip
    assert again.status == 1
    assert f"Preferred replica already elected for partitions {turned}-0, {turned}-1\n" in again.out
