"""Groups of each type of Kafka 4: the cluster in memory and Apache Kafka say the same.

Brokers of ours have classic groups only; a group of each other type is alive in Apache Kafka while these tests look.
"""

import contextlib
import uuid

import pytest
from confluent_kafka import Consumer, Producer

from broker.common.errors import ErrorCode
from console.kit.gateway.cluster import KafkaGateway
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.connection.membership import ConsoleMembership
from console.kit.gateway.errors import GatewayError, RefusedError
from console.kit.gateway.groups.interface import CONSUMER, SHARE, STREAMS, GroupDetails, Subtopology
from tests.apache_kafka import share_consumer
from tests.conformance.gateway.test_gateway import eventually, find_topic
from tests.fakes.gateway import FakeGateway
from tests.streams_group_member import StreamsGroupMember

APACHE = pytest.param("apache", marks=[pytest.mark.long, pytest.mark.timeout(600)])
#: A Java program has to start, and share state to be made.
WITHIN_S = 90


@pytest.fixture(params=["fake", APACHE])
def gateway(request):
    if request.param == "fake":
        yield FakeGateway()
        return
    client = ClusterClient(request.getfixturevalue("apache_kafka"))
    real = KafkaGateway(client, ConsoleMembership(lambda: None))
    yield real
    real.close()


@pytest.fixture
def topic(gateway):
    """Two partitions of ten records each."""
    name = f"types-{uuid.uuid4().hex[:12]}"
    gateway.create_topic(name, 2, 1)
    eventually(lambda: find_topic(gateway, name), lambda view: view is not None and _has_leaders(view))
    produce(gateway, name)
    return name


def _has_leaders(topic) -> bool:
    return all(partition.next_offset is not None for partition in topic.partitions)


def produce(gateway, topic: str) -> None:
    """Ten records for each partition."""
    if isinstance(gateway, FakeGateway):
        for partition in range(2):
            gateway.append(topic, partition, 10)
        return
    producer = Producer({"bootstrap.servers": servers_of(gateway)})
    for partition in range(2):
        for number in range(10):
            producer.produce(topic, b"%d" % number, partition=partition)
    assert producer.flush(30) == 0


def servers_of(gateway: KafkaGateway) -> str:
    (broker,) = gateway.describe_cluster().brokers
    return f"{broker.host}:{broker.port}"


def described(gateway, group: str, is_true):
    """The group as the list has it, once `is_true` of it. A coordinator that loads, or is slow, is asked again."""

    def listed():
        with contextlib.suppress(GatewayError):
            return next((item for item in gateway.groups.describe().groups if item.group_id == group), None)

    return eventually(listed, lambda view: view is not None and is_true(view), WITHIN_S)


@contextlib.contextmanager
def consumer_group(gateway, topic: str):
    group = f"consumers-of-{topic}"
    if isinstance(gateway, FakeGateway):
        gateway.groups.make(group, CONSUMER, GroupDetails(1, 1, "uniform"))
        places = ((topic, 0), (topic, 1))
        gateway.groups.join(group, "reader-1", *places, target=places, epoch=1, subscription=(topic,))
        gateway.commit(group, topic, 0, 4)
        yield group
        gateway.groups.leave(group, "reader-1")
        return
    settings = {"bootstrap.servers": servers_of(gateway), "group.id": group, "client.id": "reader"}
    consumer = Consumer({**settings, "group.protocol": "consumer", "enable.auto.commit": False})
    consumer.subscribe([topic])
    eventually(lambda: (consumer.poll(0.1), consumer.assignment())[1], lambda held: len(held) == 2, WITHIN_S)
    gateway_offsets = [partition for partition in consumer.assignment() if partition.partition == 0]
    gateway_offsets[0].offset = 4
    consumer.commit(offsets=gateway_offsets, asynchronous=False)
    yield group
    consumer.close()


@contextlib.contextmanager
def share_group(gateway, topic: str):
    """All that was there before it came is acknowledged, or passed by."""
    group = f"shares-of-{topic}"
    if isinstance(gateway, FakeGateway):
        gateway.groups.make(group, SHARE, GroupDetails(1, 1, "simple"))
        gateway.groups.join(group, "reader-1", (topic, 0), (topic, 1), epoch=1, subscription=(topic,))
        for partition in range(2):
            gateway.groups.share(group, topic, partition, 10)
        yield group
        gateway.groups.leave(group, "reader-1")
        return
    with share_consumer(servers_of(gateway), group, topic):
        described(gateway, group, lambda view: len(view.members) == 1 and len(view.members[0].assigned) == 2)
        # A group that begins at the end has no start offsets before it has acknowledged something.
        produce(gateway, topic)
        described(gateway, group, lambda view: _has_begun(gateway, topic, view.committed))
        yield group


def _has_begun(gateway, topic: str, committed) -> bool:
    if len(committed) < 2:
        produce(gateway, topic)
    return len(committed) == 2


@contextlib.contextmanager
def streams_group(gateway, topic: str):
    group = f"app-of-{topic}"
    if isinstance(gateway, FakeGateway):
        part = Subtopology("0", (topic,), (), (), (f"{group}-changelog",))
        gateway.groups.make(group, STREAMS, GroupDetails(1, 1, topology_epoch=0, subtopologies=(part,)))
        places, tasks = ((topic, 0), (topic, 1)), "active 0: 0-1"
        gateway.groups.join(group, "test-1", *places, target=places, epoch=1, tasks=tasks, target_tasks=tasks)
        yield group
        gateway.groups.leave(group, "test-1")
        return
    gateway.create_topic(f"{group}-changelog", 2, 1)
    member = StreamsGroupMember(servers_of(gateway), group, topic)
    member.join()
    yield group
    member.leave()


