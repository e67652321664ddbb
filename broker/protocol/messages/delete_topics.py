"""DeleteTopics: remove topics by name or by id."""

from uuid import UUID

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int16, int32, string, uuid, wire


class DeleteTopicState(Struct):
    name: str | None = wire(string, nullable=True, default=None)  #: null when deleting by id
    topic_id: UUID = wire(uuid)  #: all zeros when deleting by name


class DeleteTopicsRequest(Request["DeleteTopicsResponse"], api=ApiKey.DELETE_TOPICS, versions=(0, 6), flexible_from=4):
    """Delete some topics, each succeeding or failing alone. 6: by id (KIP-516)."""

    topics: list[DeleteTopicState] = wire(array(DeleteTopicState), since=6)
    topic_names: list[str] = wire(array(string), until=5, ignorable=True)
    timeout_ms: int = wire(int32)


class DeletableTopicResult(Struct):
    name: str | None = wire(string, nullable_since=6)  #: null for an unknown id
    topic_id: UUID = wire(uuid, since=6, ignorable=True)
    error_code: int = wire(int16)
    error_message: str | None = wire(string, since=5, nullable=True, default=None, ignorable=True)


class DeleteTopicsResponse(Message, api=ApiKey.DELETE_TOPICS, versions=(0, 6), flexible_from=4):
    """One result for each topic. 1: throttle time. 5: error messages. 6: topic ids."""

    throttle_time_ms: int = wire(int32, since=1, ignorable=True)
    responses: list[DeletableTopicResult] = wire(array(DeletableTopicResult))
