"""`kafka-consumer-groups --describe` on groups of every type of Apache Kafka, beside Kafka's own tools."""

import contextlib
import json
import re
import uuid

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.apache_kafka import CONSUMER_GROUPS, java, share_consumer
from tests.barnabas_cluster import await_true
from tests.fetched import KAFKA, class_path
from tests.streams_group_member import StreamsGroupMember
from tests.typed import typed

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]
SHARE_GROUPS = "org.apache.kafka.tools.consumer.group.ShareGroupCommand"
WITHIN_S = 120


@pytest.fixture(scope="module")
def topic(apache_kafka):
    name = f"of-{uuid.uuid4().hex[:8]}"
    create_topic(apache_kafka, name)
    produce(apache_kafka, name)
    return name


def create_topic(servers, name) -> None:
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([NewTopic(name, 2, 1)])[name].result(60)


def produce(servers, topic) -> None:
    producer = Producer({"bootstrap.servers": servers})
    for number in range(20):
        producer.produce(topic, b"x", partition=number % 2)
    assert producer.flush(60) == 0


@pytest.fixture
def ours(apache_kafka):
    return lambda *words: typed("kafka-consumer-groups", "--bootstrap-server", apache_kafka, "--describe", *words).out


@pytest.fixture
def theirs(apache_kafka):
    jars = class_path(KAFKA, fetch=True)
    return lambda tool, *words: java(tool, "--bootstrap-server", apache_kafka, "--describe", *words, jars=jars).stdout


@contextlib.contextmanager
def modern_group(servers, topic):
    settings = {"bootstrap.servers": servers, "group.id": "modern", "client.id": "reader"}
    consumer = Consumer({**settings, "group.protocol": "consumer", "enable.auto.commit": False})
    consumer.subscribe([topic])
    await_true(lambda: (consumer.poll(0.1), len(consumer.assignment()) == 2)[1], "the group is assigned", WITHIN_S)
    offsets = consumer.assignment()
    for offset in offsets:
        offset.offset = 4
    consumer.commit(offsets=offsets, asynchronous=False)
    yield "modern"
    consumer.close()


def cells(text: str) -> list[list[str]]:
    """The rows of a table, without the lines that warn of something, in any order."""
    return sorted(line.split() for line in text.splitlines() if line.split())


def test_a_group_of_the_consumer_protocol_is_described_as_kafka_s_tool_does(apache_kafka, topic, ours, theirs):
    with modern_group(apache_kafka, topic) as group:
        for words in ((), ("--members",), ("--state",), ("--members", "--verbose"), ("--state", "--verbose")):
            expected = cells(theirs(CONSUMER_GROUPS, "--group", group, *words))
            assert len(expected) > 1, words
            result = cells(ours("--group", group, *words))
            assert result == expected, f"{words}: {result} and not {expected}"
        (result,) = json.loads(ours("--group", group, "--output", "json"))
        assert (result["type"], result["groupEpoch"]) == ("Consumer", result["assignmentEpoch"])
        assert result["members"][0]["epoch"] == result["groupEpoch"]


def test_a_share_group_is_described_as_kafka_s_tool_does(apache_kafka, topic, ours, theirs):
    with share_consumer(apache_kafka, "shared", topic):

        def has_begun() -> bool:
            produce(apache_kafka, topic)
            return len(re.findall(rf"shared +{topic} +[01] +[0-9]+", ours("--group", "shared"))) == 2

        await_true(has_begun, "both partitions have begun", WITHIN_S)
        await_true(
            lambda: cells(ours("--group", "shared")) == cells(theirs(SHARE_GROUPS, "--group", "shared")),
            "both tools say the same of offsets",
            WITHIN_S,
        )
        assert "Stable" in ours("--group", "shared", "--state")
        assert f"{topic}:0,1" in ours("--group", "shared", "--members", "--verbose")


def test_a_streams_group_is_described_with_its_tasks(apache_kafka, topic, ours):
    create_topic(apache_kafka, "app-changelog")
    member = StreamsGroupMember(apache_kafka, "app", topic)
    member.join()
    try:
        assert "Stable" in ours("--group", "app", "--state")
        assert "ACTIVE: [0: 0,1]" in ours("--group", "app", "--members", "--verbose")
        assert len(re.findall(rf"app +{topic} +[01] ", ours("--group", "app"))) == 2
    finally:
        member.leave()


def test_a_group_that_is_none_does_not_exist(ours):
    assert "Error: Consumer group 'nothing' does not exist." in ours("--group", "nothing")
