"""Producers and transactions: the cluster in memory and a real broker say the same."""

import time

import pytest
from confluent_kafka import Producer

from broker.cli.placement.throttling import throttle_brokers
from broker.client.cluster import ClusterConnections, parse_bootstrap_servers
from broker.client.transactions import PRODUCE_VERSION_MAX
from broker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from broker.records.builder import build_batch
from broker.records.record import Record
from console.kit.gateway.errors import RefusedError
from console.kit.gateway.producers.interface import ProducerView, TransactionView
from tests.barnabas_cluster import await_true
from tests.fakes.gateway import FakeGateway

HOUR_MS = 3_600_000
VERIFIED = "transaction.partition.verification.enable"


@pytest.fixture
def topic(gateway, topic_name):
    gateway.create_topic(topic_name, 2, 1)
    await_true(lambda: _is_led(gateway, topic_name), "the new topic has leaders")
    return topic_name


def _is_led(gateway, name: str) -> bool:
    return any(t.name == name and t.partitions[1].next_offset is not None for t in gateway.describe_topics())


@pytest.fixture
def open_transaction(request, gateway, topic):
    """One that its coordinator knows of, in partition 1."""
    if isinstance(gateway, FakeGateway):
        gateway.append(topic, 1, 1)
        gateway.producers.write(topic, ProducerView(1, 1_000, 0, 0, int(time.time() * 1_000), -1, 0))
        now_ms, places = int(time.time() * 1_000), frozenset({(topic, 1)})
        gateway.producers.coordinate(TransactionView(topic, 1, 1_000, 0, "Ongoing", 60_000, now_ms, places))
        yield
        return
    servers = request.getfixturevalue("running_brokers").bootstrap_servers
    producer = Producer({"bootstrap.servers": servers, "transactional.id": topic})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, b"v", partition=1)
    assert producer.flush(30) == 0
    yield
    producer.abort_transaction(30)


@pytest.fixture
def hanging(request, gateway, topic):
    """An hour ago a batch of a transaction came to partition 0 that no coordinator knows of."""
    then_ms = time.time_ns() // 1_000_000 - HOUR_MS
    if isinstance(gateway, FakeGateway):
        gateway.append(topic, 0, 1)
        gateway.producers.write(topic, ProducerView(0, 7_777, 3, 0, then_ms, -1, 0))
        return
    servers = parse_bootstrap_servers(request.getfixturevalue("running_brokers").bootstrap_servers)
    with ClusterConnections(servers) as connections:
        (broker_id,) = connections.brokers()
        throttle_brokers(connections, [broker_id], {VERIFIED: "false"})
        try:
            _write_unverified(connections, broker_id, topic, then_ms)
        finally:
            throttle_brokers(connections, [broker_id], {VERIFIED: None})


def _write_unverified(connections: ClusterConnections, broker_id: int, topic: str, then_ms: int) -> None:
    record = Record(0, then_ms, b"k", b"v")
    batch = build_batch([record], producer_id=7777, producer_epoch=3, base_sequence=0, is_transactional=True)
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=bytes(batch))])

    def is_written() -> bool:
        request = ProduceRequest(transactional_id=topic, acks=-1, timeout_ms=10_000, topic_data=[data])
        answer = connections.ask_broker(broker_id, request, version_max=PRODUCE_VERSION_MAX)
        return answer.responses[0].partition_responses[0].error_code == 0

    await_true(is_written, "the broker takes the batch unverified")


def test_a_partition_nobody_writes_to_remembers_nobody(gateway, topic):
    view = gateway.producers.of_topic(topic, [0, 1])
    assert (view.producers, view.silent) == ((), {})


def test_an_open_transaction_is_known_to_its_partition_and_its_coordinator(gateway, topic, open_transaction):
    (producer,) = gateway.producers.of_topic(topic, [0, 1]).producers
    assert (producer.partition, producer.open_from, producer.coordinator_epoch) == (1, 0, -1)
    assert producer.last_at_ms > time.time() * 1_000 - 60_000
    view = gateway.producers.transactions([producer.producer_id])
    (transaction,) = view.transactions
    assert (transaction.transactional_id, transaction.state, view.untold) == (topic, "Ongoing", "")
    assert (topic, 1) in transaction.partitions
    assert (transaction.producer_id, transaction.epoch) == (producer.producer_id, producer.epoch)
    assert transaction.timeout_ms == 60_000
    assert gateway.producers.of_topic(topic, [0]).producers == ()


def test_readers_of_committed_records_stop_where_a_transaction_is_open(gateway, topic, open_transaction):
    """At its first record there, and at the log's end elsewhere; a partition that is not there is left out."""
    places = [(topic, 0), (topic, 1), (topic, 7), ("no-such-topic", 0)]
    assert gateway.producers.stable_offsets(places) == {(topic, 0): 0, (topic, 1): 0}


def test_readers_of_committed_records_go_on_behind_what_was_ended(gateway, topic, append, hanging):
    append(topic, 0, 2)
    assert gateway.producers.stable_offsets([(topic, 0)]) == {(topic, 0): 0}
    (producer,) = gateway.producers.of_topic(topic, [0]).producers
    gateway.producers.abort(topic, producer)
    (end,) = (
        partition.next_offset
        for view in gateway.describe_topics()
        if view.name == topic
        for partition in view.partitions
        if partition.partition == 0
    )
    assert gateway.producers.stable_offsets([(topic, 0)]) == {(topic, 0): end}


def test_without_partitions_nobody_is_asked_for_stable_offsets(gateway):
    assert gateway.producers.stable_offsets([]) == {}


def test_one_that_hangs_is_known_to_its_partition_alone_and_can_be_ended(gateway, topic, hanging):
    (producer,) = gateway.producers.of_topic(topic, [0]).producers
    assert (producer.producer_id, producer.epoch, producer.open_from) == (7_777, 3, 0)
    assert gateway.producers.transactions([7_777]).transactions == ()
    gateway.producers.abort(topic, producer)
    (after,) = gateway.producers.of_topic(topic, [0]).producers
    assert (after.open_from, after.coordinator_epoch) == (None, 0)


def test_an_older_epoch_ends_nothing(gateway, topic, hanging):
    (producer,) = gateway.producers.of_topic(topic, [0]).producers
    with pytest.raises(RefusedError):
        gateway.producers.abort(topic, ProducerView(0, 7_777, 2, 0, None, -1, 0))
    assert gateway.producers.of_topic(topic, [0]).producers == (producer,)
    gateway.producers.abort(topic, producer)


def test_a_topic_nobody_knows_is_refused(gateway):
    with pytest.raises(RefusedError):
        gateway.producers.of_topic("no-such-topic", [0])
