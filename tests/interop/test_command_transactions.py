"""`kafka-transactions` on transactions of another client, and on one that hangs."""

import json
import time

import pytest
from confluent_kafka import Producer

from broker.cli.placement.throttling import throttle_brokers
from broker.client.cluster import ClusterConnections, parse_bootstrap_servers
from broker.client.transactions import PRODUCE_VERSION_MAX
from broker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from broker.records.builder import build_batch
from broker.records.record import Record
from tests.barnabas_cluster import await_true
from tests.typed import typed

VERIFIED = "transaction.partition.verification.enable"
HOUR_MS = 3_600_000


@pytest.fixture
def transactions(cluster):
    return lambda *words: typed("kafka-transactions", "--bootstrap-server", cluster.bootstrap_servers, *words)


@pytest.fixture
def topic(cluster, name):
    create = ("--create", "--topic", name, "--replica-assignment", "1:2")
    assert typed("kafka-topics", "--bootstrap-server", cluster.bootstrap_servers, *create).status == 0
    return name


@pytest.fixture
def hanging(cluster, topic):
    """An hour ago a batch of a transaction came that no coordinator knows of: its broker did not ask any."""
    with ClusterConnections(parse_bootstrap_servers(cluster.bootstrap_servers)) as connections:
        throttle_brokers(connections, [1], {VERIFIED: "false"})
        try:
            _write_unverified(connections, topic)
        finally:
            throttle_brokers(connections, [1], {VERIFIED: None})
    return topic


def _write_unverified(connections: ClusterConnections, topic: str) -> None:
    then_ms = time.time_ns() // 1_000_000 - HOUR_MS
    batch = build_batch(
        [Record(0, then_ms, b"k", b"v")], producer_id=7777, producer_epoch=3, base_sequence=0, is_transactional=True
    )
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=bytes(batch))])

    def is_written() -> bool:
        request = ProduceRequest(transactional_id=topic, acks=-1, timeout_ms=10_000, topic_data=[data])
        answer = connections.ask_broker(1, request, version_max=PRODUCE_VERSION_MAX)
        return answer.responses[0].partition_responses[0].error_code == 0

    await_true(is_written, "the broker takes the batch unverified")


def rows(outcome) -> list[list[str]]:
    """Without the head; every cell is followed by a TAB."""
    assert (outcome.status, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert {line[-1] for line in lines} == {"\t"}
    return [[cell.rstrip() for cell in line[:-1].split("\t")] for line in lines[1:]]


def test_a_transaction_is_listed_and_described_while_it_is_open(cluster, transactions, topic):
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": topic})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, b"v")
    assert producer.flush(30) == 0
    (listed,) = [row for row in rows(transactions("list")) if row[0] == topic]
    coordinator, producer_id = listed[1:3]
    assert listed[3] == "Ongoing"
    (described,) = rows(transactions("describe", "--transactional-id", topic))
    assert described[:6] == [coordinator, topic, producer_id, "0", "Ongoing", "60000"]
    assert described[8] == f"{topic}-0"
    (of_partition,) = rows(transactions("describe-producers", "--topic", topic, "--partition", "0"))
    assert of_partition[:4] == [producer_id, "0", "None", "0"]
    assert of_partition[5] == "0"
    at_replica = ("describe-producers", "--topic", topic, "--partition", "0", "--broker-id", "2")
    await_true(lambda: rows(transactions(*at_replica)) == [of_partition], "the follower knows of it too")
    # Its coordinator knows of it, and will end it.
    assert rows(transactions("find-hanging", "--topic", topic, "--max-transaction-timeout", "-1")) == []
    producer.abort_transaction(30)
    listed = json.loads(transactions("list", "--output", "json").out)
    assert topic in [item["TransactionalId"] for item in listed]


def test_one_that_hangs_is_found_and_ended_by_who_knows_the_clusters_secret(cluster, transactions, hanging):
    find = ("find-hanging", "--broker-id", "1", "--topic", hanging)
    (row,) = rows(transactions(*find))
    assert row[:6] == [hanging, "0", "7777", "3", "0", "0"]
    assert int(row[7]) >= 60
    abort = ("abort", "--topic", hanging, "--partition", "0", "--start-offset", "0")
    refused = transactions(*abort)
    assert refused.status == 1
    assert "--zookeeper" in refused.err
    assert transactions(*abort, "--zookeeper", cluster.brokers[0].zookeeper_connect) == (0, "", "")
    assert rows(transactions(*find)) == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("find-hanging",),
            "The `find-hanging` command requires either --topic or --broker-id to limit the scope of the search",
        ),
        (("abort", "--topic", "t"), 'Missing required argument "[partition]"'),
        (("describe", "--transactional-id", "nobody"), "nobody: There is no such transactional id."),
        (("look",), "Choose what to do: list, describe, describe-producers, abort, find-hanging."),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(transactions, words, sentence):
    refused = transactions(*words)
    assert (refused.status, refused.out) == (1, "")
    assert sentence in refused.err


def test_no_open_transaction_begins_there(transactions, topic):
    refused = transactions("abort", "--topic", topic, "--partition", "0", "--start-offset", "999999")
    assert refused == (
        1,
        "",
        f"Could not find any open transactions starting at offset 999999 on partition {topic}-0\n",
    )
