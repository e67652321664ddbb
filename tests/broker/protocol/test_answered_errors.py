"""An answer carries an error wherever its declaration has room for one."""

import pytest

from broker.common.errors import ErrorCode
from broker.protocol.answered_errors import error_check
from broker.protocol.messages import MESSAGES
from broker.protocol.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from broker.protocol.messages.heartbeat import HeartbeatResponse
from broker.protocol.messages.metadata import MetadataResponse, MetadataResponseTopic


@pytest.mark.parametrize("pair", MESSAGES.values(), ids=lambda pair: pair.response.__name__)
def test_an_answer_as_it_is_made_carries_no_error(pair):
    assert error_check(pair.response)(pair.response()) == ErrorCode.NONE


def test_an_error_at_the_top_is_found():
    answer = HeartbeatResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID)
    assert error_check(HeartbeatResponse)(answer) == ErrorCode.UNKNOWN_MEMBER_ID


def test_an_error_of_one_partition_among_many_is_found():
    fine, wrong = PartitionData(partition_index=0), PartitionData(partition_index=1, error_code=1)
    error_in = error_check(FetchResponse)
    assert not error_in(FetchResponse(responses=[FetchableTopicResponse(partitions=[fine, fine])]))
    answer = FetchResponse(
        responses=[FetchableTopicResponse(partitions=[fine]), FetchableTopicResponse(partitions=[fine, wrong])]
    )
    assert error_in(answer) == ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_list_that_is_null_holds_no_error():
    answer = MetadataResponse(topics=[MetadataResponseTopic(name=None, partitions=None)])
    assert not error_check(MetadataResponse)(answer)
