"""A request that names the same thing again and again is answered as if it had named it once."""

import pytest

from broker.handlers.deduplicate import partitions_once
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from broker.protocol.messages.preview_retention import PreviewRetentionRequest, PreviewRetentionTopic
from broker.protocol.schema import Struct
from tests.broker.server.conftest import TOPIC_ID
from tests.broker.server.test_bad_input import batch_of, produce
from tests.broker.server.test_every_version import REQUESTS, TOPIC_IDS

ASKED = [
    (ApiKey.FETCH, 12),
    (ApiKey.FETCH, 17),
    (ApiKey.LIST_OFFSETS, 9),
    (ApiKey.METADATA, 12),
    (ApiKey.OFFSET_FETCH, 7),
    (ApiKey.OFFSET_FETCH, 9),
    (ApiKey.FIND_COORDINATOR, 5),
    (ApiKey.DESCRIBE_GROUPS, 5),
    (ApiKey.DELETE_GROUPS, 2),
    (ApiKey.DELETE_RECORDS, 2),
    (ApiKey.OFFSET_FOR_LEADER_EPOCH, 4),
    (ApiKey.DESCRIBE_CONFIGS, 4),
    (ApiKey.DESCRIBE_TRANSACTIONS, 0),
    (ApiKey.DESCRIBE_PRODUCERS, 0),
    (ApiKey.PREVIEW_RETENTION, 0),
]


def said_again(part):
    """The same with three times the elements in each array, however deep."""
    if isinstance(part, list):
        return [said_again(item) for item in part] * 3
    if isinstance(part, Struct):
        for field in part.fields:
            setattr(part, field.name, said_again(getattr(part, field.name)))
    return part


@pytest.fixture
async def client(served):
    for topic, topic_id in TOPIC_IDS.items():
        served.lead(topic, topic_id=topic_id)
        served.tell_of(topic, topic_id=topic_id)
    client = await served.member()
    await client.ask(produce(batch_of(b"v")), 9)
    return client


@pytest.mark.parametrize(("api", "version"), ASKED)
async def test_what_is_named_again_is_answered_once(client, api, version):
    once, again = REQUESTS[api](version, "t"), said_again(REQUESTS[api](version, "t"))
    assert again != once
    assert await client.ask(again, version) == await client.ask(once, version)


async def test_partitions_that_are_named_again_are_previewed_once(client):
    topic = PreviewRetentionTopic(name="t", partitions=[0, 0])
    answer = await client.ask(PreviewRetentionRequest(topics=[topic]), 0)
    assert len(answer.topics[0].partitions) == 1


async def test_an_id_under_many_names_is_one_topic(client):
    topics = [MetadataRequestTopic(name=name, topic_id=TOPIC_ID) for name in ("a", "b", "c")]
    assert [topic.name for topic in (await client.ask(MetadataRequest(topics=topics), 12)).topics] == ["t"]


def test_what_is_said_of_a_partition_last_counts_in_the_place_of_the_first():
    partitions = partitions_once(
        [("b", [(1, "old"), (0, "kept")]), ("a", [(0, "kept")]), ("b", [(1, "new")])], lambda p: p[0]
    )
    assert list(partitions.items()) == [("b", [(1, "new"), (0, "kept")]), ("a", [(0, "kept")])]
