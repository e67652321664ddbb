"""DescribeTopicPartitions over a socket: pages, and where the next one begins (KIP-966)."""

import pytest

from broker.common.errors import ErrorCode
from broker.protocol.messages.describe_topic_partitions import Cursor, DescribeTopicPartitionsRequest, TopicRequest
from tests.broker.server.conftest import Client, Served

OF_TOPIC = 3576


@pytest.fixture
async def client(served: Served) -> Client:
    for name, partitions in (("c", 1), ("a", 3), ("b", 2)):
        served.tell_of(name, partitions)
    return await served.client()


async def page(client: Client, limit: int = 2_000, cursor: Cursor | None = None, names: tuple[str, ...] = ()):
    topics = [TopicRequest(name=name) for name in names]
    request = DescribeTopicPartitionsRequest(topics=topics, response_partition_limit=limit, cursor=cursor)
    return await client.ask(request, 0)


def partitions_of(response) -> list[tuple[str, list[int]]]:
    return [(topic.name, [partition.partition_index for partition in topic.partitions]) for topic in response.topics]


async def test_all_topics_are_told_in_the_order_of_their_names(client):
    response = await page(client)
    assert partitions_of(response) == [("a", [0, 1, 2]), ("b", [0, 1]), ("c", [0])]
    assert response.next_cursor is None
    assert {topic.topic_authorized_operations for topic in response.topics} == {OF_TOPIC}
    partition = response.topics[0].partitions[0]
    assert (partition.leader_id, partition.isr_nodes, partition.replica_nodes) == (1, [1], [1])


async def test_who_may_lead_below_min_insync_replicas_is_nobody_rather_than_null_as_javas_admin_reads_both(client):
    response = await page(client)
    (partition,) = response.topics[2].partitions
    assert (partition.eligible_leader_replicas, partition.last_known_elr) == ([], [])


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("names", [(), ("b", "c", "a", "b")])
async def test_pages_follow_each_other_without_gap_or_repetition(client, limit, names):
    pages, cursor = [], None
    for _ in range(6):
        response = await page(client, limit, cursor, names)
        indexes = [(name, index) for name, partitions in partitions_of(response) for index in partitions]
        assert 0 < len(indexes) <= limit
        pages += indexes
        cursor = response.next_cursor
        if cursor is None:
            break
    assert pages == [("a", 0), ("a", 1), ("a", 2), ("b", 0), ("b", 1), ("c", 0)]


async def test_no_page_is_larger_than_the_brokers_limit(client, monkeypatch):
    monkeypatch.setattr("broker.handlers.describe_topic_partitions.DESCRIBED_PARTITIONS_MAX", 2)
    response = await page(client)
    assert partitions_of(response) == [("a", [0, 1])]
    assert (response.next_cursor.topic_name, response.next_cursor.partition_index) == ("a", 2)


@pytest.mark.parametrize("limit", [0, -5])
async def test_a_limit_that_allows_nothing_allows_one(client, limit):
    assert partitions_of(await page(client, limit)) == [("a", [0])]


async def test_a_page_whose_topic_is_gone_begins_at_the_next(client):
    cursor = Cursor(topic_name="aa", partition_index=5)
    assert partitions_of(await page(client, cursor=cursor)) == [("b", [0, 1]), ("c", [0])]


async def test_what_is_not_there_is_said_to_be_so(client):
    response = await page(client, names=("missing", "a", "no/name"))
    codes = {topic.name: ErrorCode(topic.error_code) for topic in response.topics}
    assert codes == {
        "a": ErrorCode.NONE,
        "missing": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        "no/name": ErrorCode.INVALID_TOPIC_EXCEPTION,
    }


async def test_a_cursor_at_no_partition_is_refused(client):
    response = await page(client, cursor=Cursor(topic_name="a", partition_index=-1), names=("a",))
    assert [topic.error_code for topic in response.topics] == [ErrorCode.INVALID_REQUEST]
