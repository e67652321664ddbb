"""CreatePartitions: only the controller adds partitions (KIP-195)."""

from collections import Counter

from broker.common.errors import ApiError, ErrorCode
from broker.handlers.authorization import require
from broker.handlers.handler import OF_PARTITIONS, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from broker.runtime.gather import gather
from broker.runtime.requests.context import RequestContext
from broker.runtime.topics.topic_admin import Charge
from broker.security.operations import AclOperation, ResourceType

#: From here on clients know THROTTLING_QUOTA_EXCEEDED (KIP-599).
_FIRST_STRICT_VERSION = 3


async def handle_create_partitions(
    request: CreatePartitionsRequest, context: RequestContext
) -> CreatePartitionsResponse:
    times_named = Counter(topic.name for topic in request.topics)
    quota = context.services.quotas.of_mutations(
        context.session, context.client_id, is_strict=context.api_version >= _FIRST_STRICT_VERSION
    )
    topics = {topic.name: topic for topic in request.topics}
    works = (_add(topic, times_named[name], request, context, quota.take) for name, topic in topics.items())
    results = await gather(works, context.services.turns)
    return CreatePartitionsResponse(throttle_time_ms=quota.throttle_time_ms, results=results)


async def _add(
    topic: CreatePartitionsTopic,
    times_named: int,
    request: CreatePartitionsRequest,
    context: RequestContext,
    charge: Charge,
) -> CreatePartitionsTopicResult:
    services = context.services
    assignments = (
        None if topic.assignments is None else [tuple(assignment.broker_ids) for assignment in topic.assignments]
    )
    try:
        if services.metadata.controller_id != services.config.broker_id:
            raise ApiError(ErrorCode.NOT_CONTROLLER)
        if times_named > 1:
            raise ApiError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
        require(AclOperation.ALTER, ResourceType.TOPIC, topic.name, context)
        await services.topics.add_partitions(
            topic.name,
            topic.count,
            assignments,
            request.timeout_ms,
            validate_only=request.validate_only,
            charge=charge,
        )
    except ApiError as error:
        return CreatePartitionsTopicResult(name=topic.name, error_code=error.code, error_message=error.message)
    return CreatePartitionsTopicResult(name=topic.name)


HANDLER = public(ApiKey.CREATE_PARTITIONS, 0, 3, handle_create_partitions, budget=OF_PARTITIONS)
