"""DescribeGroups, ListGroups and DeleteGroups: what tools see of the groups, and forgetting one."""

from collections.abc import Iterable, Mapping

from broker.common.errors import ErrorCode
from broker.coordinator.group.group import Group
from broker.coordinator.group.offsets import Offsets
from broker.coordinator.group.outcome import Turn
from broker.coordinator.group.records import OffsetKey, encode_group_key, encode_offset_key
from broker.coordinator.group.states import GroupState
from broker.protocol.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse
from broker.protocol.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from broker.protocol.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse

#: The only type of group there is here; "consumer" are those of KIP-848.
_CLASSIC = "classic"


def describe(request: DescribeGroupsRequest, groups: Mapping[str, Group]) -> DescribeGroupsResponse:
    """The groups as they are now; one that nobody knows is Dead, which is no error."""
    return DescribeGroupsResponse(groups=[_described(group_id, groups.get(group_id)) for group_id in request.groups])


def _described(group_id: str, group: Group | None) -> DescribedGroup:
    if group is None:
        return DescribedGroup(group_id=group_id, group_state=GroupState.DEAD.value)
    is_stable = group.state is GroupState.STABLE
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state.value,
        protocol_type=group.protocol_type or "",
        protocol_data=group.protocol_name if is_stable else "",
        members=_described_members(group, is_stable),
    )


def _described_members(group: Group, is_stable: bool) -> list[DescribedGroupMember]:
    """Metadata and assignment belong to a generation; during a rebalance there is none to speak of."""
    return [
        DescribedGroupMember(
            member_id=member.member_id,
            group_instance_id=member.group_instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
            member_metadata=member.protocols[group.protocol_name] if is_stable else b"",
            member_assignment=group.assignments.get(member.member_id, b"") if is_stable else b"",
        )
        for member in group.members.values()
    ]


def list_those(request: ListGroupsRequest, groups: Iterable[Group]) -> ListGroupsResponse:
    """The groups in the states and of the types asked for, all if none are named; case does not matter."""
    states = {state.lower() for state in request.states_filter}
    types = {group_type.lower() for group_type in request.types_filter}
    if types and _CLASSIC not in types:
        return ListGroupsResponse()
    return ListGroupsResponse(
        groups=[_listed(group) for group in groups if not states or group.state.value.lower() in states]
    )


def _listed(group: Group) -> ListedGroup:
    return ListedGroup(
        group_id=group.group_id,
        protocol_type=group.protocol_type or "",
        group_state=group.state.value,
        group_type=_CLASSIC,
    )


def delete(
    request: DeleteGroupsRequest, groups: Mapping[str, Group], offsets: Offsets, turn: Turn
) -> DeleteGroupsResponse:
    """Each group is deleted, or refused, alone; one that is named twice is deleted once."""
    return DeleteGroupsResponse(
        results=[
            DeletableGroupResult(group_id=group_id, error_code=_delete(group_id, groups.get(group_id), offsets, turn))
            for group_id in dict.fromkeys(request.groups_names)
        ]
    )


def _delete(group_id: str, group: Group | None, offsets: Offsets, turn: Turn) -> ErrorCode:
    """Propose the tombstones of an empty group: its offsets first, so that none is left without its group.

    A group whose offsets an open transaction commits is in use, whoever its members are: were they deleted, the
    transaction would still commit what was made of the records before them.
    """
    if group is None:
        return ErrorCode.GROUP_ID_NOT_FOUND
    if group.state is not GroupState.EMPTY or offsets.has_pending(group_id):
        return ErrorCode.NON_EMPTY_GROUP
    for partition, _ in offsets.of_group(group_id):
        turn.append(encode_offset_key(OffsetKey(group_id, partition)), None)
    turn.append(encode_group_key(group_id), None)
    return ErrorCode.NONE
