"""CreatePartitions: only the controller adds partitions (KIP-195)."""

from broker.common.errors import ApiError, ErrorCode
from broker.handlers.handler import RequestContext, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)


async def handle_create_partitions(
    request: CreatePartitionsRequest, context: RequestContext
) -> CreatePartitionsResponse:
    names = [topic.name for topic in request.topics]
    return CreatePartitionsResponse(
        results=[await _add(topic, names.count(topic.name) > 1, request, context) for topic in request.topics]
    )


async def _add(
    topic: CreatePartitionsTopic, is_named_twice: bool, request: CreatePartitionsRequest, context: RequestContext
) -> CreatePartitionsTopicResult:
    services = context.services
    assignments = None if topic.assignments is None else [tuple(each.broker_ids) for each in topic.assignments]
    try:
        if services.metadata.controller_id != services.config.broker_id:
            raise ApiError(ErrorCode.NOT_CONTROLLER)
        if is_named_twice:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"topic {topic.name!r} is named twice in the request")
        await services.topics.add_partitions(
            topic.name, topic.count, assignments, request.timeout_ms, validate_only=request.validate_only
        )
    except ApiError as error:
        return CreatePartitionsTopicResult(name=topic.name, error_code=error.code, error_message=error.message)
    return CreatePartitionsTopicResult(name=topic.name)


HANDLER = public(ApiKey.CREATE_PARTITIONS, 0, 3, handle_create_partitions)
