"""ConsumerGroupHeartbeat: a member of a consumer group joins, stays, reports what it owns and learns its assignment
(KIP-848).

A field that is null, or -1, is as it was in the last heartbeat. A member that was fenced sends all of them again.
"""

from uuid import UUID

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int16, int32, string, uuid, wire

#: Member epochs of a heartbeat that are no epochs: join; leave; leave as a static member that comes back.
JOIN_EPOCH, LEAVE_EPOCH, LEAVE_STATIC_EPOCH = 0, -1, -2


class HeartbeatTopicPartitions(Struct):
    topic_id: UUID = wire(uuid)
    partitions: list[int] = wire(array(int32))


class ConsumerGroupHeartbeatRequest(
    Request["ConsumerGroupHeartbeatResponse"], api=ApiKey.CONSUMER_GROUP_HEARTBEAT, versions=(0, 1), flexible_from=0
):
    """1: subscription by a regular expression; the member makes up its id itself (KIP-1082)."""

    group_id: str = wire(string)
    member_id: str = wire(string)
    member_epoch: int = wire(int32)
    instance_id: str | None = wire(string, nullable=True, default=None)
    rack_id: str | None = wire(string, nullable=True, default=None)
    rebalance_timeout_ms: int = wire(int32, default=-1)  #: how long the member may take to give partitions up
    subscribed_topic_names: list[str] | None = wire(array(string), nullable=True, default=None)
    subscribed_topic_regex: str | None = wire(string, since=1, nullable_since=1, default=None)
    server_assignor: str | None = wire(string, nullable=True, default=None)
    topic_partitions: list[HeartbeatTopicPartitions] | None = wire(
        array(HeartbeatTopicPartitions), nullable=True, default=None
    )  #: what the member owns


class HeartbeatAssignment(Struct):
    topic_partitions: list[HeartbeatTopicPartitions] = wire(array(HeartbeatTopicPartitions))


class ConsumerGroupHeartbeatResponse(Message, api=ApiKey.CONSUMER_GROUP_HEARTBEAT, versions=(0, 1), flexible_from=0):
    throttle_time_ms: int = wire(int32)
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True, default=None)
    member_id: str | None = wire(string, nullable=True, default=None)
    member_epoch: int = wire(int32)
    heartbeat_interval_ms: int = wire(int32)
    assignment: HeartbeatAssignment | None = wire(HeartbeatAssignment, nullable=True, default=None)
