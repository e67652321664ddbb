"""AlterShareGroupOffsets: where a share group without members begins anew (KIP-932).

Served by Kafka from 4.1 on, not by this broker.
"""

from uuid import UUID

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int16, int32, int64, string, uuid, wire


class AlterShareGroupOffsetsRequestPartition(Struct):
    partition_index: int = wire(int32)
    start_offset: int = wire(int64)


class AlterShareGroupOffsetsRequestTopic(Struct):
    topic_name: str = wire(string)
    partitions: list[AlterShareGroupOffsetsRequestPartition] = wire(array(AlterShareGroupOffsetsRequestPartition))


class AlterShareGroupOffsetsRequest(
    Request["AlterShareGroupOffsetsResponse"], api=ApiKey.ALTER_SHARE_GROUP_OFFSETS, versions=(0, 0), flexible_from=0
):
    """To the coordinator of the group."""

    group_id: str = wire(string)
    topics: list[AlterShareGroupOffsetsRequestTopic] = wire(array(AlterShareGroupOffsetsRequestTopic))


class AlterShareGroupOffsetsResponsePartition(Struct):
    partition_index: int = wire(int32)
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True, default=None)


class AlterShareGroupOffsetsResponseTopic(Struct):
    topic_name: str = wire(string)
    topic_id: UUID = wire(uuid)
    partitions: list[AlterShareGroupOffsetsResponsePartition] = wire(array(AlterShareGroupOffsetsResponsePartition))


class AlterShareGroupOffsetsResponse(Message, api=ApiKey.ALTER_SHARE_GROUP_OFFSETS, versions=(0, 0), flexible_from=0):
    """NON_EMPTY_GROUP while the group has members."""

    throttle_time_ms: int = wire(int32)
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True, default=None)
    responses: list[AlterShareGroupOffsetsResponseTopic] = wire(array(AlterShareGroupOffsetsResponseTopic))
