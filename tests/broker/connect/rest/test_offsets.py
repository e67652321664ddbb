"""Why offsets of a sink cannot be changed: its tasks are there still, or something else is wrong."""

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.connect.herder.errors import BadRequest
from broker.connect.rest.offsets import _refused, _sink_offset, _sink_partition


@pytest.mark.parametrize(
    ("code", "is_there"),
    [(ErrorCode.NON_EMPTY_GROUP, True), (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, False)],
)
def test_only_who_has_members_is_told_to_be_stopped(code, is_there):
    told = str(_refused("out", ApiError(code)))
    assert told.startswith("Failed to change offsets of connector out: ")
    assert ("may not be fully stopped" in told) is is_there


@pytest.mark.parametrize("number", [1 << 63, -1, "1_0", " 7 ", True, None, 1e3, "9" * 5_000, [], {}])
def test_what_is_no_number_of_a_partition_or_an_offset_is_who_asks_fault(number):
    with pytest.raises(BadRequest):
        _sink_partition({"kafka_topic": "t", "kafka_partition": number})
    with pytest.raises(BadRequest):
        _sink_offset({"kafka_offset": number})


def test_the_largest_numbers_there_are_are_taken():
    assert _sink_partition({"kafka_topic": "t", "kafka_partition": str((1 << 31) - 1)}).partition == (1 << 31) - 1
    assert _sink_offset({"kafka_offset": (1 << 63) - 1}) == (1 << 63) - 1
    with pytest.raises(BadRequest):
        _sink_partition({"kafka_topic": "t", "kafka_partition": 1 << 31})
