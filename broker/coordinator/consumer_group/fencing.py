"""Which member a heartbeat is of, and whether it may go on in the epoch that it names."""

from broker.common.errors import ApiError, ErrorCode
from broker.coordinator.consumer_group.assignors import Partitions
from broker.coordinator.consumer_group.group import ModernGroup
from broker.coordinator.consumer_group.member import ConsumerGroupMember, Owned
from broker.coordinator.consumer_group.requests import reported_partitions
from broker.protocol.messages.consumer_group_heartbeat import JOIN_EPOCH, ConsumerGroupHeartbeatRequest


def static_member(group: ModernGroup, request: ConsumerGroupHeartbeatRequest) -> ConsumerGroupMember:
    """Return the member that the instance id stands for. Raises ApiError if that is none, or another."""
    member_id = group.static_members.get(request.instance_id or "")
    if member_id is None:
        raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {request.instance_id} is unknown.")
    if member_id != request.member_id:
        message = f"Static member {request.member_id} with instance id {request.instance_id} was fenced by member "
        raise ApiError(ErrorCode.FENCED_INSTANCE_ID, f"{message}{member_id}.")
    return group.members[member_id]


def fenced_by_epoch(member: ConsumerGroupMember, request: ConsumerGroupHeartbeatRequest) -> ConsumerGroupMember:
    """Return the member. Raises ApiError FENCED_MEMBER_EPOCH if the request is not of its epoch.

    The previous epoch is right, too, if the member owns nothing that it should not: the response with the new one may
    have been lost. JOIN_EPOCH always is: a member that was fenced abandoned its partitions and joins again.
    """
    epoch = request.member_epoch
    if epoch in (JOIN_EPOCH, member.epoch):
        return member
    if epoch == member.previous_epoch < member.epoch and _is_within(reported_partitions(request), member.assigned):
        return member
    order = "greater" if epoch > member.epoch else "smaller"
    message = f"The consumer group member has a {order} member epoch ({epoch}) than the one known by the group "
    raise ApiError(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"{message}coordinator ({member.epoch}). The member must abandon all its partitions and rejoin.",
    )


def _is_within(reported: Partitions | None, assigned: Owned) -> bool:
    if reported is None:
        return False
    return all(indexes <= assigned.get(topic_id, {}).keys() for topic_id, indexes in reported.items())


def unknown_member(group: ModernGroup, member_id: str) -> ApiError:
    return ApiError(ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of group {group.group_id}.")
