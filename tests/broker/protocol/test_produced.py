"""The body written by hand is the one the declaration gives, whatever succeeded."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.protocol.codec import encode
from broker.protocol.messages.produce import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from broker.protocol.produced import FIRST_VERSION, Produced, encode_produced

offsets = st.integers(-1, 2**63 - 1)
partitions = st.builds(Produced, st.integers(0, 2**31 - 1), offsets, offsets, offsets)
topics = st.tuples(st.text(max_size=249), st.lists(partitions, max_size=5))
MANY = [("n" * 200, [Produced(index, 2 * index, -1, 0) for index in range(300)])] * 130


def declared(version: int, appended: list[tuple[str, list[Produced]]]) -> bytes:
    responses = [
        TopicProduceResponse(
            name=name, partition_responses=[PartitionProduceResponse(**partition._asdict()) for partition in partitions]
        )
        for name, partitions in appended
    ]
    return encode(ProduceResponse(responses=responses), version)


@pytest.mark.parametrize("version", range(FIRST_VERSION, ProduceResponse.versions[1] + 1))
@given(st.lists(topics, max_size=4))
def test_body_is_that_of_the_declaration(version, appended):
    assert encode_produced(version, appended) == declared(version, appended)


@pytest.mark.parametrize("version", range(FIRST_VERSION, ProduceResponse.versions[1] + 1))
def test_body_of_many_topics_and_partitions_is_that_of_the_declaration(version):
    assert encode_produced(version, MANY) == declared(version, MANY)
