"""CreateTopics: only the controller creates, so that a client's answer comes from the broker that decides."""

from collections import Counter

from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import TOPICS_PER_REQUEST_MAX
from broker.config.resolution import settings_of
from broker.config.topic import KEYS
from broker.handlers.authorization import may_create
from broker.handlers.handler import OF_PARTITIONS, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from broker.runtime.gather import gather
from broker.runtime.requests.context import RequestContext
from broker.runtime.topics.topic_admin import Charge
from broker.runtime.topics.topic_placement import NewTopic
from broker.security.operations import AclOperation, ResourceType

#: From here on clients know THROTTLING_QUOTA_EXCEEDED (KIP-599).
_FIRST_STRICT_VERSION = 6


async def handle_create_topics(request: CreateTopicsRequest, context: RequestContext) -> CreateTopicsResponse:
    times_named = Counter(topic.name for topic in request.topics)
    if len(request.topics) > TOPICS_PER_REQUEST_MAX:
        reason = f"the request names {len(request.topics)} topics; name at most {TOPICS_PER_REQUEST_MAX} at once"
        return CreateTopicsResponse(
            topics=[
                CreatableTopicResult(name=name, error_code=ErrorCode.INVALID_REQUEST, error_message=reason)
                for name in times_named
            ]
        )
    quota = context.services.quotas.of_mutations(
        context.session, context.client_id, is_strict=context.api_version >= _FIRST_STRICT_VERSION
    )
    topics = {topic.name: topic for topic in request.topics}
    works = (_create(topic, times_named[name], request, context, quota.take) for name, topic in topics.items())
    results = await gather(works, context.services.turns)
    return CreateTopicsResponse(throttle_time_ms=quota.throttle_time_ms, topics=results)


async def _create(
    topic: CreatableTopic, times_named: int, request: CreateTopicsRequest, context: RequestContext, charge: Charge
) -> CreatableTopicResult:
    """Create a topic; its configuration is returned only to clients that may describe it."""
    result = await _created(topic, times_named, request, context, charge)
    if result.error_code:
        return result
    if not context.session.rights.sees(AclOperation.DESCRIBE_CONFIGS, ResourceType.TOPIC, topic.name):
        result.topic_config_error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        result.num_partitions, result.replication_factor, result.configs = -1, -1, []
    return result


async def _created(
    topic: CreatableTopic, times_named: int, request: CreateTopicsRequest, context: RequestContext, charge: Charge
) -> CreatableTopicResult:
    services = context.services
    try:
        if services.metadata.controller_id != services.config.broker_id:
            raise ApiError(ErrorCode.NOT_CONTROLLER)
        if times_named > 1:
            raise ApiError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
        if not may_create(topic.name, context):
            raise ApiError(ErrorCode.TOPIC_AUTHORIZATION_FAILED, "Authorization failed.")
        new = _new_topic(topic)
        created = await services.topics.create(
            new, timeout_ms=request.timeout_ms, validate_only=request.validate_only, charge=charge
        )
    except ApiError as error:
        return CreatableTopicResult(name=topic.name, error_code=error.code, error_message=error.message)
    return CreatableTopicResult(
        name=topic.name,
        topic_id=created.topic_id,
        num_partitions=len(created.assignment),
        replication_factor=len(created.assignment[0]),
        configs=_configs(created.configs, context),
    )


def _configs(overrides: dict[str, str], context: RequestContext) -> list[CreatableTopicConfigs]:
    """Return the new topic's effective configuration (KIP-525)."""
    settings = [(key, settings_of(key, overrides, context.services.config)[0]) for key in KEYS]
    return [
        CreatableTopicConfigs(name=key.name, value=counts.text, config_source=counts.source) for key, counts in settings
    ]


def _new_topic(topic: CreatableTopic) -> NewTopic:
    if without := [config.name for config in topic.configs if config.value is None]:
        raise ApiError(ErrorCode.INVALID_CONFIG, f"Null value not supported for topic configs: {','.join(without)}")
    configs = {config.name: config.value for config in topic.configs if config.value is not None}
    indexes = Counter(assignment.partition_index for assignment in topic.assignments)
    return NewTopic(
        name=topic.name,
        partitions=topic.num_partitions,
        replication_factor=topic.replication_factor,
        assignment={assignment.partition_index: tuple(assignment.broker_ids) for assignment in topic.assignments},
        configs=configs,
        assigned_twice=tuple(index for index, times in indexes.items() if times > 1),
    )


HANDLER = public(ApiKey.CREATE_TOPICS, 0, 7, handle_create_topics, budget=OF_PARTITIONS)
