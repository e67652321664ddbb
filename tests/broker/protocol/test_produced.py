"""The body written by hand is the one the declaration gives, whatever succeeded."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.protocol.codec import encode
from broker.protocol.messages.produce import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from broker.protocol.produced import FIRST_VERSION, Produced, encode_produced, encode_produced_by_id

FIRST_BY_ID = 13
LAST = ProduceResponse.versions[1]
offsets = st.integers(-1, 2**63 - 1)
partitions = st.builds(Produced, st.integers(0, 2**31 - 1), offsets, offsets, offsets)
topics = st.tuples(st.text(max_size=249), st.lists(partitions, max_size=5))
MANY = [("n" * 200, [Produced(index, 2 * index, -1, 0) for index in range(300)])] * 130


def declared_response(appended: list[tuple[str, list[Produced]]]) -> ProduceResponse:
    responses = [
        TopicProduceResponse(
            name=name, partition_responses=[PartitionProduceResponse(**partition._asdict()) for partition in partitions]
        )
        for name, partitions in appended
    ]
    return ProduceResponse(responses=responses)


def declared(version: int, appended: list[tuple[str, list[Produced]]]) -> bytes:
    return encode(declared_response(appended), version)


@pytest.mark.parametrize("version", range(FIRST_VERSION, FIRST_BY_ID))
@given(st.lists(topics, max_size=4))
def test_body_is_that_of_the_declaration(version, appended):
    assert encode_produced(version, appended) == declared(version, appended)


@pytest.mark.parametrize("version", range(FIRST_VERSION, FIRST_BY_ID))
def test_body_of_many_topics_and_partitions_is_that_of_the_declaration(version):
    assert encode_produced(version, MANY) == declared(version, MANY)


@pytest.mark.parametrize("version", range(FIRST_BY_ID, LAST + 1))
@given(st.lists(st.tuples(st.uuids(), st.lists(partitions, max_size=5)), max_size=4))
def test_body_that_names_topics_by_their_ids_is_that_of_the_declaration(version, appended):
    by_name = [("", partitions_of_topic) for _, partitions_of_topic in appended]
    response = declared_response(by_name)
    for topic, (topic_id, _) in zip(response.responses, appended, strict=True):
        topic.topic_id = topic_id
    assert encode_produced_by_id(appended) == encode(response, version)
