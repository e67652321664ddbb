"""Frames of responses: what is put together by hand is what the header's and the body's encoders say."""

import pytest

from broker.common.errors import InvariantViolation
from broker.common.limits import ENTRIES_ENCODED_IN_A_TURN
from broker.protocol.answered_errors import error_check
from broker.protocol.codec import decode, encode
from broker.protocol.made_late import joined, made_late
from broker.protocol.messages import MESSAGES
from broker.protocol.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from broker.protocol.messages.list_groups import ListedGroup, ListGroupsResponse
from broker.protocol.response_frame import PART_BYTES_MIN, Framed, response_framer, stepwise_framer
from tests.response_headers import encode_response_header

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


def in_steps(message, version) -> tuple[int, Framed]:
    """In how many steps, and what came of them."""
    steps = stepwise_framer(type(message), version)(message, CORRELATION_ID)
    for count in range(1, 1_000):
        try:
            next(steps)
        except StopIteration as end:
            return count, end.value
    raise AssertionError("it does not end")


@pytest.mark.parametrize("api", MESSAGES, ids=lambda api: api.name.lower())
def test_a_frame_made_in_steps_is_the_same_and_its_errors_are_seen(api, sample):
    response = MESSAGES[api].response
    for version in range(response.versions[0], response.versions[1] + 1):
        for seed in range(3):
            sent = sample(response, version, seed)
            expected = b"".join(response_framer(response, version)(sent, CORRELATION_ID))
            _, framed = in_steps(sent, version)
            assert b"".join(framed.parts) == expected, version
            known = decode(response, encode(sent, version), version)
            assert framed.error_code == error_check(response)(known), version


def listed(count: int) -> ListGroupsResponse:
    groups = [ListedGroup(group_id=f"g-{number}", protocol_type="consumer") for number in range(count)]
    return ListGroupsResponse(groups=groups)


def test_a_long_answer_is_encoded_a_bounded_number_of_elements_at_a_time():
    assert in_steps(listed(ENTRIES_ENCODED_IN_A_TURN - 1), 4)[0] == 1
    steps, framed = in_steps(listed(10 * ENTRIES_ENCODED_IN_A_TURN + 1), 4)
    assert steps == 11
    assert max(map(len, framed.parts)) < 50 * ENTRIES_ENCODED_IN_A_TURN


def test_elements_within_elements_count():
    partitions = [PartitionData(partition_index=number) for number in range(ENTRIES_ENCODED_IN_A_TURN)]
    topics = [FetchableTopicResponse(topic=name, partitions=partitions) for name in "ab"]
    steps, framed = in_steps(FetchResponse(responses=topics), 12)
    assert steps == 3
    expected = b"".join(response_framer(FetchResponse, 12)(FetchResponse(responses=topics), CORRELATION_ID))
    assert b"".join(framed.parts) == expected


def test_large_payload_is_passed_on_uncopied_in_steps_too():
    payload = memoryview(bytes(PART_BYTES_MIN))
    _, framed = in_steps(fetched(payload), 12)
    assert framed.parts[1] is payload


def test_elements_that_are_made_late_are_made_step_by_step():
    made = []

    def make(number: int) -> ListedGroup:
        made.append(number)
        return ListedGroup(group_id=f"g-{number}", protocol_type="consumer")

    count = 2 * ENTRIES_ENCODED_IN_A_TURN + 1
    response = ListGroupsResponse(groups=joined([made_late(range(count), make), []]))
    steps = stepwise_framer(ListGroupsResponse, 4)(response, CORRELATION_ID)
    next(steps)
    assert len(made) == ENTRIES_ENCODED_IN_A_TURN
    next(steps)
    with pytest.raises(StopIteration) as end:
        next(steps)
    expected = b"".join(response_framer(ListGroupsResponse, 4)(listed(count), CORRELATION_ID))
    assert b"".join(end.value.value.parts) == expected
    assert made == list(range(count))


def test_a_message_a_version_cannot_express_is_a_fault_of_ours_in_steps_too():
    with pytest.raises(InvariantViolation, match="FetchResponse version 4 cannot express"):
        in_steps(FetchResponse(session_id=5), 4)
