"""What every gateway promises, run on the cluster in memory and on real brokers."""

import time

import pytest

from broker.spark.ledger_names import DECISIONS_TOPIC
from console.kit.gateway.errors import RefusedError
from console.kit.gateway.records.interface import OffsetSpan


def eventually(ask, is_true, deadline_seconds: float = 15):
    """The first answer for which `is_true` holds; the last answer fails the test at the deadline."""
    until = time.monotonic() + deadline_seconds
    while True:
        answer = ask()
        if is_true(answer):
            return answer
        assert time.monotonic() < until, f"not within {deadline_seconds} s; last answer: {answer}"
        time.sleep(0.05)


def find_topic(gateway, name):
    return next((topic for topic in gateway.describe_topics() if topic.name == name), None)


@pytest.fixture
def topic(gateway, topic_name):
    """A topic of two partitions whose offsets are known."""
    gateway.create_topic(topic_name, 2, 1)
    return eventually(
        lambda: find_topic(gateway, topic_name),
        lambda view: view is not None and all(partition.next_offset is not None for partition in view.partitions),
    )


def test_cluster_names_its_brokers_and_a_controller_among_them(gateway):
    view = gateway.describe_cluster()

    assert view.cluster_id
    assert view.brokers
    assert view.controller_id in {broker.id for broker in view.brokers}
    assert all(broker.host and broker.port > 0 for broker in view.brokers)
    assert [broker.id for broker in view.brokers] == sorted(broker.id for broker in view.brokers)


def test_new_topic_is_listed_with_led_and_empty_partitions(gateway, topic):
    broker_ids = {broker.id for broker in gateway.describe_cluster().brokers}

    assert [partition.partition for partition in topic.partitions] == [0, 1]
    assert not topic.is_internal
    for partition in topic.partitions:
        assert partition.leader in broker_ids
        assert partition.leader in partition.replicas
        assert partition.isr == tuple(sorted(partition.replicas))
        assert (partition.first_offset, partition.next_offset) == (0, 0)


def test_topic_of_the_ledgers_is_internal(gateway):
    gateway.create_topic(DECISIONS_TOPIC, 1, 1)
    assert eventually(lambda: find_topic(gateway, DECISIONS_TOPIC), bool).is_internal


def test_topics_are_sorted_by_name(gateway, topic):
    names = [item.name for item in gateway.describe_topics()]

    assert topic.name in names
    assert names == sorted(names)


def test_appended_records_move_the_next_offset_of_their_partition_only(gateway, topic, append):
    append(topic.name, 1, 7)

    seen = eventually(lambda: find_topic(gateway, topic.name), lambda view: view.partitions[1].next_offset == 7)
    assert seen.partitions[1].first_offset == 0
    assert seen.partitions[0].next_offset == 0


def test_ends_that_a_look_finds_are_those_that_are_told_of_one_topic(gateway, topic, append):
    append(topic.name, 0, 5)
    append(topic.name, 1, 7)
    assert gateway.delete_records(topic.name, {1: 3}) == {}

    (seen,) = [item for item in gateway.describe_topics() if item.name == topic.name]
    spans = gateway.record_spans(topic.name, committed_only=False)
    assert [(partition.first_offset, partition.next_offset) for partition in seen.partitions] == [(0, 5), (3, 7)]
    assert {
        partition.partition: OffsetSpan(partition.first_offset, partition.next_offset) for partition in seen.partitions
    } == spans


def test_topic_keeps_its_id_from_one_answer_to_the_next(gateway, topic):
    assert find_topic(gateway, topic.name).topic_id == topic.topic_id


def test_creating_a_topic_twice_is_refused(gateway, topic):
    with pytest.raises(RefusedError) as refused:
        gateway.create_topic(topic.name, 2, 1)

    assert refused.value.code == "TOPIC_ALREADY_EXISTS"
    assert str(refused.value)


def test_illegal_topic_name_is_refused(gateway):
    with pytest.raises(RefusedError) as refused:
        gateway.create_topic("no spaces", 1, 1)

    assert refused.value.code == "INVALID_TOPIC_EXCEPTION"


def test_more_replicas_than_brokers_are_refused(gateway, topic_name):
    too_many = len(gateway.describe_cluster().brokers) + 1

    with pytest.raises(RefusedError) as refused:
        gateway.create_topic(topic_name, 1, too_many)

    assert refused.value.code == "INVALID_REPLICATION_FACTOR"
    assert find_topic(gateway, topic_name) is None


def test_deleted_topic_is_gone(gateway, topic):
    gateway.delete_topic(topic.name)

    eventually(lambda: find_topic(gateway, topic.name), lambda view: view is None)


def test_deleting_an_unknown_topic_is_refused(gateway, topic_name):
    with pytest.raises(RefusedError) as refused:
        gateway.delete_topic(topic_name)

    assert refused.value.code == "UNKNOWN_TOPIC_OR_PARTITION"
