"""DeleteTopics: asks the controller, through ZooKeeper, to delete; answers when the topic is gone."""

from collections import Counter
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
from broker.runtime.gather import gather
from broker.runtime.topics.topic_admin import NO_TOPIC_ID


async def handle_delete_topics(request: DeleteTopicsRequest, context: RequestContext) -> DeleteTopicsResponse:
    asked = request.topics or [DeleteTopicState(name=name) for name in request.topic_names]
    times_named = Counter((each.name, each.topic_id) for each in asked)
    works = (_delete(each, times_named[each.name, each.topic_id], request.timeout_ms, context) for each in asked)
    return DeleteTopicsResponse(responses=await gather(works, context.services.turns))


async def _delete(
    asked: DeleteTopicState, times_named: int, timeout_ms: int, context: RequestContext
) -> DeletableTopicResult:
    services = context.services
    name, topic_id = asked.name, asked.topic_id
    try:
        if services.metadata.controller_id != services.config.broker_id:
            raise ApiError(ErrorCode.NOT_CONTROLLER)
        if times_named > 1:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"the topic is named {times_named} times")
        name, topic_id = _identify(asked, context)
        await services.topics.delete(name, timeout_ms)
    except ApiError as error:
        return DeletableTopicResult(name=name, topic_id=topic_id, error_code=error.code, error_message=error.message)
    return DeletableTopicResult(name=name, topic_id=topic_id)


def _identify(asked: DeleteTopicState, context: RequestContext) -> tuple[str, UUID]:
    metadata = context.services.metadata
    if asked.name is not None:
        found = metadata.topics.get(asked.name)
        if found is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {asked.name!r}")
        return asked.name, found.topic_id
    found = metadata.topic_of_id(asked.topic_id)
    if found is None or asked.topic_id == NO_TOPIC_ID:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_ID)
    return found.name, found.topic_id


HANDLER = public(ApiKey.DELETE_TOPICS, 0, 6, handle_delete_topics)
