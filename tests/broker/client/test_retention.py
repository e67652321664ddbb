"""Previews are asked of the leader of each partition, and put together."""

import asyncio

import pytest

from broker.client.cluster import ClusterConnections, parse_bootstrap_servers
from broker.client.errors import BrokerUnreachable, LoginRefused
from broker.client.retention import PreviewQuestion, preview_retention
from broker.common.errors import ApiError, ErrorCode
from broker.security.membership import ClusterMembership
from tests.broker.server.conftest import served  # noqa: F401
from tests.broker.server.test_bad_input import batch_of, produce
from tests.members import MEMBERSHIP, new_nonce


async def previewed(broker, question: PreviewQuestion):
    def ask():
        with ClusterConnections([("127.0.0.1", broker.listener.port)]) as cluster:
            return preview_retention(cluster, question, MEMBERSHIP)

    return await asyncio.to_thread(ask)


@pytest.fixture
async def broker(served):  # noqa: F811
    """Leads "t" with two partitions, and a record in the first."""
    served.lead("t", 2)
    served.tell_of("t", 2)
    await (await served.client()).ask(produce(batch_of(b"x")), 9)
    return served


async def test_all_partitions_are_asked_unless_some_are_named(broker):
    preview = await previewed(broker, PreviewQuestion("t", configs={"retention.ms": "0"}))
    assert [(partition.partition_index, partition.deleted_records) for partition in preview.partitions] == [
        (0, 1),
        (1, 0),
    ]
    preview = await previewed(broker, PreviewQuestion("t", partitions=[1]))
    assert [partition.partition_index for partition in preview.partitions] == [1]


async def test_an_unknown_topic_is_one_sentence_and_is_not_created(broker):
    with pytest.raises(ApiError, match="there is no topic 'missing'"):
        await previewed(broker, PreviewQuestion("missing"))
    assert "missing" not in broker.metadata.topics


async def test_a_configuration_that_cannot_be_is_the_brokers_sentence(broker):
    with pytest.raises(ApiError, match=r"Invalid value soon for configuration retention\.ms: Not a number"):
        await previewed(broker, PreviewQuestion("t", configs={"retention.ms": "soon"}))


async def test_a_partition_there_is_not_and_one_without_a_leader_carry_their_errors(broker):
    broker.tell_of("t", 2, leader=9)
    preview = await previewed(broker, PreviewQuestion("t", partitions=[0, 7]))
    assert {partition.partition_index: partition.error_code for partition in preview.partitions} == {
        0: ErrorCode.LEADER_NOT_AVAILABLE,
        7: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }


async def test_a_broker_that_is_away_is_passed_over(broker):
    def ask():
        with ClusterConnections([("127.0.0.1", 1), ("127.0.0.1", broker.listener.port)]) as cluster:
            return preview_retention(cluster, PreviewQuestion("t"), MEMBERSHIP)

    assert len((await asyncio.to_thread(ask)).partitions) == 2


def test_a_cluster_that_is_away_is_one_sentence():
    with ClusterConnections([("127.0.0.1", 1)]) as cluster, pytest.raises(BrokerUnreachable, match="cannot connect"):
        preview_retention(cluster, PreviewQuestion("t"), MEMBERSHIP)


def test_addresses_of_brokers_are_read():
    assert parse_bootstrap_servers("a:1, [::1]:9092,") == (("a", 1), ("::1", 9092))
    assert parse_bootstrap_servers("PLAINTEXT://a:1,SASL_SSL://[::1]:9092") == (("a", 1), ("::1", 9092))
    for wrong in ("a", "a:b", ":1", "a:70000", "PLAINTEXT://:1", "PLAINTEXT://a"):
        with pytest.raises(ApiError, match="is not host:port"):
            parse_bootstrap_servers(wrong)


async def test_who_is_no_member_is_told_so_and_gets_no_preview(broker):
    def ask(membership):
        with ClusterConnections([("127.0.0.1", broker.listener.port)]) as cluster:
            return preview_retention(cluster, PreviewQuestion("t"), membership)

    with pytest.raises(ApiError) as refused:
        await asyncio.to_thread(ask, None)
    assert refused.value.code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    with pytest.raises(LoginRefused, match="does not take us for a member"):
        await asyncio.to_thread(ask, ClusterMembership(bytes(32), new_nonce))
