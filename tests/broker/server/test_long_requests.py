"""Requests of thousands of elements: decoded in turns with others, a few at a time, in the order they came."""

import asyncio

import pytest

from broker.common.limits import ENTRIES_DECODED_IN_A_TURN, LONG_REQUESTS_DECODED_MAX
from broker.net import turns
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.api_versions import ApiVersionsRequest
from broker.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from broker.server.long_requests import LongRequests
from tests.broker.server.conftest import request_frame
from tests.eventually import eventually

PARTITIONS = 16 * ENTRIES_DECODED_IN_A_TURN
VERSION = 1


def wide(correlation_id: int = 1, topics: int = 1, partitions: int = PARTITIONS) -> bytes:
    partitions = [ListOffsetsPartition(partition_index=index, timestamp=-1) for index in range(partitions)]
    request = ListOffsetsRequest(topics=[ListOffsetsTopic(name="t", partitions=partitions)] * topics)
    return request_frame(request, VERSION, correlation_id)


class Watched:
    """How many requests are half decoded after each slice."""

    def __init__(self):
        self.slices: list[int] = []
        self.requests: LongRequests | None = None
        self.at_first = lambda: None


@pytest.fixture
def watched(monkeypatch):
    """Turns are short."""
    watched = Watched()
    decode = LongRequests._decode_a_slice

    def noted(requests, *arguments):
        watched.requests = requests
        result = decode(requests, *arguments)
        watched.slices.append(len(requests._decoding))
        if len(watched.slices) == 1:
            watched.at_first()
        return result

    monkeypatch.setattr(LongRequests, "_decode_a_slice", noted)
    monkeypatch.setattr(turns, "SLICE_S", 0)
    return watched


@pytest.fixture
def one_step(monkeypatch):
    """A slice ends after each step, as on a slow machine; the first is always done."""
    looked = [0]

    def is_over(self, slice_end):
        looked[0] += 1
        return looked[0] % 2 == 0

    monkeypatch.setattr(turns.Turns, "is_over", is_over)


async def test_others_are_answered_while_a_long_request_is_decoded(served, watched, one_step):
    client, other = await served.client(), await served.client()
    watched.at_first = lambda: other.writer.write(request_frame(ApiVersionsRequest(), 0))
    await client.send(wide())
    await other.answer(ApiKey.API_VERSIONS, 0)
    assert len(watched.slices) < PARTITIONS // ENTRIES_DECODED_IN_A_TURN
    response = await client.answer(ApiKey.LIST_OFFSETS, VERSION)
    assert len(response.topics[0].partitions) == PARTITIONS
    assert len(watched.slices) >= PARTITIONS // ENTRIES_DECODED_IN_A_TURN


async def test_what_comes_after_it_on_its_connection_is_answered_after_it(served, watched, one_step):
    client = await served.client()
    await client.send(wide(1) + request_frame(ApiVersionsRequest(), 0, 2) + wide(3))
    assert len((await client.answer(ApiKey.LIST_OFFSETS, VERSION, 1)).topics[0].partitions) == PARTITIONS
    await client.answer(ApiKey.API_VERSIONS, 0, 2)
    assert len((await client.answer(ApiKey.LIST_OFFSETS, VERSION, 3)).topics[0].partitions) == PARTITIONS


async def test_a_few_are_decoded_at_a_time_and_all_in_the_end(served, watched, one_step):
    few = 5 * ENTRIES_DECODED_IN_A_TURN
    clients = [await served.client() for _ in range(2 * LONG_REQUESTS_DECODED_MAX)]
    for client in clients:
        await client.send(wide(partitions=few))
    responses = await asyncio.gather(*(client.answer(ApiKey.LIST_OFFSETS, VERSION) for client in clients))
    assert {len(response.topics[0].partitions) for response in responses} == {few}
    assert max(watched.slices) == LONG_REQUESTS_DECODED_MAX


async def test_of_a_connection_that_is_closed_meanwhile_nothing_is_kept(served, watched, one_step):
    client = await served.client()
    watched.at_first = lambda: next(iter(watched.requests._decoding)).close("enough")
    await client.send(wide())
    assert await client.is_closed()
    await eventually(lambda: not watched.requests._decoding, "it is forgotten")
    assert watched.slices == [1]


async def test_one_that_is_malformed_at_its_end_ends_its_connection_only(served, watched, one_step):
    bystander, client = await served.client(), await served.client()
    whole = wide(topics=2)
    await client.send((len(whole) - 5).to_bytes(4) + whole[4:-1])
    assert await client.is_closed()
    assert len(watched.slices) >= PARTITIONS // ENTRIES_DECODED_IN_A_TURN
    assert not watched.requests._decoding
    await bystander.ask(ApiVersionsRequest(), 0)
