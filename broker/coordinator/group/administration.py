"""DescribeGroups, ListGroups, DeleteGroups and OffsetDelete: what tools see of the groups, and forgetting them."""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.coordinator.consumer_group.groups import ConsumerGroups
from broker.coordinator.group.group import ClassicGroup
from broker.coordinator.group.offsets import CommittedOffsets
from broker.coordinator.group.records import OffsetKey, encode_group_key, encode_offset_key
from broker.coordinator.group.states import GroupState
from broker.coordinator.group.subscriptions import is_consumer_group, subscribed_topics
from broker.coordinator.outcome import CoordinatorTurn
from broker.protocol.made_late import made_late
from broker.protocol.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse
from broker.protocol.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from broker.protocol.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from broker.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)

#: Types of groups; those of KIP-848 are consumer groups. What has offsets alone counts as classic.
_CLASSIC, _CONSUMER = "classic", "consumer"


def describe(
    request: DescribeGroupsRequest, groups: Mapping[str, ClassicGroup], consumers: ConsumerGroups
) -> DescribeGroupsResponse:
    """Describe the groups; one that is unknown, or no classic group, is Dead, which is an error in some versions."""
    return DescribeGroupsResponse(
        groups=[_described(group_id, groups.get(group_id), group_id in consumers) for group_id in request.groups]
    )


def _described(group_id: str, group: ClassicGroup | None, is_consumer_group: bool) -> DescribedGroup:
    if group is None or is_consumer_group:
        why = f"Group {group_id} is not a classic group." if is_consumer_group else f"Group {group_id} not found."
        return DescribedGroup(error_message=why, group_id=group_id, group_state=GroupState.DEAD.value)
    is_stable = group.state is GroupState.STABLE
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state.value,
        protocol_type=group.protocol_type or "",
        protocol_data=group.chosen_protocol if is_stable else "",
        members=_described_members(group, is_stable),
    )


def _described_members(group: ClassicGroup, is_stable: bool) -> list[DescribedGroupMember]:
    """Metadata belongs to a generation; during a rebalance there is none, and the last assignment still stands."""
    return [
        DescribedGroupMember(
            member_id=member.member_id,
            group_instance_id=member.group_instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
            member_metadata=member.protocols[group.chosen_protocol] if is_stable else b"",
            member_assignment=group.assignments.get(member.member_id, b""),
        )
        for member in group.members.values()
    ]


class _GroupFacts(NamedTuple):
    group_id: str
    protocol_type: str
    state: str
    type: str


def list_those(
    request: ListGroupsRequest, groups: Iterable[ClassicGroup], consumers: ConsumerGroups
) -> ListGroupsResponse:
    """The groups in the states and of the types asked for, all if none are named; case does not matter."""
    states = {state.lower() for state in request.states_filter}
    types = {group_type.lower() for group_type in request.types_filter}
    facts: list[_GroupFacts] = []
    if not types or _CLASSIC in types:
        classic = (group for group in groups if group.group_id not in consumers)
        facts += [_GroupFacts(g.group_id, g.protocol_type or "", g.state.value, _CLASSIC) for g in classic]
    if not types or _CONSUMER in types:
        facts += [_GroupFacts(g.group_id, _CONSUMER, g.state.value, _CONSUMER) for g in consumers]
    listed = [group for group in facts if not states or group.state.lower() in states]
    return ListGroupsResponse(groups=made_late(listed, _listed))


def _listed(group: _GroupFacts) -> ListedGroup:
    return ListedGroup(
        group_id=group.group_id, protocol_type=group.protocol_type, group_state=group.state, group_type=group.type
    )


def delete(
    request: DeleteGroupsRequest,
    groups: Mapping[str, ClassicGroup],
    consumers: ConsumerGroups,
    offsets: CommittedOffsets,
    turn: CoordinatorTurn,
) -> DeleteGroupsResponse:
    """Delete or refuse each group separately; duplicates are deleted once."""
    results = []
    for group_id in dict.fromkeys(request.groups_names):
        error = _delete(group_id, groups.get(group_id), consumers, offsets, turn)
        results.append(DeletableGroupResult(group_id=group_id, error_code=error))
    return DeleteGroupsResponse(results=results)


