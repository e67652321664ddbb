"""Produce from version 13 on, and TxnOffsetCommit from 6 on, name topics by their ids (KIP-516, KIP-1319)."""

from uuid import UUID

import pytest

from broker.common.errors import ErrorCode
from broker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.broker.server.conftest import TOPIC_ID, topic_id_of
from tests.broker.server.test_bad_input import batch_of

BY_ID = 13
UNKNOWN_ID = UUID(int=404)


def produce(*topic_ids: UUID, acks: int = -1, index: int = 0) -> ProduceRequest:
    return ProduceRequest(
        acks=acks,
        timeout_ms=10_000,
        topic_data=[
            TopicProduceData(
                topic_id=topic_id, partition_data=[PartitionProduceData(index=index, records=batch_of(b"x"))]
            )
            for topic_id in topic_ids
        ],
    )


def outcomes(response) -> list[tuple[UUID, ErrorCode, int]]:
    return [
        (topic.topic_id, ErrorCode(partition.error_code), partition.base_offset)
        for topic in response.responses
        for partition in topic.partition_responses
    ]


@pytest.fixture
async def client(served):
    for topic in ("t", "other"):
        served.lead(topic)
        served.tell_of(topic)
    return await served.client()


async def test_batches_go_to_the_topics_that_have_the_ids(served, client):
    response = await client.ask(produce(topic_id_of("other"), TOPIC_ID), BY_ID)
    assert outcomes(response) == [(topic_id_of("other"), ErrorCode.NONE, 0), (TOPIC_ID, ErrorCode.NONE, 0)]
    assert [served.replicas.get(topic, 0).log.log_end_offset for topic in ("t", "other")] == [1, 1]


async def test_an_id_that_no_topic_has_is_refused_alone(client):
    response = await client.ask(produce(UNKNOWN_ID, TOPIC_ID), BY_ID)
    assert outcomes(response) == [(UNKNOWN_ID, ErrorCode.UNKNOWN_TOPIC_ID, -1), (TOPIC_ID, ErrorCode.NONE, 0)]


async def test_the_id_of_a_topic_is_not_that_of_the_next_one_of_its_name(served, client):
    """A broker may host the partition of the new topic before it is told of it."""
    served.tell_of("new", topic_id=UUID(int=1))
    served.lead("new", topic_id=UUID(int=2))
    response = await client.ask(produce(UUID(int=1), UUID(int=2)), BY_ID)
    assert outcomes(response) == [
        (UUID(int=1), ErrorCode.UNKNOWN_TOPIC_ID, -1),
        (UUID(int=2), ErrorCode.NONE, 0),
    ]


async def test_who_does_not_lead_says_so_whatever_the_topic_is_called_by(served, client):
    served.tell_of("elsewhere", leader=2)
    response = await client.ask(produce(topic_id_of("elsewhere")), BY_ID)
    assert outcomes(response) == [(topic_id_of("elsewhere"), ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)]


async def test_without_a_response_an_unknown_id_closes_the_connection(client):
    await client.send_request(produce(UNKNOWN_ID, acks=0), BY_ID)
    assert await client.is_closed()
