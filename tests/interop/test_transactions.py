"""Transactions with confluent-kafka (librdkafka), unmodified, against three brokers."""

import contextlib
import threading
import time

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from kafka import KafkaAdminClient

from broker.coordinator.partitions import partition_for
from tests.barnabas_cluster import await_true, running_cluster
from tests.interop.replicas import isr_of, leader_of
from tests.librdkafka import GROUP_COORDINATOR_IS_ASKED

DEADLINE_S = 30
PARTITIONS = 3
COORDINATORS = 5


@pytest.fixture
def topic(cluster, name):
    return create_topic(cluster, name)


def create_topic(cluster, name, partitions=PARTITIONS):
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.create_topics([NewTopic(name, partitions, 3)])[name].result(DEADLINE_S)
    return name


def transactional(cluster, transactional_id, **config):
    producer = Producer(
        {"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": transactional_id, "linger.ms": 1, **config}
    )
    producer.init_transactions(DEADLINE_S)
    return producer


def write(producer, topic, values, partitions=PARTITIONS):
    producer.begin_transaction()
    for number, value in enumerate(values):
        producer.produce(topic, value, partition=number % partitions)


def values_of(cluster, topic, isolation="read_committed", partitions=PARTITIONS):
    """All there is to read now, as a set: each value is written once."""
    reader = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": "unused",
            "isolation.level": isolation,
            "enable.partition.eof": True,
        }
    )
    reader.assign([TopicPartition(topic, index, OFFSET_BEGINNING) for index in range(partitions)])
    values, ends, deadline = [], set(), time.monotonic() + DEADLINE_S
    while len(ends) < partitions and time.monotonic() < deadline:
        for message in reader.consume(500, 0.2):
            if message.error() is None:
                values.append(message.value())
            else:
                assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
                ends.add(message.partition())
    reader.close()
    assert len(ends) == partitions
    assert len(values) == len(set(values))
    return set(values)


def numbered(word, count=30):
    return [f"{word}-{number}".encode() for number in range(count)]


def test_committed_records_are_read_and_aborted_ones_are_not(cluster, topic, name):
    producer = transactional(cluster, name)
    write(producer, topic, numbered("kept"))
    producer.commit_transaction(DEADLINE_S)
    write(producer, topic, numbered("dropped"))
    producer.flush(DEADLINE_S)
    producer.abort_transaction(DEADLINE_S)
    write(producer, topic, numbered("kept too"))
    producer.commit_transaction(DEADLINE_S)
    kept = {*numbered("kept"), *numbered("kept too")}
    await_true(lambda: values_of(cluster, topic) == kept, "all that was committed is read")
    assert values_of(cluster, topic, "read_uncommitted") == kept | {*numbered("dropped")}


@pytest.mark.long
def test_records_of_an_open_transaction_are_seen_by_those_who_do_not_ask_for_committed_ones(cluster, topic, name):
    producer = transactional(cluster, name)
    write(producer, topic, numbered("open"))
    producer.flush(DEADLINE_S)
    assert values_of(cluster, topic) == set()
    assert values_of(cluster, topic, "read_uncommitted") == set(numbered("open"))
    producer.commit_transaction(DEADLINE_S)
    await_true(lambda: values_of(cluster, topic) == set(numbered("open")), "the markers are written")


def test_transactions_follow_one_another_without_a_pause(cluster, topic, name):
    producer = transactional(cluster, name)
    expected = set()
    for number in range(50):
        values = numbered(f"turn {number}", 6)
        write(producer, topic, values)
        if number % 5 == 4:
            producer.abort_transaction(DEADLINE_S)
        else:
            producer.commit_transaction(DEADLINE_S)
            expected |= set(values)
    await_true(lambda: values_of(cluster, topic) == expected, "all that was committed is read")


def test_second_producer_of_an_id_fences_the_first_and_ends_its_transaction(cluster, topic, name):
    first = transactional(cluster, name)
    write(first, topic, numbered("of the first"))
    first.flush(DEADLINE_S)
    second = transactional(cluster, name)
    write(second, topic, numbered("of the second"))
    second.commit_transaction(DEADLINE_S)
    with pytest.raises(KafkaException) as refused:
        first.commit_transaction(DEADLINE_S)
    assert refused.value.args[0].code() in (KafkaError._FENCED, KafkaError.PRODUCER_FENCED)
    await_true(lambda: values_of(cluster, topic) == set(numbered("of the second")), "only the second's are read")


def test_transaction_left_open_is_aborted_when_its_time_is_up(cluster, topic, name):
    producer = transactional(cluster, name, **{"transaction.timeout.ms": 1_000})
    write(producer, topic, numbered("late"))
    producer.flush(DEADLINE_S)
    other = transactional(cluster, f"{name}-other")
    write(other, topic, numbered("in time"))
    other.commit_transaction(DEADLINE_S)
    await_true(lambda: values_of(cluster, topic) == set(numbered("in time")), "the transaction is aborted")
    with pytest.raises(KafkaException):
        producer.commit_transaction(DEADLINE_S)


def test_copying_with_offsets_in_the_transaction_copies_each_record_once(cluster, topic, name):
    """Each turn begins with a new consumer and producer, as after a crash; every other one is given up."""
    target, values = create_topic(cluster, f"{name}-copy"), numbered("record", 60)
    source = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    for number, value in enumerate(values):
        source.produce(topic, value, partition=number % PARTITIONS)
    assert source.flush(DEADLINE_S) == 0
    for turn in range(6):
        _copy(cluster, topic, target, name, count=20, is_given_up=turn % 2 == 0)
    await_true(lambda: values_of(cluster, target) == set(values), "all is copied")
    assert len(values_of(cluster, target, "read_uncommitted") - set(values)) == 60


