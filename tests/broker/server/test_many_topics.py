"""Many topics in one request: written to ZooKeeper at the same time, each with its own answer."""

import asyncio
import uuid

import pytest

from broker.common.errors import ErrorCode
from broker.config.definition import ConfigSource
from broker.protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from broker.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from broker.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from tests.broker.server.conftest import TOPIC_ID

OTHER_ID = uuid.UUID(int=77)


@pytest.fixture
def zookeeper(served, monkeypatch):
    """Answers no write before as many as `expected` are waiting."""

    class ZooKeeper:
        expected = 1

        def __init__(self):
            self.waiting = 0
            self.all_there = asyncio.Event()

        def meeting(self, name):
            write = getattr(served.store, name)

            async def wait_for_all(*arguments):
                self.waiting += 1
                if self.waiting == self.expected:
                    self.all_there.set()
                async with asyncio.timeout(10):
                    await self.all_there.wait()
                return await write(*arguments)

            monkeypatch.setattr(served.store, name, wait_for_all)

    server = ZooKeeper()
    for name in ("create_topic", "add_partitions", "request_topic_deletion"):
        server.meeting(name)
    return server


def creating(*topics: CreatableTopic, **options) -> CreateTopicsRequest:
    return CreateTopicsRequest(topics=list(topics), timeout_ms=5_000, **options)


def topic(name: str, *, configs=(), assignments=(), partitions=1, factor=1) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=-1 if assignments else partitions,
        replication_factor=-1 if assignments else factor,
        assignments=[CreatableReplicaAssignment(partition_index=index, broker_ids=ids) for index, ids in assignments],
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in configs],
    )


async def created(served, *topics: CreatableTopic):
    served.tell_of("known")
    response = await (await served.client()).ask(creating(*topics), 7)
    return {item.name: item for item in response.topics}


async def test_topics_of_one_request_are_written_at_the_same_time(served, zookeeper):
    zookeeper.expected = 20
    answers = await created(served, *(topic(f"t{number}") for number in range(20)))
    assert {answer.error_code for answer in answers.values()} == {ErrorCode.NONE}
    assert {f"t{number}" for number in range(20)} <= served.metadata.topics.keys()


async def test_partitions_are_added_to_many_topics_at_the_same_time(served, zookeeper):
    zookeeper.expected = 3
    for name in "abc":
        served.tell_of(name)
        served.lead(name)
    topics = [CreatePartitionsTopic(name=name, count=2, assignments=None) for name in "abc"]
    response = await (await served.client()).ask(CreatePartitionsRequest(topics=topics, timeout_ms=5_000), 3)
    assert [(result.name, result.error_code) for result in response.results] == [
        (name, ErrorCode.NONE) for name in "abc"
    ]


async def test_topics_are_deleted_at_the_same_time(served, zookeeper):
    zookeeper.expected = 3
    for name in "abc":
        served.tell_of(name)
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name=name) for name in "abc"], timeout_ms=5_000)
    response = await (await served.client()).ask(request, 6)
    assert {item.error_code for item in response.responses} == {ErrorCode.NONE}
    assert served.metadata.topics == {}


async def test_each_topic_that_cannot_be_has_its_own_reason_and_the_others_are_made(served):
    wrong = {
        "known": (ErrorCode.TOPIC_ALREADY_EXISTS, "already exists", topic("known")),
        "no/slash": (ErrorCode.INVALID_TOPIC_EXCEPTION, "contains one or more characters", topic("no/slash")),
        "none": (ErrorCode.INVALID_PARTITIONS, "non-positive value", topic("none", partitions=0)),
        "factor": (ErrorCode.INVALID_REPLICATION_FACTOR, "replication factor of 5", topic("factor", factor=5)),
        "value": (ErrorCode.INVALID_CONFIG, "Invalid value soon", topic("value", configs=[("retention.ms", "soon")])),
        "key": (ErrorCode.INVALID_CONFIG, "colour", topic("key", configs=[("colour", "red")])),
        "null": (
            ErrorCode.INVALID_CONFIG,
            "Null value not supported for topic configs: retention.ms",
            topic("null", configs=[("retention.ms", None)]),
        ),
        "twice": (
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "Found multiple manual partition assignments for partition 0",
            topic("twice", assignments=[(0, [1]), (0, [1])]),
        ),
        "gap": (ErrorCode.INVALID_REPLICA_ASSIGNMENT, "consecutive 0-based", topic("gap", assignments=[(1, [1])])),
        "away": (
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "broker 9, but no such broker is registered",
            topic("away", assignments=[(0, [9])]),
        ),
    }
    answers = await created(served, *(creation for _, _, creation in wrong.values()), topic("right"))
    for name, (code, words, _) in wrong.items():
        assert answers[name].error_code == code, name
        assert words in answers[name].error_message, name
    assert answers["right"].error_code == ErrorCode.NONE


async def test_a_topic_named_twice_is_not_made(served):
    answers = await created(served, topic("t"), topic("t"))
    assert answers["t"].error_code == ErrorCode.INVALID_REQUEST
    assert answers["t"].error_message == "Duplicate topic name."
    assert "t" not in served.metadata.topics


async def test_names_that_collide_in_one_request_are_not_both_made(served, zookeeper):
    """Both are on their way at the same time, so no metadata shows the first to the second."""
    answers = await created(served, topic("a.b"), topic("a_b"))
    assert [answers[name].error_code for name in ("a.b", "a_b")] == [
        ErrorCode.NONE,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
    ]
    assert "collides with existing topic: a.b" in answers["a_b"].error_message


async def test_a_new_topic_is_answered_with_the_configuration_it_has(served):
    answers = await created(served, topic("t", configs=[("retention.ms", "5")]))
    configs = {config.name: (config.value, config.config_source) for config in answers["t"].configs}
    assert configs["retention.ms"] == ("5", ConfigSource.TOPIC)
    assert configs["cleanup.policy"] == ("delete", ConfigSource.DEFAULT)


async def test_a_topic_named_twice_is_not_deleted(served):
    served.tell_of("t")
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name=None, topic_id=TOPIC_ID)] * 2, timeout_ms=1_000)
    response = await (await served.client()).ask(request, 6)
    assert {item.error_code for item in response.responses} == {ErrorCode.INVALID_REQUEST}
    assert "t" in served.metadata.topics


@pytest.mark.parametrize("topic_id", [TOPIC_ID, OTHER_ID])
async def test_a_topic_given_by_name_and_id_at_once_is_not_deleted(served, topic_id):
    """The id may mean a topic that was there before; to go by the name would delete what was made anew."""
    served.tell_of("t")
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name="t", topic_id=topic_id)], timeout_ms=1_000)
    (response,) = (await (await served.client()).ask(request, 6)).responses
    assert (response.error_code, response.error_message) == (
        ErrorCode.INVALID_REQUEST,
        "You may not specify both topic name and topic id.",
    )
    assert "t" in served.metadata.topics


async def test_a_topic_given_by_nothing_is_an_invalid_request(served):
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name=None)], timeout_ms=1_000)
    (response,) = (await (await served.client()).ask(request, 6)).responses
    assert response.error_code == ErrorCode.INVALID_REQUEST
    assert "Neither topic name nor id" in response.error_message


async def test_very_many_names_are_counted_in_one_go(served):
    """Comparing each with each would take the loop for minutes; the timeout of the test tells."""
    states = [DeleteTopicState(name=f"t{number}") for number in range(15_000)]
    response = await (await served.client()).ask(DeleteTopicsRequest(topics=states, timeout_ms=1_000), 6)
    assert {item.error_code for item in response.responses} == {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
