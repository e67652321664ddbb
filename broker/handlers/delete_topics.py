"""DeleteTopics: asks the controller, through ZooKeeper, to delete; answers when the topic is gone."""

from collections import Counter
from uuid import UUID

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import NO_TOPIC_ID
from broker.handlers.authorization import require
from broker.handlers.handler import public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from broker.runtime.gather import gather
from broker.runtime.requests.context import RequestContext
from broker.runtime.topics.topic_admin import Charge
from broker.security.operations import AclOperation, ResourceType

#: From here on clients know THROTTLING_QUOTA_EXCEEDED (KIP-599).
_FIRST_STRICT_VERSION = 5


async def handle_delete_topics(request: DeleteTopicsRequest, context: RequestContext) -> DeleteTopicsResponse:
    asked = request.topics or [DeleteTopicState(name=name) for name in request.topic_names]
    times_named = Counter((state.name, state.topic_id) for state in asked)
    quota = context.services.quotas.of_mutations(
        context.session, context.client_id, is_strict=context.api_version >= _FIRST_STRICT_VERSION
    )
    works = (
        _delete(state, times_named[state.name, state.topic_id], request.timeout_ms, context, quota.take)
        for state in asked
    )
    results = await gather(works, context.services.turns)
    return DeleteTopicsResponse(throttle_time_ms=quota.throttle_time_ms, responses=results)


async def _delete(
    asked: DeleteTopicState, times_named: int, timeout_ms: int, context: RequestContext, charge: Charge
) -> DeletableTopicResult:
    services = context.services
    name, topic_id = asked.name, asked.topic_id
    try:
        if services.metadata.controller_id != services.config.broker_id:
            raise ApiError(ErrorCode.NOT_CONTROLLER)
        if times_named > 1:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"the topic is named {times_named} times")
        name = _name_of(asked, context)
        require(AclOperation.DELETE, ResourceType.TOPIC, name, context)
        topic_id = _id_of(name, context)
        await services.topics.delete(name, timeout_ms, charge)
    except ApiError as error:
        return DeletableTopicResult(name=name, topic_id=topic_id, error_code=error.code, error_message=error.message)
    return DeletableTopicResult(name=name, topic_id=topic_id)


def _name_of(asked: DeleteTopicState, context: RequestContext) -> str:
    """An id is no secret, but what has it is: its name is for those who may see it (KAFKA-12394)."""
    if asked.name is not None:
        return asked.name
    found = context.services.metadata.topic_of_id(asked.topic_id)
    if found is None or asked.topic_id == NO_TOPIC_ID:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_ID)
    require(AclOperation.DESCRIBE, ResourceType.TOPIC, found.name, context)
    return found.name


def _id_of(name: str, context: RequestContext) -> UUID:
    found = context.services.metadata.topics.get(name)
    if found is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {name!r}")
    return found.topic_id


HANDLER = public(ApiKey.DELETE_TOPICS, 0, 6, handle_delete_topics)
