"""OffsetDelete: forget what a group has committed for some partitions (KIP-496)."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int16, int32, string, wire


class OffsetDeleteRequestPartition(Struct):
    partition_index: int = wire(int32)


class OffsetDeleteRequestTopic(Struct):
    name: str = wire(string)
    partitions: list[OffsetDeleteRequestPartition] = wire(array(OffsetDeleteRequestPartition))


class OffsetDeleteRequest(
    Request["OffsetDeleteResponse"], api=ApiKey.OFFSET_DELETE, versions=(0, 0), flexible_from=None
):
    """Delete the offsets of topics to which no member of the group is subscribed."""

    group_id: str = wire(string)
    topics: list[OffsetDeleteRequestTopic] = wire(array(OffsetDeleteRequestTopic))


class OffsetDeleteResponsePartition(Struct):
    partition_index: int = wire(int32)
    error_code: int = wire(int16)


class OffsetDeleteResponseTopic(Struct):
    name: str = wire(string)
    partitions: list[OffsetDeleteResponsePartition] = wire(array(OffsetDeleteResponsePartition))


class OffsetDeleteResponse(Message, api=ApiKey.OFFSET_DELETE, versions=(0, 0), flexible_from=None):
    """An error for the whole group, or one result for each partition."""

    error_code: int = wire(int16)
    throttle_time_ms: int = wire(int32)
    topics: list[OffsetDeleteResponseTopic] = wire(array(OffsetDeleteResponseTopic))
