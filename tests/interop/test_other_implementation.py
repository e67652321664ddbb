"""Commands on brokers that are not ours: librdkafka's own, which serve producers, consumers and little else. What they
do not serve is one sentence and no traceback, and what they do works.
"""

import json

import pytest

from tests.broker.connect.mock_cluster import mock_cluster, produce_all
from tests.typed import typed, typed_in_shell

TOPIC = "orders"


@pytest.fixture(scope="module")
def servers():
    with mock_cluster(TOPIC) as cluster:
        produce_all(cluster.bootstrap_servers, TOPIC, [b"%d" % number for number in range(100)], key=b"k")
        yield cluster.bootstrap_servers


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("kafka-topics --list", TOPIC),
        ("kafka-get-offsets --topic orders", "orders:1:100"),
        ("kafka-cluster cluster-id", "Cluster ID: mockCluster"),
        ("kafka-broker-api-versions", "Produce(0): 0 to "),
        ("kafka-console-consumer --topic orders --from-beginning --max-messages 2", "0\n1\n"),
        ("kafka-verifiable-producer --topic orders --max-messages 3", "producer_send_success"),
        ("kafka-consumer-perf-test --topic orders --messages 3", "start.time, end.time, "),
        ("kafka-producer-perf-test --topic orders --num-records 9 --record-size 9 --throughput -1", "9 records sent"),
    ],
)
def test_what_any_broker_serves_works(servers, command, shown):
    name, *words = command.split()
    typed_there = typed_in_shell(name, *words, "--bootstrap-server", servers)
    assert (typed_there.status, shown in typed_there.out) == (0, True), typed_there


def test_what_is_produced_there_is_read_there(servers):
    produced = typed_in_shell(
        "kafka-console-producer", "--topic", "typed", "--bootstrap-server", servers, stdin="one\ntwo\n"
    )
    assert (produced.status, produced.err) == (0, "")
    arguments = ("--topic", "typed", "--from-beginning", "--max-messages", "2", "--bootstrap-server", servers)
    assert sorted(typed_in_shell("kafka-console-consumer", *arguments).out.split()) == ["one", "two"]


@pytest.mark.parametrize(
    ("command", "missing"),
    [
        ("kafka-topics --describe --topic orders", "DESCRIBE_CONFIGS"),
        ("kafka-configs --describe --entity-type topics --entity-name orders", "DESCRIBE_CONFIGS"),
        ("kafka-consumer-groups --list", "LIST_GROUPS"),
        ("kafka-consumer-groups --describe --group g", "DESCRIBE_GROUPS"),
        ("kafka-log-dirs --describe", "DESCRIBE_LOG_DIRS"),
        ("kafka-transactions list", "LIST_TRANSACTIONS"),
    ],
)
def test_what_a_broker_does_not_serve_is_one_sentence(servers, command, missing):
    name, *words = command.split()
    refused = typed(name, *words, "--bootstrap-server", servers)
    output = refused.out + refused.err
    assert output.count(f"does not serve {missing}") == 1
    assert "Traceback" not in output
    assert len(output.strip().splitlines()) <= 2


@pytest.mark.long
def test_a_cluster_without_a_controller_is_told_as_that(servers):
    refused = typed("kafka-topics", "--create", "--topic", "new", "--partitions", "1", "--bootstrap-server", servers)
    assert refused.status == 1
    assert "no controller is elected" in refused.out + refused.err


def test_offsets_there_are_json_for_a_program_too(servers):
    shown = typed("kafka-get-offsets", "--topic", TOPIC, "--output", "json", "--bootstrap-server", servers)
    assert sum(load["offset"] for load in json.loads(shown.out)) >= 100
