"""Why offsets of a sink cannot be changed: its tasks are there still, or something else is wrong."""

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.connect.rest.offsets import _refused


@pytest.mark.parametrize(
    ("code", "is_there"),
    [(ErrorCode.NON_EMPTY_GROUP, True), (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, False)],
)
def test_only_who_has_members_is_told_to_be_stopped(code, is_there):
    told = str(_refused("out", ApiError(code)))
    assert told.startswith("Failed to change offsets of connector out: ")
    assert ("may not be fully stopped" in told) is is_there