def test_a_consumer_group_is_described_with_epochs_and_targets(gateway, topic):
    with consumer_group(gateway, topic) as group:
        seen = described(gateway, group, lambda view: view.state == "Stable" and bool(view.committed))
        assert (seen.group_type, seen.details.assignor, dict(seen.committed)) == (CONSUMER, "uniform", {(topic, 0): 4})
        assert seen.details.group_epoch == seen.details.assignment_epoch > 0
        (member,) = seen.members
        assert member.assigned == member.target == ((topic, 0), (topic, 1))
        assert (member.client_id, member.host, member.subscription) == ("reader", "127.0.0.1", (topic,))
        assert member.epoch == seen.details.group_epoch
        assert gateway.groups.describe_one(group).state == "Stable"


def test_a_consumer_group_with_members_takes_no_offsets(gateway, topic):
    with consumer_group(gateway, topic) as group:
        described(gateway, group, lambda view: len(view.members) == 1)
        with pytest.raises(RefusedError):
            gateway.groups.commit_offsets(group, {(topic, 0): 0})
        with pytest.raises(RefusedError):
            gateway.groups.delete_group(group)


def test_a_share_group_is_described_with_start_offsets_and_lags(gateway, topic):
    with share_group(gateway, topic) as group:
        seen = described(gateway, group, lambda view: view.state == "Stable" and not any(view.lags.values()))
        assert (seen.group_type, seen.details.assignor) == (SHARE, "simple")
        assert set(seen.committed) == set(seen.lags) == {(topic, 0), (topic, 1)}
        assert min(seen.committed.values()) >= 10
        (member,) = seen.members
        assert (member.assigned, member.target) == (((topic, 0), (topic, 1)), None)
        with pytest.raises(RefusedError) as raised:
            gateway.groups.set_share_offsets(group, {(topic, 0): 0})
        assert raised.value.code == ErrorCode.NON_EMPTY_GROUP.name


def test_a_share_group_without_members_is_reset_deleted_and_put_back(gateway, topic):
    group = f"prepared-for-{topic}"
    gateway.groups.set_share_offsets(group, {(topic, 0): 3})
    seen = described(gateway, group, lambda view: view.lags.get((topic, 0)) == 7)
    assert (seen.group_type, seen.state, dict(seen.committed)) == (SHARE, "Empty", {(topic, 0): 3})

    gateway.groups.set_share_offsets(group, {(topic, 0): 5})
    assert dict(gateway.groups.describe_one(group).committed) == {(topic, 0): 5}
    gateway.groups.delete_group(group)
    assert gateway.groups.describe_one(group).state == "Dead"

    gateway.groups.set_share_offsets(group, {(topic, 0): 5})
    again = gateway.groups.describe_one(group)
    assert (again.group_type, dict(again.committed)) == (SHARE, {(topic, 0): 5})


def test_share_state_of_one_topic_is_deleted_and_that_of_another_stays(gateway, topic):
    group, other = f"prepared-for-{topic}", f"{topic}-2"
    gateway.create_topic(other, 1, 1)
    eventually(lambda: find_topic(gateway, other), lambda view: view is not None and _has_leaders(view))
    gateway.groups.set_share_offsets(group, {(topic, 0): 3, (topic, 1): 4, (other, 0): 0})
    assert dict(gateway.groups.delete_share_offsets(group, [topic])) == {}
    assert dict(gateway.groups.describe_one(group).committed) == {(other, 0): 0}
    gateway.groups.set_share_offsets(group, {(topic, 0): 5})
    assert dict(gateway.groups.describe_one(group).committed) == {(topic, 0): 5, (other, 0): 0}


def test_share_state_is_not_deleted_while_a_member_is_there(gateway, topic):
    with share_group(gateway, topic) as group:
        described(gateway, group, lambda view: view.state == "Stable")
        with pytest.raises(RefusedError) as raised:
            gateway.groups.delete_share_offsets(group, [topic])
        assert raised.value.code == ErrorCode.NON_EMPTY_GROUP.name


def test_a_share_group_takes_no_commits(gateway, topic):
    group = f"prepared-for-{topic}"
    gateway.groups.set_share_offsets(group, {(topic, 0): 3})
    with pytest.raises(RefusedError):
        gateway.groups.commit_offsets(group, {(topic, 0): 0})


def test_a_streams_group_is_described_with_tasks_and_topology(gateway, topic):
    with streams_group(gateway, topic) as group:
        seen = described(gateway, group, lambda view: view.state == "Stable")
        assert (seen.group_type, seen.details.topology_epoch) == (STREAMS, 0)
        (part,) = seen.details.subtopologies
        assert (part.name, part.source_topics, part.changelog_topics) == ("0", (topic,), (f"{group}-changelog",))
        (member,) = seen.members
        assert (member.tasks, member.assigned) == ("active 0: 0-1", ((topic, 0), (topic, 1)))
        assert (member.target, member.target_tasks) == (member.assigned, member.tasks)


@pytest.mark.parametrize("alive", [consumer_group, share_group, streams_group])
def test_a_group_whose_members_have_left_is_empty(gateway, topic, alive):
    with alive(gateway, topic) as group:
        described(gateway, group, lambda view: len(view.members) == 1)
    seen = described(gateway, group, lambda view: view.state == "Empty")
    assert seen.members == ()