def _delete(
    group_id: str,
    group: ClassicGroup | None,
    consumers: ConsumerGroups,
    offsets: CommittedOffsets,
    turn: CoordinatorTurn,
) -> ErrorCode:
    """Propose the tombstones of an empty group: its offsets first, so that none is left without its group.

    A group whose offsets an open transaction commits is in use, whoever its members are: were they deleted, the
    transaction would still commit what was made of the records before them.

    A large group's tombstones do not fit into one batch; one that has lost part of its offsets is deleted again.
    """
    consumer_group = consumers.get(group_id)
    if group is None and consumer_group is None:
        return ErrorCode.GROUP_ID_NOT_FOUND
    has_members = bool(consumer_group.members) if consumer_group else group and group.state is not GroupState.EMPTY
    if has_members or offsets.has_pending(group_id):
        return ErrorCode.NON_EMPTY_GROUP
    turn.outcome.is_divisible = True
    for partition, _ in offsets.of_group(group_id):
        turn.append(encode_offset_key(OffsetKey(group_id, partition)), None)
    if consumer_group is not None:
        consumers.delete(consumer_group, turn)
    else:
        turn.append(encode_group_key(group_id), None)
    return ErrorCode.NONE


def delete_offsets(
    request: OffsetDeleteRequest,
    group: ClassicGroup | None,
    consumers: ConsumerGroups,
    offsets: CommittedOffsets,
    turn: CoordinatorTurn,
) -> OffsetDeleteResponse:
    """Delete offsets; of a consumer group with members only for topics without subscription, of other groups with
    members none.

    An empty group stays when the last of its offsets goes, until offsets are looked through for their age, as in Kafka
    since 4.0: a tool that deletes offsets may delete the group next.
    """
    is_subscribed: Callable[[str], bool]
    if (consumer_group := consumers.get(request.group_id)) is not None:
        is_subscribed = consumer_group.is_subscribed
    else:
        error = _offset_delete_error(request.group_id, group)
        if group is None or error is not ErrorCode.NONE:
            return OffsetDeleteResponse(error_code=error)
        is_subscribed = _subscription_test(group)
    deleted = dict.fromkeys(
        TopicPartition(topic.name, partition.partition_index)
        for topic in request.topics
        if not is_subscribed(topic.name)
        for partition in topic.partitions
    )
    for partition in deleted:
        _delete_offset(OffsetKey(request.group_id, partition), offsets, turn)
    return OffsetDeleteResponse(
        topics=[
            OffsetDeleteResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetDeleteResponsePartition(
                        partition_index=partition.partition_index,
                        error_code=ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if is_subscribed(topic.name) else ErrorCode.NONE,
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def may_be_forgotten(group: ClassicGroup, offsets: CommittedOffsets) -> bool:
    """Return whether the group's record could go if it had no offsets: no member is joining and no transaction commits
    offsets.
    """
    is_left = group.state is GroupState.EMPTY and not group.pending_joins
    return is_left and group.metadata is not None and not offsets.has_pending(group.group_id)


def _offset_delete_error(group_id: str, group: ClassicGroup | None) -> ErrorCode:
    if not group_id:
        return ErrorCode.INVALID_GROUP_ID
    if group is None:
        return ErrorCode.GROUP_ID_NOT_FOUND
    if group.state is not GroupState.EMPTY and not is_consumer_group(group):
        return ErrorCode.NON_EMPTY_GROUP
    return ErrorCode.NONE


def _subscription_test(group: ClassicGroup) -> Callable[[str], bool]:
    """Return a test whether members read a topic; what cannot be known counts as yes."""
    if group.state is GroupState.EMPTY:
        return lambda _: False
    topics = subscribed_topics(group)
    return lambda topic: topics is None or topic in topics


def _delete_offset(key: OffsetKey, offsets: CommittedOffsets, turn: CoordinatorTurn) -> None:
    if offsets.has_offset(key) or offsets.is_pending(key):
        turn.append(encode_offset_key(key), None)
