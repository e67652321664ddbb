"""Frames of responses: what is put together by hand is what the header's and the body's encoders say."""

import pytest

from broker.common.errors import InvariantViolation
from broker.protocol.codec import encode
from broker.protocol.headers import encode_response_header
from broker.protocol.messages import MESSAGES
from broker.protocol.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from broker.protocol.response_frame import PART_BYTES_MIN, response_framer

CORRELATION_ID = 0x01020304


def fetched(records: bytes | memoryview) -> FetchResponse:
    answer = PartitionData(partition_index=3, high_watermark=9, records=records)
    return FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[answer])])


@pytest.mark.parametrize("api", MESSAGES, ids=lambda api: api.name.lower())
def test_frame_is_size_and_header_and_body(api, sample):
    response = MESSAGES[api].response
    for version in range(response.versions[0], response.versions[1] + 1):
        frame = response_framer(response, version)
        for seed in range(3):
            sent = sample(response, version, seed)
            content = encode_response_header(api, version, CORRELATION_ID) + encode(sent, version)
            assert b"".join(frame(sent, CORRELATION_ID)) == len(content).to_bytes(4) + content, version


def test_large_payload_is_passed_on_uncopied():
    payload = memoryview(bytes(PART_BYTES_MIN))
    head, passed_on, tail = response_framer(FetchResponse, 12)(fetched(payload), CORRELATION_ID)
    assert passed_on is payload
    assert int.from_bytes(head[:4]) == len(head) + len(payload) + len(tail) - 4


def test_small_payload_is_joined_with_its_surroundings():
    (joined,) = response_framer(FetchResponse, 12)(fetched(bytes(100)), CORRELATION_ID)
    assert int.from_bytes(joined[:4]) == len(joined) - 4


def test_message_a_version_cannot_express_is_a_fault_of_ours():
    with pytest.raises(InvariantViolation, match="FetchResponse version 4 cannot express"):
        response_framer(FetchResponse, 4)(FetchResponse(session_id=5), CORRELATION_ID)
