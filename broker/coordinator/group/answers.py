"""Responses of the group APIs, and what becomes of a response whose records could not be committed."""

from collections.abc import Iterable
from typing import Any

from broker.common.errors import ErrorCode
from broker.coordinator.group.group import ClassicGroup
from broker.coordinator.outcome import APPEND_ERRORS
from broker.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse
from broker.protocol.messages.delete_groups import DeleteGroupsResponse
from broker.protocol.messages.join_group import JoinGroupResponse, JoinGroupResponseMember
from broker.protocol.messages.leave_group import LeaveGroupResponse, MemberIdentity, MemberResponse
from broker.protocol.messages.offset_commit import OffsetCommitResponse
from broker.protocol.messages.offset_delete import OffsetDeleteResponse
from broker.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from broker.protocol.messages.sync_group import SyncGroupResponse
from broker.protocol.messages.txn_offset_commit import TxnOffsetCommitResponse
from broker.protocol.schema import Message

#: JoinGroup from this version on may have a null protocol name, and a returning static leader skips the assignment.
_NULL_PROTOCOL_VERSION = 7
_SKIP_ASSIGNMENT_VERSION = 9
#: OffsetFetch from this version on has one error for the whole answer.
_FETCH_ERROR_VERSION = 2

_TOO_LARGE = {ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE}


def unknown_group(group_id: str) -> ErrorCode:
    """Return the error of a member's request for an unknown group."""
    return ErrorCode.UNKNOWN_MEMBER_ID if group_id else ErrorCode.INVALID_GROUP_ID


def join_refused(error: ErrorCode, member_id: str, api_version: int) -> JoinGroupResponse:
    protocol_name = None if api_version >= _NULL_PROTOCOL_VERSION else ""
    return JoinGroupResponse(error_code=error, member_id=member_id, protocol_name=protocol_name)


def joined(group: ClassicGroup, member_id: str) -> JoinGroupResponse:
    """Return the JoinGroup response of the current generation; only the leader gets the members."""
    is_leader = member_id == group.leader_id
    return JoinGroupResponse(
        generation_id=group.generation_id,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        leader=group.leader_id or "",
        member_id=member_id,
        members=_members_for_leader(group) if is_leader else [],
    )


def returned(group: ClassicGroup, old_id: str, new_id: str, api_version: int) -> JoinGroupResponse:
    """Return the response to a static member that rejoined a stable group under a new id.

    Should it be the leader, nothing is to be assigned: the assignment stands. Clients of version 9 are told so
    (KIP-814); older ones are told the leader's old id, so that they take themselves for followers.
    """
    was_leader = group.leader_id == old_id
    skips = was_leader and api_version >= _SKIP_ASSIGNMENT_VERSION
    return JoinGroupResponse(
        generation_id=group.generation_id,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        leader=new_id if skips else group.leader_id or "",
        skip_assignment=skips,
        member_id=new_id,
        members=_members_for_leader(group, {old_id: new_id}) if skips else [],
    )


def _members_for_leader(group: ClassicGroup, new_ids: dict[str, str] | None = None) -> list[JoinGroupResponseMember]:
    return [
        JoinGroupResponseMember(
            member_id=(new_ids or {}).get(member.member_id, member.member_id),
            group_instance_id=member.group_instance_id,
            metadata=member.protocols[group.chosen_protocol],
        )
        for member in group.members.values()
    ]


def synced(group: ClassicGroup, assignment: bytes) -> SyncGroupResponse:
    return SyncGroupResponse(
        protocol_type=group.protocol_type, protocol_name=group.protocol_name, assignment=assignment
    )


def sync_refused(error: ErrorCode) -> SyncGroupResponse:
    return SyncGroupResponse(error_code=error)


def left(identities: list[MemberIdentity], errors: list[ErrorCode], names_one: bool) -> LeaveGroupResponse:
    """Return one result for each member; up to version 2 the only member's error is the response's."""
    if names_one:
        return LeaveGroupResponse(error_code=errors[0])
    return LeaveGroupResponse(
        members=[
            MemberResponse(member_id=identity.member_id, group_instance_id=identity.group_instance_id, error_code=error)
            for identity, error in zip(identities, errors, strict=True)
        ]
    )


def left_unknown_group(group_id: str, identities: list[MemberIdentity], names_one: bool) -> LeaveGroupResponse:
    if not group_id:
        return LeaveGroupResponse(error_code=ErrorCode.INVALID_GROUP_ID)
    return left(identities, [ErrorCode.UNKNOWN_MEMBER_ID] * len(identities), names_one)


def not_appended(append_error: ErrorCode) -> ErrorCode:
    """Return the client error for a failed append to the coordinator's log."""
    return APPEND_ERRORS.get(append_error, append_error)


def uncommitted(response: Message, append_error: ErrorCode) -> Message:
    """Return the answer that takes the place of `response` when the records it waited for could not be committed."""
    error = not_appended(append_error)
    match response:
        case JoinGroupResponse():
            return join_refused(error, "", api_version=0)  # the old shape is legal in every version
        case SyncGroupResponse():
            return sync_refused(error)
        case ConsumerGroupHeartbeatResponse():
            return ConsumerGroupHeartbeatResponse(error_code=error)
        case LeaveGroupResponse():
            return LeaveGroupResponse(error_code=error)
        case OffsetCommitResponse() | TxnOffsetCommitResponse():
            if append_error in _TOO_LARGE:
                error = ErrorCode.INVALID_COMMIT_OFFSET_SIZE
            _fail(error, (partition for topic in response.topics for partition in topic.partitions))
        case OffsetDeleteResponse():
            return OffsetDeleteResponse(error_code=error)
        case DeleteGroupsResponse():
            _fail(error, response.results)
    return response


def not_fetched(request: OffsetFetchRequest, api_version: int) -> OffsetFetchResponse:
    """Ask again, as while a partition is loaded: for this code Java consumers and librdkafka repeat the request."""
    error = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    groups = [OffsetFetchResponseGroup(group_id=group.group_id, error_code=error) for group in request.groups]
    topics = request.topics or [] if api_version < _FETCH_ERROR_VERSION else []
    return OffsetFetchResponse(topics=[_not_fetched(topic, error) for topic in topics], error_code=error, groups=groups)


def _not_fetched(topic: OffsetFetchRequestTopic, error: ErrorCode) -> OffsetFetchResponseTopic:
    refused = [
        OffsetFetchResponsePartition(partition_index=index, committed_offset=-1, metadata="", error_code=error)
        for index in topic.partition_indexes
    ]
    return OffsetFetchResponseTopic(name=topic.name, partitions=refused)


def _fail(error: ErrorCode, results: Iterable[Any]) -> None:
    for result in results:
        if result.error_code == ErrorCode.NONE:
            result.error_code = error
