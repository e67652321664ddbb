"""Requests in order, waiting fetches and fenced leaders, over a real socket."""

import asyncio

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.handlers.registry import HANDLERS
from broker.log.log_slice import LogSlice
from broker.protocol.api_keys import OWN_APIS_FROM, ApiKey
from broker.protocol.messages.api_versions import OWN_SOFTWARE, ApiVersionsRequest
from broker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from broker.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from broker.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from broker.records.batch import iterate_headers
from broker.records.record import decode_records
from tests.broker.server.conftest import INTRODUCTION, request_frame
from tests.broker.server.test_bad_input import batch_of, produce


def fetch(offset: int, max_wait_ms: int = 0, min_bytes: int = 1, max_bytes: int = 1_000_000, epoch: int = -1):
    partition = FetchPartition(
        partition=0, fetch_offset=offset, partition_max_bytes=max_bytes, current_leader_epoch=epoch
    )
    return FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=min_bytes,
        max_bytes=max_bytes,
        topics=[FetchTopic(topic="t", partitions=[partition])],
    )


def only(response):
    return response.responses[0].partitions[0]


async def test_api_versions_says_what_the_registry_lists(served):
    response = await (await served.client()).ask(INTRODUCTION, 3)
    versions = {key.api_key: (key.min_version, key.max_version) for key in response.api_keys}
    for_all = [handler for handler in HANDLERS if handler.advertised and handler.api < OWN_APIS_FROM]
    assert versions == {handler.api: handler.advertised for handler in for_all}
    assert ApiKey.LEADER_AND_ISR not in versions


async def test_only_programs_of_this_product_are_told_of_its_own_apis(served):
    request = ApiVersionsRequest(client_software_name=OWN_SOFTWARE, client_software_version="1")
    response = await (await served.client()).ask(request, 3)
    own = {key.api_key for key in response.api_keys if key.api_key >= OWN_APIS_FROM}
    assert own == {ApiKey.PREVIEW_RETENTION, ApiKey.DESCRIBE_REQUESTS, ApiKey.DESCRIBE_CLIENT_TRAFFIC}


async def test_what_is_advertised_is_served_but_for_the_produce_versions_that_librdkafka_looks_for(served):
    """Without Produce 0 in the list older librdkafka sends nothing compressed; Kafka 4 says it too (KAFKA-18659)."""
    response = await (await served.client()).ask(INTRODUCTION, 3)
    served_versions = {handler.api: handler.served for handler in HANDLERS}
    beyond = {
        key.api_key
        for key in response.api_keys
        if not served_versions[key.api_key][0] <= key.min_version <= key.max_version <= served_versions[key.api_key][1]
    }
    assert beyond == {ApiKey.PRODUCE}


async def test_a_batch_is_read_back_as_it_was_written(served):
    served.lead("t", leader_epoch=4)
    client = await served.client()
    await client.ask(produce(batch_of(b"a", b"b")), 9)
    written = (await client.ask(produce(batch_of(b"c")), 9)).responses[0].partition_responses[0]
    assert written.base_offset == 2
    read = only(await client.ask(fetch(2), 12))
    assert read.high_watermark == 3
    assert [(record.offset, record.value) for record in decode_records(read.records)] == [(2, b"c")]


async def test_a_fetch_waits_until_there_is_something(served):
    served.lead("t")
    reader, writer = await served.client(), await served.client()
    await reader.send_request(fetch(0, max_wait_ms=60_000), 12)
    while not len(served.delayed_fetches):
        await asyncio.sleep(0)
    await writer.ask(produce(batch_of(b"late")), 9)
    read = only(await reader.answer(ApiKey.FETCH, 12))
    assert decode_records(read.records)[0].value == b"late"


async def test_a_fetch_waits_for_as_many_bytes_as_it_wants(served):
    served.lead("t")
    reader, writer = await served.client(), await served.client()
    await reader.send_request(fetch(0, max_wait_ms=60_000, min_bytes=150), 12)
    for _ in range(3):
        await writer.ask(produce(batch_of(b"x")), 9)
    read = only(await reader.answer(ApiKey.FETCH, 12))
    assert len(read.records) >= 150


async def test_a_fetch_that_waited_in_vain_is_answered_empty(served):
    served.lead("t")
    read = only(await (await served.client()).ask(fetch(0, max_wait_ms=20), 12))
    assert (read.error_code, len(read.records)) == (ErrorCode.NONE, 0)


async def test_a_waiting_fetch_leaves_with_its_connection(served):
    served.lead("t")
    reader = await served.client()
    await reader.send_request(fetch(0, max_wait_ms=60_000), 12)
    while not len(served.delayed_fetches):
        await asyncio.sleep(0)
    reader.writer.close()
    while len(served.delayed_fetches):
        await asyncio.sleep(0)
    assert served.listener.connection_count == 0


