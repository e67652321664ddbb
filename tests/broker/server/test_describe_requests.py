"""DescribeRequests over a socket: what was asked, how often, how long it took, and what was refused."""

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.handlers.describe_requests import UNCLEANABLE_TOLD_MAX
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.describe_requests import DescribeRequestsRequest
from broker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from broker.protocol.messages.heartbeat import HeartbeatRequest
from broker.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.broker.server.test_bad_input import batch_of, produce


async def counted(client) -> dict[ApiKey, tuple[int, int]]:
    answer = await client.ask(DescribeRequestsRequest(), 0)
    return {
        ApiKey(result.api_key): (result.count, result.error_count)
        for result in answer.results
        if result.api_key not in (ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE)
    }


async def test_requests_are_counted_by_kind_once_they_are_answered(served):
    served.lead("t")
    served.tell_of("t")
    client = await served.member()
    for _ in range(3):
        await client.ask(produce(batch_of(b"x")), 9)
    await client.ask(MetadataRequest(topics=[]), 12)
    assert await counted(client) == {ApiKey.PRODUCE: (3, 0), ApiKey.METADATA: (1, 0)}
    assert (await counted(client))[ApiKey.DESCRIBE_REQUESTS] == (1, 0)


async def test_an_answer_with_an_error_counts_as_one(served):
    client = await served.member()
    await client.ask(produce(batch_of(b"x"), topic="missing"), 9)
    await client.ask(HeartbeatRequest(group_id="g", generation_id=1, member_id="nobody"), 4)
    assert await counted(client) == {ApiKey.PRODUCE: (1, 1), ApiKey.HEARTBEAT: (1, 1)}


async def test_the_errors_are_told_by_their_codes(served):
    client = await served.member()
    for topic in ("missing", "missing", "x" * 300):
        await client.ask(produce(batch_of(b"x"), topic=topic), 9)
    await client.ask(MetadataRequest(topics=[MetadataRequestTopic(name="missing")]), 12)
    results = (await client.ask(DescribeRequestsRequest(), 0)).results
    errors = {ApiKey(result.api_key): {error.code: error.count for error in result.errors} for result in results}
    assert errors[ApiKey.METADATA] == {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: 1}
    assert errors[ApiKey.PRODUCE][ErrorCode.UNKNOWN_TOPIC_OR_PARTITION] >= 2
    assert all(sum(errors[result.api_key].values()) == result.error_count for result in results)


async def test_a_request_that_waits_is_counted_with_its_wait(served):
    served.lead("t")
    served.tell_of("t")
    client = await served.member()
    topics = [FetchTopic(topic="t", partitions=[FetchPartition(partition=0, partition_max_bytes=1000)])]
    await client.ask(FetchRequest(max_wait_ms=60, min_bytes=1, max_bytes=1000, topics=topics), 11)
    (fetch,) = (
        result for result in (await client.ask(DescribeRequestsRequest(), 0)).results if result.api_key == ApiKey.FETCH
    )
    assert (fetch.api_key, fetch.count, sum(bucket.count for bucket in fetch.buckets)) == (ApiKey.FETCH, 1, 1)
    assert 60_000 <= fetch.max_us <= fetch.buckets[-1].up_to_us


async def test_coordinators_that_could_not_be_loaded_are_counted_for_who_asks_in_the_new_version(served):
    client = await served.member()
    served.groups.not_loaded.update({3, 4})
    answer = await client.ask(DescribeRequestsRequest(), 1)
    assert (answer.group_coordinators_not_loaded, answer.transaction_coordinators_not_loaded) == (2, 0)
    assert (await client.ask(DescribeRequestsRequest(), 0)).group_coordinators_not_loaded == 0


async def test_partitions_that_are_compacted_no_more_are_told_with_the_reason(served):
    client = await served.member()
    assert (await client.ask(DescribeRequestsRequest(), 5)).uncleanable == []
    damaged = {TopicPartition("orders", number): f"CRC {'x' * 400}" for number in range(150)}
    served.logs.uncleanable = damaged
    uncleanable = (await client.ask(DescribeRequestsRequest(), 5)).uncleanable
    assert len(uncleanable) == UNCLEANABLE_TOLD_MAX
    assert [(item.topic, item.partition, len(item.reason)) for item in uncleanable[:2]] == [
        ("orders", 0, 300),
        ("orders", 1, 300),
    ]


async def test_the_controller_names_the_brokers_of_another_kafka_in_its_ensemble(served):
    client = await served.member()
    assert (await client.ask(DescribeRequestsRequest(), 3)).foreign_brokers == []
    served.controller.foreign_brokers = frozenset({22, 21})
    assert (await client.ask(DescribeRequestsRequest(), 3)).foreign_brokers == [21, 22]
