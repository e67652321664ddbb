"""A member of a group heeds the responses of its coordinator."""

from types import SimpleNamespace

import pytest

from broker.client.membership import MembershipClient
from broker.common.errors import ApiError, ErrorCode
from broker.protocol.messages.find_coordinator import FindCoordinatorResponse
from broker.protocol.messages.heartbeat import HeartbeatResponse
from broker.protocol.messages.join_group import JoinGroupResponse


class FakeCluster:
    """Its coordinator sends `responses`, one after the other."""

    def __init__(self, *responses):
        self._responses = list(responses)

    def ask_any(self, _request, version_max):
        return FindCoordinatorResponse(host="host", port=9092)

    def connection(self, _host, _port, **_how):
        return SimpleNamespace(ask=lambda _request, timeout_s: self._responses.pop(0))


def member_of(*responses) -> MembershipClient:
    return MembershipClient(
        FakeCluster(*responses), "group", "turn", session_timeout_ms=10_000, rebalance_timeout_ms=5_000
    )


def test_a_member_that_is_given_its_id_joins_with_it():
    numbered = JoinGroupResponse(error_code=ErrorCode.MEMBER_ID_REQUIRED, member_id="m-1")
    joined = JoinGroupResponse(generation_id=3, member_id="m-1", leader="m-1", protocol_name="leader")
    member = member_of(numbered, joined)
    assert member.join([("leader", b"")]).is_leader
    assert member.member_id == "m-1"


def test_a_heartbeat_that_is_given_no_id_is_an_error_as_any_other():
    member = member_of(HeartbeatResponse(error_code=ErrorCode.MEMBER_ID_REQUIRED))
    with pytest.raises(ApiError) as caught:
        member.heartbeat()
    assert caught.value.code is ErrorCode.MEMBER_ID_REQUIRED
