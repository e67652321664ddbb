"""DeleteShareGroupOffsets: forget the share state of whole topics of a share group without members (KIP-932).

Served by Kafka from 4.1 on, not by this broker.
"""

from uuid import UUID

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int16, int32, string, uuid, wire


class DeleteShareGroupOffsetsRequestTopic(Struct):
    topic_name: str = wire(string)


class DeleteShareGroupOffsetsRequest(
    Request["DeleteShareGroupOffsetsResponse"], api=ApiKey.DELETE_SHARE_GROUP_OFFSETS, versions=(0, 0), flexible_from=0
):
    """To the coordinator of the group."""

    group_id: str = wire(string)
    topics: list[DeleteShareGroupOffsetsRequestTopic] = wire(array(DeleteShareGroupOffsetsRequestTopic))


class DeleteShareGroupOffsetsResponseTopic(Struct):
    topic_name: str = wire(string)
    topic_id: UUID = wire(uuid)
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True, default=None)


class DeleteShareGroupOffsetsResponse(Message, api=ApiKey.DELETE_SHARE_GROUP_OFFSETS, versions=(0, 0), flexible_from=0):
    """NON_EMPTY_GROUP while the group has members."""

    throttle_time_ms: int = wire(int32)
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True, default=None)
    responses: list[DeleteShareGroupOffsetsResponseTopic] = wire(array(DeleteShareGroupOffsetsResponseTopic))
