"""DeleteTopics: asks the controller, through ZooKeeper, to delete; answers when the topic is gone.

A topic is named by its name or by its id (KIP-516). A request with both is refused, as Kafka does: the name may be that
of a topic made anew, which the id does not mean.
"""

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
    topics = request.topics or [DeleteTopicState(name=name) for name in request.topic_names]
    times_named = Counter((state.name, state.topic_id) for state in topics)
    quota = context.services.quotas.of_mutations(
        context.session, context.client_id, is_strict=context.api_version >= _FIRST_STRICT_VERSION
    )
    works = (
        _delete(DeleteTopicState(name=name, topic_id=topic_id), times, request.timeout_ms, context, quota.take)
        for (name, topic_id), times in times_named.items()
    )
    results = await gather(works, context.services.turns)
    return DeleteTopicsResponse(throttle_time_ms=quota.throttle_time_ms, responses=results)


async def _delete(
    state: DeleteTopicState, times_named: int, timeout_ms: int, context: RequestContext, charge: Charge
) -> DeletableTopicResult:
    services = context.services
    name, topic_id = state.name, state.topic_id
    try:
        if services.metadata.controller_id != services.config.broker_id:
            raise ApiError(ErrorCode.NOT_CONTROLLER)
        if times_named > 1:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"Duplicate topic {'id' if name is None else 'name'}.")
        name = _name_of(state, context)
        require(AclOperation.DELETE, ResourceType.TOPIC, name, context)
        topic_id = _id_of(name, context)
        await services.topics.delete(name, timeout_ms, charge, None if state.name is not None else state.topic_id)
    except ApiError as error:
        return DeletableTopicResult(name=name, topic_id=topic_id, error_code=error.code, error_message=error.message)
    return DeletableTopicResult(name=name, topic_id=topic_id)


def _name_of(state: DeleteTopicState, context: RequestContext) -> str:
    """Return the name of the topic. Raises ApiError for one that is given twice over or not at all.

    An id is no secret, but what has it is: its name is for those who may see it (KAFKA-12394).
    """
    if (state.name is None) is (state.topic_id == NO_TOPIC_ID):
        neither, both = "Neither topic name nor id were specified.", "You may not specify both topic name and topic id."
        raise ApiError(ErrorCode.INVALID_REQUEST, neither if state.name is None else both)
    if state.name is not None:
        return state.name
    topic = context.services.metadata.topic_of_id(state.topic_id)
    if topic is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_ID)
    require(AclOperation.DESCRIBE, ResourceType.TOPIC, topic.name, context)
    return topic.name


def _id_of(name: str, context: RequestContext) -> UUID:
    topic = context.services.metadata.topics.get(name)
    if topic is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return topic.topic_id


HANDLER = public(ApiKey.DELETE_TOPICS, 0, 6, handle_delete_topics)
