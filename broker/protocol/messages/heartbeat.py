"""Heartbeat: a group member says it is alive and hears whether the group is rebalancing."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, int16, int32, string, wire


class HeartbeatRequest(Request["HeartbeatResponse"], api=ApiKey.HEARTBEAT, versions=(0, 4), flexible_from=4):
    """3: static members may name themselves (KIP-345)."""

    group_id: str = wire(string)
    generation_id: int = wire(int32)  #: the generation the member believes in
    member_id: str = wire(string)  #: given by the coordinator on join
    group_instance_id: str | None = wire(string, since=3, nullable=True, default=None)  #: static members only


class HeartbeatResponse(Message, api=ApiKey.HEARTBEAT, versions=(0, 4), flexible_from=4):
    """Version 1 adds the throttle time."""

    throttle_time_ms: int = wire(int32, since=1, ignorable=True)
    error_code: int = wire(int16)  #: REBALANCE_IN_PROGRESS asks the member to join again