async def test_trap_46_a_waiting_fetch_is_told_when_the_leader_moves(served):
    served.lead("t")
    reader = await served.client()
    await reader.send_request(fetch(0, max_wait_ms=60_000), 12)
    while not len(served.delayed_fetches):
        await asyncio.sleep(0)
    served.lead("t", leader=2, leader_epoch=1)
    assert only(await reader.answer(ApiKey.FETCH, 12)).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


async def test_answers_keep_the_order_of_requests_though_a_later_one_is_ready_first(served):
    served.lead("t")
    client = await served.client()
    await client.send_request(fetch(0, max_wait_ms=50), 12, correlation_id=1)
    await client.send_request(ApiVersionsRequest(), 0, correlation_id=2)
    assert (await client.answer(ApiKey.FETCH, 12, correlation_id=1)).responses
    assert (await client.answer(ApiKey.API_VERSIONS, 0, correlation_id=2)).api_keys


async def test_a_batch_larger_than_the_limit_is_sent_all_the_same(served):
    served.lead("t")
    client = await served.client()
    await client.ask(produce(batch_of(b"x" * 5_000)), 9)
    assert len(only(await client.ask(fetch(0, max_bytes=10), 12)).records) > 5_000


async def test_a_large_answer_sent_from_the_file_reads_back_equal(served):
    served.lead("t")
    client = await served.client()
    values = [bytes([number]) * 100_000 for number in range(10)]
    for value in values:
        await client.ask(produce(batch_of(value)), 9)
    read = only(await client.ask(fetch(0), 12))
    records = []
    for at, header in iterate_headers(read.records):
        records += decode_records(read.records[at : at + header.size_bytes])
    assert [record.value for record in records] == values[: len(records)]
    assert len(read.records) > 800_000


async def test_an_offset_nobody_has_is_out_of_range(served):
    served.lead("t")
    client = await served.client()
    assert only(await client.ask(fetch(7), 12)).error_code == ErrorCode.OFFSET_OUT_OF_RANGE


async def test_trap_04_leader_epochs_of_fetches_are_fenced(served):
    served.lead("t", leader_epoch=5)
    client = await served.client()
    assert only(await client.ask(fetch(0, epoch=4), 12)).error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert only(await client.ask(fetch(0, epoch=6), 12)).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
    assert only(await client.ask(fetch(0, epoch=5), 12)).error_code == ErrorCode.NONE


async def test_an_unknown_topic_is_not_created_where_that_is_off(served):
    request = MetadataRequest(topics=[MetadataRequestTopic(name="missing")])
    response = await (await served.client()).ask(request, 9)
    assert response.topics[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


async def test_offsets_are_listed_by_meaning_and_by_time(served):
    served.lead("t")
    client = await served.client()
    await client.ask(produce(batch_of(b"a", b"b")), 9)

    async def offset_at(timestamp: int) -> int:
        topic = ListOffsetsTopic(name="t", partitions=[ListOffsetsPartition(timestamp=timestamp)])
        return (await client.ask(ListOffsetsRequest(topics=[topic]), 7)).topics[0].partitions[0].offset

    assert await offset_at(-1) == 2
    assert await offset_at(-2) == 0
    assert await offset_at(-3) == 0
    assert await offset_at(1_600_000_000_000) == 0
    assert await offset_at(1_800_000_000_000) == -1


async def test_what_is_written_between_a_fetch_and_its_wait_is_not_missed(served):
    served.lead("t")
    client = await served.client()
    together = b"".join(request_frame(item, version) for item, version in [(fetch(0, 60_000), 12), (produce_one(), 9)])
    await client.send(together)
    assert len(only(await client.answer(ApiKey.FETCH, 12)).records) > 0


@pytest.mark.parametrize("limits", [{"max_bytes": 100}, {"max_bytes": 0}, {"max_bytes": -1}])
async def test_a_fetch_does_not_wait_for_more_than_it_has_room_for(served, limits):
    served.lead("t")
    client = await served.client()
    for _ in range(3):
        await client.ask(produce(batch_of(b"x" * 60)), 9)
    read = only(await client.ask(fetch(0, max_wait_ms=60_000, min_bytes=100_000, **limits), 12))
    assert len(decode_records(read.records)) == 1


async def test_a_fetch_of_nothing_is_answered_at_once(served):
    client = await served.client()
    request = FetchRequest(max_wait_ms=60_000, min_bytes=1, topics=[FetchTopic(topic="t", partitions=[])])
    assert (await client.ask(request, 12)).responses == []


async def test_a_disk_that_does_not_give_records_back_is_an_answer(served, monkeypatch):
    served.lead("t")
    client = await served.client()
    await client.ask(produce_one(), 9)

    def fail(_slice):
        raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR)

    monkeypatch.setattr(LogSlice, "read", fail)
    assert only(await client.ask(fetch(0), 12)).error_code == ErrorCode.KAFKA_STORAGE_ERROR


def produce_one():
    return produce(batch_of(b"x"))
