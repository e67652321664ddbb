"""OffsetFetch: how far groups had read when they last committed.

Up to version 7 one group, in the top-level fields; from version 8 many, each in `groups` (KIP-709).
"""

from uuid import UUID

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import (
    Message,
    Request,
    Struct,
    array,
    boolean,
    int16,
    int32,
    int64,
    string,
    uuid,
    wire,
)


class OffsetFetchRequestTopic(Struct):
    name: str = wire(string, until=9, ignorable=True)
    topic_id: UUID = wire(uuid, since=10, ignorable=True)
    partition_indexes: list[int] = wire(array(int32))


class OffsetFetchRequestGroup(Struct):
    group_id: str = wire(string)
    member_id: str | None = wire(string, since=9, nullable=True, default=None, ignorable=True)
    member_epoch: int = wire(int32, since=9, default=-1, ignorable=True)
    #: Null for every partition the group has committed.
    topics: list[OffsetFetchRequestTopic] | None = wire(array(OffsetFetchRequestTopic), nullable=True)


class OffsetFetchRequest(Request["OffsetFetchResponse"], api=ApiKey.OFFSET_FETCH, versions=(1, 10), flexible_from=6):
    """2: null topics means all. 7: wait out open transactions (KIP-447). 8: many groups.

    9: member epochs, 10: topic ids (KIP-848).
    """

    group_id: str = wire(string, until=7)
    topics: list[OffsetFetchRequestTopic] | None = wire(array(OffsetFetchRequestTopic), until=7, nullable_since=2)
    groups: list[OffsetFetchRequestGroup] = wire(array(OffsetFetchRequestGroup), since=8)
    require_stable: bool = wire(boolean, since=7)


class OffsetFetchResponsePartition(Struct):
    partition_index: int = wire(int32)
    committed_offset: int = wire(int64)  #: the next offset to read; -1 when nothing is committed
    committed_leader_epoch: int = wire(int32, since=5, default=-1, ignorable=True)
    metadata: str | None = wire(string, nullable=True)
    error_code: int = wire(int16)


class OffsetFetchResponseTopic(Struct):
    name: str = wire(string, until=9, ignorable=True)
    topic_id: UUID = wire(uuid, since=10, ignorable=True)
    partitions: list[OffsetFetchResponsePartition] = wire(array(OffsetFetchResponsePartition))


class OffsetFetchResponseGroup(Struct):
    group_id: str = wire(string)
    topics: list[OffsetFetchResponseTopic] = wire(array(OffsetFetchResponseTopic))
    error_code: int = wire(int16)


class OffsetFetchResponse(Message, api=ApiKey.OFFSET_FETCH, versions=(1, 10), flexible_from=6):
    """2: top-level error. 3: throttle time. 5: leader epoch. 8: one entry for each group."""

    throttle_time_ms: int = wire(int32, since=3, ignorable=True)
    topics: list[OffsetFetchResponseTopic] = wire(array(OffsetFetchResponseTopic), until=7)
    error_code: int = wire(int16, since=2, until=7, ignorable=True)
    groups: list[OffsetFetchResponseGroup] = wire(array(OffsetFetchResponseGroup), since=8)
