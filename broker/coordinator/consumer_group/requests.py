"""What a ConsumerGroupHeartbeat has to say, whatever the group is."""

from collections.abc import Sequence
from uuid import UUID

from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import GROUP_NAME_LENGTH_MAX, MEMBER_METADATA_BYTES_MAX
from broker.coordinator.consumer_group.assignors import Partitions
from broker.coordinator.consumer_group.member import TOPIC_NAME_BYTES
from broker.coordinator.fields import text_bytes
from broker.protocol.messages.consumer_group_heartbeat import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    LEAVE_STATIC_EPOCH,
    ConsumerGroupHeartbeatRequest,
)

#: From this version on a member makes up its id itself (KIP-1082).
_OWN_ID_VERSION = 1


def check_heartbeat(request: ConsumerGroupHeartbeatRequest, api_version: int, assignors: Sequence[str]) -> None:
    """Raises ApiError INVALID_REQUEST or UNSUPPORTED_ASSIGNOR, with Kafka's sentences. assignors: their names."""
    _refuse_if(not request.group_id, "GroupId can't be empty.")
    _refuse_if(request.instance_id == "", "InstanceId can't be empty.")
    _refuse_if(request.rack_id == "", "RackId can't be empty.")
    _refuse_if(request.member_epoch < LEAVE_STATIC_EPOCH, "MemberEpoch is invalid.")
    if request.member_epoch != JOIN_EPOCH or api_version >= _OWN_ID_VERSION:
        _refuse_if(not request.member_id, "MemberId can't be empty.")
    if request.member_epoch == JOIN_EPOCH:
        _check_join(request)
    elif request.member_epoch == LEAVE_STATIC_EPOCH:
        _refuse_if(request.instance_id is None, "InstanceId can't be null.")
    if request.server_assignor is not None and request.server_assignor not in assignors:
        names = ", ".join(assignors)
        message = f"ServerAssignor {request.server_assignor} is not supported. Supported assignors: {names}."
        raise ApiError(ErrorCode.UNSUPPORTED_ASSIGNOR, message)
    _check_sizes(request)


def _check_join(request: ConsumerGroupHeartbeatRequest) -> None:
    _refuse_if(request.rebalance_timeout_ms == -1, "RebalanceTimeoutMs must be provided in first request.")
    _refuse_if(request.topic_partitions != [], "TopicPartitions must be empty when (re-)joining.")
    if request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
        message = "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining."
        raise ApiError(ErrorCode.INVALID_REQUEST, message)


def _check_sizes(request: ConsumerGroupHeartbeatRequest) -> None:
    names = (request.group_id, request.member_id, request.instance_id, request.rack_id)
    _refuse_if(
        any(len(name) > GROUP_NAME_LENGTH_MAX for name in names if name),
        f"Names of groups, members, instances and racks may have {GROUP_NAME_LENGTH_MAX} letters.",
    )
    topics = request.subscribed_topic_names or ()
    byte_count = sum(TOPIC_NAME_BYTES + text_bytes(name) for name in topics)
    byte_count += text_bytes(request.subscribed_topic_regex or "")
    _refuse_if(
        byte_count > MEMBER_METADATA_BYTES_MAX, "The subscription is too large; subscribe by a regular expression."
    )


def _refuse_if(is_wrong: bool, message: str) -> None:
    if is_wrong:
        raise ApiError(ErrorCode.INVALID_REQUEST, message)


def is_leaving(request: ConsumerGroupHeartbeatRequest) -> bool:
    return request.member_epoch in (LEAVE_EPOCH, LEAVE_STATIC_EPOCH)


def is_full(request: ConsumerGroupHeartbeatRequest) -> bool:
    """Whether the heartbeat says all there is, as after joining or after an error: the response does so, too."""
    is_subscribing = request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None
    return request.member_epoch == JOIN_EPOCH or (
        request.rebalance_timeout_ms != -1 and is_subscribing and request.topic_partitions is not None
    )


def reported_partitions(request: ConsumerGroupHeartbeatRequest) -> Partitions | None:
    """Return what the member says it owns; None if it does not say, since that is as before."""
    if request.topic_partitions is None:
        return None
    reported: dict[UUID, frozenset[int]] = {}
    for topic in request.topic_partitions:
        reported[topic.topic_id] = reported.get(topic.topic_id, frozenset()) | frozenset(topic.partitions)
    return reported
