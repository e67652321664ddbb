"""Consumer groups: the cluster in memory and real brokers say the same."""

import time

import pytest
from confluent_kafka import Consumer

from broker.audit.increment import POSITIONS_GROUP
from broker.spark.ledger_names import LEDGER_PREFIX
from console.kit.gateway.errors import RefusedError
from console.kit.gateway.groups.interface import OffsetBounds
from tests.conformance.gateway.test_gateway import eventually, find_topic
from tests.fakes.gateway import FakeGateway


@pytest.fixture
def topic(gateway, topic_name):
    gateway.create_topic(topic_name, 2, 1)
    eventually(
        lambda: find_topic(gateway, topic_name),
        lambda view: view is not None and all(partition.next_offset is not None for partition in view.partitions),
    )
    return topic_name


@pytest.fixture
def group(topic):
    return f"group-of-{topic}"


@pytest.fixture
def committed(topic, group, append, commit):
    """Seven records in partition 1, three of them read."""
    append(topic, 1, 7)
    commit(group, topic, 1, 3)
    return group


@pytest.fixture
def member(request, gateway, group, topic):
    """A consumer that has joined and holds both partitions; ends with the test."""
    if isinstance(gateway, FakeGateway):
        gateway.groups.join(group, "reader-1", (topic, 0), (topic, 1))
        yield
        return
    servers = request.getfixturevalue("running_brokers").bootstrap_servers
    consumer = Consumer({"bootstrap.servers": servers, "group.id": group, "client.id": "reader"})
    consumer.subscribe([topic])
    eventually(lambda: (consumer.poll(0.1), consumer.assignment())[1], lambda held: len(held) == 2)
    yield
    consumer.close()


def test_a_group_that_only_commits_is_empty_and_its_offsets_are_known(gateway, topic, committed):
    seen = eventually(
        lambda: {item.group_id: item for item in gateway.groups.describe().groups}.get(committed),
        lambda view: view is not None and view.committed,
    )

    assert (seen.state, seen.members, dict(seen.committed)) == ("Empty", (), {(topic, 1): 3})
    assert seen.coordinator in {broker.id for broker in gateway.describe_cluster().brokers}
    assert gateway.groups.describe_one(committed) == seen


@pytest.mark.usefixtures("member")
def test_members_are_named_with_what_they_are_assigned(gateway, topic, group):
    seen = eventually(lambda: gateway.groups.describe_one(group), lambda view: view.state == "Stable")

    (only,) = seen.members
    assert (only.client_id, only.host, only.assigned) == ("reader", "127.0.0.1", ((topic, 0), (topic, 1)))
    assert seen.protocol_type == "consumer"


def test_groups_are_sorted_and_every_broker_answered(gateway, committed):
    seen = gateway.groups.describe()

    assert [item.group_id for item in seen.groups] == sorted(item.group_id for item in seen.groups)
    assert seen.answered == {broker.id for broker in gateway.describe_cluster().brokers}


@pytest.mark.parametrize("name", [f"{LEDGER_PREFIX}{{}}", POSITIONS_GROUP])
def test_ledgers_of_stream_jobs_and_of_the_audit_are_no_groups(gateway, topic, committed, commit, name):
    ledger = name.format(topic)
    commit(ledger, topic, 1, 40)

    assert gateway.groups.describe_one(ledger).committed
    assert ledger not in {item.group_id for item in gateway.groups.describe().groups}


def test_an_unknown_group_is_dead(gateway, topic):
    seen = gateway.groups.describe_one(f"never-{topic}")

    assert (seen.state, seen.members, dict(seen.committed)) == ("Dead", (), {})


def test_commits_are_told_with_their_time(gateway, topic, committed):
    arrived: list = []
    before_ms = time.time_ns() // 1_000_000

    def read():
        arrived.extend(commit for commit in gateway.groups.commits() if commit.group_id == committed)
        return arrived

    (seen,) = eventually(read, lambda view: view)
    assert (seen.place, seen.offset) == ((topic, 1), 3)
    assert abs(seen.at_ms - before_ms) < 60_000


