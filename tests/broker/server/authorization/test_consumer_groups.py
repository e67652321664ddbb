"""Consumer groups over a socket: their heartbeats, and what the tools of both types of group see."""

from broker.common.errors import ErrorCode
from broker.common.features import NOTHING_FINALIZED
from broker.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from broker.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from broker.protocol.messages.describe_groups import DescribeGroupsRequest
from broker.security.operations import AclOperation
from tests.broker.server.authorization.allowed import client_with, on_group, on_topic


def _join(**fields) -> ConsumerGroupHeartbeatRequest:
    values = {"group_id": "g", "member_id": "m", "rebalance_timeout_ms": 60_000, "topic_partitions": []}
    return ConsumerGroupHeartbeatRequest(**values | {"subscribed_topic_names": ["t"]} | fields)


async def test_member_gets_its_partitions_and_is_described(full):
    client = await full.client()
    response = await client.ask(_join(), 1)
    assert (response.error_code, response.member_epoch, response.heartbeat_interval_ms) == (0, 1, 5_000)
    (topic,) = response.assignment.topic_partitions
    assert topic.topic_id == full.metadata.topic_id_of("t")
    (group,) = (await client.ask(ConsumerGroupDescribeRequest(group_ids=["g", "g"]), 1)).groups
    assert (group.group_state, group.assignor_name) == ("Stable", "uniform")
    (described,) = group.members[0].assignment.topic_partitions
    assert (described.topic_name, described.partitions) == ("t", topic.partitions)


async def test_pattern_matches_only_topics_that_the_client_may_describe(full):
    full.tell_of("t2")
    client = await client_with(full, {on_group(AclOperation.READ), on_topic(AclOperation.DESCRIBE, "t2")})
    response = await client.ask(_join(subscribed_topic_names=None, subscribed_topic_regex="t.*"), 1)
    assert [topic.topic_id for topic in response.assignment.topic_partitions] == [full.metadata.topic_id_of("t2")]


async def test_group_with_topics_that_the_client_may_not_describe_is_not_described(full):
    client = await full.client()
    await client.ask(_join(), 1)
    other = await client_with(full, {on_group(AclOperation.DESCRIBE)})
    (group,) = (await other.ask(ConsumerGroupDescribeRequest(group_ids=["g"]), 1)).groups
    assert ErrorCode(group.error_code) is ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert group.members == []


async def test_description_of_a_classic_group_that_is_none_is_an_error_from_version_6_on(full):
    client = await full.client()
    await client.ask(_join(group_id="consumers"), 1)
    request = DescribeGroupsRequest(groups=["consumers", "nobody"])
    before = (await client.ask(request, 5)).groups
    assert [(group.error_code, group.group_state) for group in before] == [(0, "Dead")] * 2
    described = (await client.ask(request, 6)).groups
    assert [(group.error_message, group.group_state) for group in described] == [
        ("Group consumers is not a classic group.", "Dead"),
        ("Group nobody not found.", "Dead"),
    ]
    assert {ErrorCode(group.error_code) for group in described} == {ErrorCode.GROUP_ID_NOT_FOUND}


async def test_no_such_group_is_made_before_the_cluster_finalizes_group_version(full):
    full.features.finalized = NOTHING_FINALIZED
    response = await (await full.client()).ask(_join(), 1)
    assert response.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert "group.version" in response.error_message