def _copy(cluster, source, target, name, *, count, is_given_up):
    reader = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": name,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
        }
    )
    reader.assign([TopicPartition(source, index) for index in range(PARTITIONS)])
    committed = reader.committed([TopicPartition(source, index) for index in range(PARTITIONS)], timeout=DEADLINE_S)
    reader.assign([item if item.offset >= 0 else _from_start(item) for item in committed])
    producer = transactional(cluster, name)
    producer.begin_transaction()
    left, deadline = count, time.monotonic() + DEADLINE_S
    while left and time.monotonic() < deadline:
        for message in reader.consume(left, 0.5):
            assert message.error() is None, message.error()
            suffix = b"" if not is_given_up else b" given up %d" % time.monotonic_ns()
            producer.produce(target, message.value() + suffix)
            left -= 1
    assert left == 0
    producer.send_offsets_to_transaction(
        reader.position(reader.assignment()), reader.consumer_group_metadata(), DEADLINE_S
    )
    producer.flush(DEADLINE_S)
    if is_given_up:
        producer.abort_transaction(DEADLINE_S)
    else:
        producer.commit_transaction(DEADLINE_S)
    reader.close()


def _from_start(partition):
    return TopicPartition(partition.topic, partition.partition, OFFSET_BEGINNING)


def test_transactions_and_their_producers_are_listed_and_described(cluster, topic, name):
    producer = transactional(cluster, name)
    write(producer, topic, numbered("open", 1), partitions=1)
    producer.flush(DEADLINE_S)
    admin = KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers)
    listed = {transaction.transactional_id: transaction for transaction in _flat(admin.list_transactions())}
    assert listed[name].state.value == "Ongoing"
    assert sum(_metric(broker, "transactional_ids") for broker in cluster.brokers) == len(listed)
    described = admin.describe_transactions([name])[name]
    assert (described.state.value, described.producer_epoch) == ("Ongoing", 0)
    assert [tuple(partition) for partition in described.topic_partitions] == [(topic, 0)]
    producer.commit_transaction(DEADLINE_S)
    await_true(
        lambda: admin.describe_transactions([name])[name].state.value == "CompleteCommit", "the transaction is complete"
    )
    admin.close()


def _metric(broker, name):
    lines = broker.get("/metrics").splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(f"barnabas_broker_{name} "))


def _flat(listings):
    return [item for group in listings.values() for item in group]


@pytest.fixture(scope="module")
def mortal(tmp_path_factory, zookeeper):
    """A cluster whose coordinators are killed; all brokers of it run when a test begins."""
    with running_cluster(tmp_path_factory.mktemp("mortal"), brokers=3, zookeeper=zookeeper) as cluster:
        yield cluster


@contextlib.contextmanager
def killed_coordinator(cluster, internal_topic, name):
    """Of a group or id; others lead what it led, and clients are told of two brokers only, while it is away."""
    partition = partition_for(name, COORDINATORS)
    dead = leader_of(cluster, internal_topic, partition)
    cluster.broker(dead).kill()
    yield dead
    cluster.broker(dead).start()
    cluster.broker(dead).await_healthy()
    await_true(lambda: isr_of(cluster, internal_topic, partition) == {1, 2, 3}, "it is back and in sync")


def test_transaction_is_finished_by_the_next_coordinator_when_the_first_is_killed(mortal):
    topic = create_topic(mortal, "finished")
    assert values_of(mortal, topic) == set()  # has the offsets topic created while all brokers are there
    producer = transactional(mortal, "id")
    write(producer, topic, numbered("before"))
    producer.flush(DEADLINE_S)
    with killed_coordinator(mortal, "__transaction_state", "id"):
        producer.commit_transaction(DEADLINE_S)
        write(producer, topic, numbered("after"))
        producer.commit_transaction(DEADLINE_S)
        expected = {*numbered("before"), *numbered("after")}
        await_true(lambda: values_of(mortal, topic) == expected, "both transactions are read")


@pytest.mark.long
def test_offsets_join_the_transaction_after_their_group_s_coordinator_was_killed(mortal):
    """Without its setting librdkafka asks nobody, and does not come back: it waits for the broker it has forgotten."""
    topic = create_topic(mortal, "offsets")
    reader = Consumer({"bootstrap.servers": mortal.bootstrap_servers, "group.id": "readers"})
    producer = transactional(mortal, "offsets", **GROUP_COORDINATOR_IS_ASKED)

    def copy(offset):
        write(producer, topic, numbered(f"up to {offset}", 3))
        producer.flush(DEADLINE_S)
        ends = [TopicPartition(topic, 0, offset)]
        producer.send_offsets_to_transaction(ends, reader.consumer_group_metadata(), DEADLINE_S)
        producer.commit_transaction(DEADLINE_S)

    copy(1)
    with killed_coordinator(mortal, "__consumer_offsets", "readers") as dead:
        await_true(lambda: dead not in producer.list_topics(timeout=DEADLINE_S).brokers, "the client has forgotten it")
        copying = threading.Thread(target=copy, args=[2], daemon=True)
        copying.start()
        await_true(lambda: not copying.is_alive(), "the second transaction is over")
    committed = [TopicPartition(topic, 0)]
    await_true(lambda: reader.committed(committed, timeout=DEADLINE_S)[0].offset == 2, "its offset is committed")
