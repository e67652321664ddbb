"""Metadata, DescribeCluster and DescribeGroups: what the client may do, where it asks for that (KIP-430)."""

import pytest

from broker.protocol.messages.describe_cluster import DescribeClusterRequest
from broker.protocol.messages.describe_groups import DescribeGroupsRequest
from broker.protocol.messages.describe_topic_partitions import DescribeTopicPartitionsRequest, TopicRequest
from broker.protocol.messages.metadata import OPERATIONS_NOT_REQUESTED, MetadataRequest, MetadataRequestTopic
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC
from broker.security.operations import AclOperation
from tests.broker.server.authorization.allowed import Allowed, client_with, on_cluster, on_group, on_topic
from tests.broker.server.conftest import Client, Served

#: What Kafka without an authorizer answers.
OF_TOPIC, OF_CLUSTER, OF_GROUP = 3576, 8096, 3400


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
    operations = {topic.name: topic.topic_authorized_operations for topic in (await client.ask(request, 12)).topics}
    assert set(operations) >= set(names or ["t"])
    assert set(operations.values()) == {OF_TOPIC if is_asked else OPERATIONS_NOT_REQUESTED}


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
    operations = (await client.ask(request, 5)).groups[0].authorized_operations
    assert operations == (OF_GROUP if is_asked else OPERATIONS_NOT_REQUESTED)


async def test_what_is_not_allowed_is_not_told(served, client):
    """Of what may not be seen nothing at all; of the cluster, without Describe, that nothing is allowed."""
    del client
    rights = Allowed(
        [
            on_topic(AclOperation.DESCRIBE),
            on_topic(AclOperation.READ),
            on_topic(AclOperation.DESCRIBE, "missing"),
            on_topic(AclOperation.WRITE, "hidden"),
            on_group(AclOperation.DESCRIBE),
            on_group(AclOperation.READ, "hidden"),
            on_cluster(AclOperation.CREATE),
        ]
    )
    limited = await client_with(served, rights)
    topics = [MetadataRequestTopic(name=name) for name in ("t", "missing", "hidden")]
    metadata = MetadataRequest(
        topics=topics, include_topic_authorized_operations=True, include_cluster_authorized_operations=True
    )
    response = await limited.ask(metadata, 10)
    described, read = 1 << AclOperation.DESCRIBE, 1 << AclOperation.READ
    assert {topic.name: topic.topic_authorized_operations for topic in response.topics} == {
        "t": described | read,
        "missing": described,
        "hidden": OPERATIONS_NOT_REQUESTED,
    }
    assert response.cluster_authorized_operations == 0
    pages = DescribeTopicPartitionsRequest(topics=[TopicRequest(name=topic.name) for topic in topics])
    assert {topic.name: topic.topic_authorized_operations for topic in (await limited.ask(pages, 0)).topics} == {
        "t": described | read,
        "missing": described,
        "hidden": OPERATIONS_NOT_REQUESTED,
    }
    groups = DescribeGroupsRequest(groups=["g", "hidden"], include_authorized_operations=True)
    assert {group.group_id: group.authorized_operations for group in (await limited.ask(groups, 5)).groups} == {
        "g": described,
        "hidden": OPERATIONS_NOT_REQUESTED,
    }


@pytest.mark.parametrize("is_described", [True, False])
async def test_the_cluster_s_operations_are_told_to_who_may_describe_it(served, client, is_described):
    del client
    rights = [on_cluster(AclOperation.ALTER), *([on_cluster(AclOperation.DESCRIBE)] if is_described else [])]
    limited = await client_with(served, rights)
    request = DescribeClusterRequest(include_cluster_authorized_operations=True)
    operations = (await limited.ask(request, 1)).cluster_authorized_operations
    assert operations == (1 << AclOperation.ALTER | 1 << AclOperation.DESCRIBE if is_described else 0)