def test_the_first_unread_record_has_its_offset_and_time(gateway, topic, committed):
    before_ms = time.time_ns() // 1_000_000
    seen = gateway.groups.first_unread({(topic, 1): 3, (topic, 0): 0})

    assert seen[topic, 1].offset == 3
    assert abs(seen[topic, 1].at_ms - before_ms) < 60_000
    assert (seen[topic, 0].offset, seen[topic, 0].at_ms) == (None, None)


def test_an_offset_beyond_the_end_has_no_answer(gateway, topic, committed):
    assert gateway.groups.first_unread({(topic, 1): 99}) == {}


def test_bounds_and_offsets_of_a_time(gateway, topic, committed):
    places = [(topic, 0), (topic, 1), (topic, 77)]

    assert gateway.groups.bounds(places) == {(topic, 0): OffsetBounds(0, 0), (topic, 1): OffsetBounds(0, 7)}
    assert gateway.groups.offsets_at(places, 1_000) == {(topic, 0): 0, (topic, 1): 0}
    tomorrow = time.time_ns() // 1_000_000 + 86_400_000
    assert gateway.groups.offsets_at(places[:2], tomorrow) == {(topic, 0): 0, (topic, 1): 7}


def test_offsets_of_an_empty_group_are_set(gateway, topic, committed):
    refused = gateway.groups.commit_offsets(committed, {(topic, 1): 5, (topic, 0): 0})

    assert refused.why == {}
    seen = eventually(lambda: gateway.groups.describe_one(committed), lambda view: len(view.committed) == 2)
    assert dict(seen.committed) == {(topic, 1): 5, (topic, 0): 0}


def test_a_group_that_nobody_has_joined_is_given_offsets(gateway, topic):
    before_its_start = f"prepared-for-{topic}"
    assert gateway.groups.describe_one(before_its_start).state == "Dead"
    assert gateway.groups.commit_offsets(before_its_start, {(topic, 1): 5}).why == {}

    seen = eventually(lambda: gateway.groups.describe_one(before_its_start), lambda view: bool(view.committed))
    assert (seen.state, dict(seen.committed)) == ("Empty", {(topic, 1): 5})


@pytest.mark.usefixtures("member")
def test_offsets_of_a_group_with_members_are_refused(gateway, topic, group):
    eventually(lambda: gateway.groups.describe_one(group), lambda view: view.state == "Stable")
    with pytest.raises(RefusedError) as refused:
        gateway.groups.commit_offsets(group, {(topic, 1): 5})

    assert refused.value.code == "UNKNOWN_MEMBER_ID"


@pytest.mark.usefixtures("member")
def test_a_group_with_members_is_not_deleted(gateway, group):
    eventually(lambda: gateway.groups.describe_one(group), lambda view: view.state == "Stable")
    with pytest.raises(RefusedError) as refused:
        gateway.groups.delete_group(group)

    assert refused.value.code == "NON_EMPTY_GROUP"


def test_a_deleted_group_is_gone_with_its_offsets(gateway, committed):
    gateway.groups.delete_group(committed)

    eventually(lambda: gateway.groups.describe_one(committed), lambda view: view.state == "Dead")
    with pytest.raises(RefusedError) as refused:
        gateway.groups.delete_group(committed)
    assert refused.value.code == "GROUP_ID_NOT_FOUND"


def test_offsets_of_some_partitions_are_forgotten_and_others_stay(gateway, topic, committed, commit):
    commit(committed, topic, 0, 0)
    assert gateway.groups.delete_offsets(committed, [(topic, 1)]).why == {}

    seen = eventually(lambda: gateway.groups.describe_one(committed), lambda view: len(view.committed) == 1)
    assert dict(seen.committed) == {(topic, 0): 0}


@pytest.mark.usefixtures("member")
def test_offsets_of_a_topic_that_a_member_reads_stay(gateway, topic, group):
    eventually(lambda: gateway.groups.describe_one(group), lambda view: view.state == "Stable")
    refused = gateway.groups.delete_offsets(group, [(topic, 0)])

    assert list(refused.why) == [(topic, 0)]
    assert refused.why[topic, 0]


def test_forgetting_offsets_of_no_group_is_refused(gateway, topic):
    with pytest.raises(RefusedError) as refused:
        gateway.groups.delete_offsets(f"never-{topic}", [(topic, 0)])

    assert refused.value.code == "GROUP_ID_NOT_FOUND"
