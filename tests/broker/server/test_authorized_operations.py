"""Metadata, DescribeCluster and DescribeGroups: what the client may do, where it asks for that (KIP-430)."""

import pytest

from broker.protocol.messages.describe_cluster import DescribeClusterRequest
from broker.protocol.messages.describe_groups import DescribeGroupsRequest
from broker.protocol.messages.metadata import OPERATIONS_NOT_REQUESTED, MetadataRequest, MetadataRequestTopic
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC
from tests.broker.server.conftest import Client, Served

#: What Kafka without an authorizer answers.
OF_TOPIC, OF_CLUSTER, OF_GROUP = 3576, 8096, 328


@pytest.fixture
async def client(served: Served) -> Client:
    served.tell_of("t")
    served.lead(OFFSETS_TOPIC, 3)
    served.tell_of(OFFSETS_TOPIC, 3)
    return await served.client()


@pytest.mark.parametrize("is_asked", [True, False])
@pytest.mark.parametrize("names", [["t", "missing"], None])
async def test_a_topic_is_told_with_all_operations(client, names, is_asked):
    topics = names and [MetadataRequestTopic(name=name) for name in names]
    request = MetadataRequest(topics=topics, include_topic_authorized_operations=is_asked)
    told = {topic.name: topic.topic_authorized_operations for topic in (await client.ask(request, 12)).topics}
    assert told["t"] == (OF_TOPIC if is_asked else OPERATIONS_NOT_REQUESTED)
    assert told.get("missing", OPERATIONS_NOT_REQUESTED) == OPERATIONS_NOT_REQUESTED


@pytest.mark.parametrize("is_asked", [True, False])
async def test_the_cluster_is_told_with_all_operations(client, is_asked):
    expected = OF_CLUSTER if is_asked else OPERATIONS_NOT_REQUESTED
    metadata = MetadataRequest(topics=[], include_cluster_authorized_operations=is_asked)
    assert (await client.ask(metadata, 10)).cluster_authorized_operations == expected
    cluster = DescribeClusterRequest(include_cluster_authorized_operations=is_asked)
    assert (await client.ask(cluster, 1)).cluster_authorized_operations == expected


@pytest.mark.parametrize("is_asked", [True, False])
async def test_a_group_is_told_with_all_operations(client, is_asked):
    request = DescribeGroupsRequest(groups=["g"], include_authorized_operations=is_asked)
    told = (await client.ask(request, 5)).groups[0].authorized_operations
    assert told == (OF_GROUP if is_asked else OPERATIONS_NOT_REQUESTED)
