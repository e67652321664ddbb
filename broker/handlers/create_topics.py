"""CreateTopics: only the controller creates, so that a client's answer comes from who decides."""

from broker.common.errors import ApiError, ErrorCode
from broker.handlers.handler import RequestContext, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from broker.runtime.topic_placement import NewTopic


async def handle_create_topics(request: CreateTopicsRequest, context: RequestContext) -> CreateTopicsResponse:
    names = [topic.name for topic in request.topics]
    return CreateTopicsResponse(
        topics=[await _create(topic, names.count(topic.name) > 1, request, context) for topic in request.topics]
    )


async def _create(
    topic: CreatableTopic, is_named_twice: bool, request: CreateTopicsRequest, context: RequestContext
) -> CreatableTopicResult:
    services = context.services
    try:
        if services.metadata.controller_id != services.config.broker_id:
            raise ApiError(ErrorCode.NOT_CONTROLLER)
        if is_named_twice:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"topic {topic.name!r} is named twice in the request")
        created = await services.topics.create(
            _new_topic(topic), timeout_ms=request.timeout_ms, validate_only=request.validate_only
        )
    except ApiError as error:
        return CreatableTopicResult(name=topic.name, error_code=error.code, error_message=error.message)
    return CreatableTopicResult(
        name=topic.name,
        topic_id=created.topic_id,
        num_partitions=len(created.assignment),
        replication_factor=len(created.assignment[0]),
        configs=[],
    )


def _new_topic(topic: CreatableTopic) -> NewTopic:
    return NewTopic(
        name=topic.name,
        partitions=topic.num_partitions,
        replication_factor=topic.replication_factor,
        assignment={each.partition_index: tuple(each.broker_ids) for each in topic.assignments},
        configs={config.name: config.value or "" for config in topic.configs},
    )


HANDLER = public(ApiKey.CREATE_TOPICS, 0, 7, handle_create_topics)
