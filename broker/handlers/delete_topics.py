"""DeleteTopics: asks the controller, through ZooKeeper, to delete; answers when the topic is gone."""

from uuid import UUID

from broker.common.errors import ApiError, ErrorCode
from broker.handlers.handler import RequestContext, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from broker.runtime.topic_admin import NO_TOPIC_ID


async def handle_delete_topics(request: DeleteTopicsRequest, context: RequestContext) -> DeleteTopicsResponse:
    asked = request.topics or [DeleteTopicState(name=name) for name in request.topic_names]
    return DeleteTopicsResponse(responses=[await _delete(each, request.timeout_ms, context) for each in asked])


async def _delete(asked: DeleteTopicState, timeout_ms: int, context: RequestContext) -> DeletableTopicResult:
    services = context.services
    name, topic_id = asked.name, asked.topic_id
    try:
        if services.metadata.controller_id != services.config.broker_id:
            raise ApiError(ErrorCode.NOT_CONTROLLER)
        name, topic_id = _identify(asked, context)
        await services.topics.delete(name, timeout_ms)
    except ApiError as error:
        return DeletableTopicResult(name=name, topic_id=topic_id, error_code=error.code, error_message=error.message)
    return DeletableTopicResult(name=name, topic_id=topic_id)


def _identify(asked: DeleteTopicState, context: RequestContext) -> tuple[str, UUID]:
    topics = context.services.metadata.topics
    if asked.name is not None:
        found = topics.get(asked.name)
        if found is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {asked.name!r}")
        return asked.name, found.topic_id
    found = next((topic for topic in topics.values() if topic.topic_id == asked.topic_id), None)
    if found is None or asked.topic_id == NO_TOPIC_ID:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_ID)
    return found.name, found.topic_id


HANDLER = public(ApiKey.DELETE_TOPICS, 0, 6, handle_delete_topics)
