"""Metadata: brokers and partitions as the controller told us; may create a topic that is asked for (KIP-204)."""

from collections.abc import Awaitable, Iterable
from functools import partial
from operator import attrgetter

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import NO_TOPIC_ID
from broker.handlers.authorization import cluster_operations, denied_topics, may_create, only_seen
from broker.handlers.handler import OF_EVERYTHING, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.made_late import made_late
from broker.protocol.messages.metadata import (
    OPERATIONS_NOT_REQUESTED,
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from broker.runtime.in_turns import in_turns
from broker.runtime.metadata_cache import PartitionMetadata, TopicMetadata
from broker.runtime.requests.context import Reply, RequestContext
from broker.runtime.topics.internal_topics import INTERNAL_TOPICS
from broker.runtime.topics.topic_admin import Charge, check_topic_name
from broker.security.operations import AclOperation, ResourceType
from broker.security.rights import UNLIMITED, Rights

_FIRST_METADATA_TIMEOUT_MS = 5_000
#: Clients mostly ask for one topic.
_TOPICS_AT_ONCE_MAX = 20
_PARTITIONS_AT_ONCE_MAX = 1_000
#: Of requests for topics by id (KIP-516).
_FIRST_VERSION_BY_ID = 12
_DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_FIRST_VERSION_WITH_LISTENER_ERROR = 6


def handle_metadata(request: MetadataRequest, context: RequestContext) -> Reply:
    if not context.services.metadata.is_known:
        return _answer_when_known(request, context)
    return _answer(request, context)


async def _answer_when_known(request: MetadataRequest, context: RequestContext) -> MetadataResponse:
    """Answer when a broker is known: a broker that has just started knows none, and clients take an empty list
    badly.
    """
    metadata = context.services.metadata
    await metadata.wait_until(lambda: metadata.is_known, _FIRST_METADATA_TIMEOUT_MS)
    reply = _answer(request, context)
    return reply if isinstance(reply, MetadataResponse) else await reply


def _answer(request: MetadataRequest, context: RequestContext) -> MetadataResponse | Awaitable[MetadataResponse]:
    topics = _asked_topics(request, context)
    if topics and context.api_version < _FIRST_VERSION_BY_ID and any(map(_is_by_id, topics)):
        return _refuse_ids(topics)
    if context.session.rights is UNLIMITED:
        return _answer_allowed(request, topics, {}, context)
    return _answer_when_asked(request, topics, context)


async def _answer_when_asked(
    request: MetadataRequest, topics: list[MetadataRequestTopic] | None, context: RequestContext
) -> MetadataResponse:
    """Answer without looking whether a topic exists that the client may not see."""
    topic_of_id = context.services.metadata.topic_of_id
    by_id = [topic_of_id(name.topic_id) for name in topics or () if _is_by_id(name)]
    names = [topic.name for topic in by_id if topic is not None] + _names_of(topics or ())
    denied = await denied_topics(AclOperation.DESCRIBE, names, context)
    reply = _answer_allowed(request, topics, dict.fromkeys(denied, _DENIED), context)
    return reply if isinstance(reply, MetadataResponse) else await reply


def _answer_allowed(
    request: MetadataRequest,
    request_topics: list[MetadataRequestTopic] | None,
    errors: dict[str, ErrorCode],
    context: RequestContext,
) -> MetadataResponse | Awaitable[MetadataResponse]:
    topics = context.services.metadata.topics
    missing = {name for name in _names_of(request_topics or ()) if name not in topics and name not in errors}
    if (
        request_topics
        and missing
        and request.allow_auto_topic_creation
        and context.services.config.auto_create_topics_enable
    ):
        return _create_then_answer(request, request_topics, missing, errors, context)
    if request_topics is not None and len(request_topics) <= _TOPICS_AT_ONCE_MAX and _is_short(request_topics, context):
        return _response([_asked_topic(item, errors, request, context) for item in request_topics], request, context)
    return _answer_late(request, request_topics, errors, context)


def _is_short(request_topics: list[MetadataRequestTopic], context: RequestContext) -> bool:
    topics = context.services.metadata.topics
    known = (
        topics.get(topic.name or "") or context.services.metadata.topic_of_id(topic.topic_id)
        for topic in request_topics
    )
    return sum(len(topic.partitions) for topic in known if topic) <= _PARTITIONS_AT_ONCE_MAX


def _asked_topics(request: MetadataRequest, context: RequestContext) -> list[MetadataRequestTopic] | None:
    """Return each topic once; None means all topics (version 0 sends an empty list for that)."""
    if request.topics is None or (context.api_version == 0 and not request.topics):
        return None
    return list({topic.topic_id if _is_by_id(topic) else topic.name: topic for topic in request.topics}.values())


def _names_of(topics: Iterable[MetadataRequestTopic]) -> list[str]:
    """Return the topics that are asked for by name."""
    return [item.name for item in topics if item.name is not None and not _is_by_id(item)]


def _is_by_id(topic: MetadataRequestTopic) -> bool:
    return topic.name is None or topic.topic_id != NO_TOPIC_ID


def _refuse_ids(topics: list[MetadataRequestTopic]) -> MetadataResponse:
    """Refuse topic ids in versions in which requests can already carry ids, but answers not yet null names."""
    return MetadataResponse(
        topics=[
            MetadataResponseTopic(error_code=ErrorCode.INVALID_REQUEST, name=topic.name or "", topic_id=topic.topic_id)
            for topic in topics
        ]
    )


async def _create_then_answer(
    request: MetadataRequest,
    topics: list[MetadataRequestTopic],
    missing: set[str],
    errors: dict[str, ErrorCode],
    context: RequestContext,
) -> MetadataResponse:
    """Create topics and answer LEADER_NOT_AVAILABLE for them as Kafka does, unless one is ready by then."""
    names = sorted(missing)
    quota = context.services.quotas.of_mutations(context.session, context.client_id, is_strict=False)
    codes = await in_turns(names, lambda name: _create(name, context, quota.take), context.services.turns)
    response = await _answer_late(request, topics, errors | dict(zip(names, codes, strict=True)), context)
    response.throttle_time_ms = quota.throttle_time_ms
    return response


async def _create(name: str, context: RequestContext, charge: Charge) -> ErrorCode:
    if not may_create(name, context):
        return _DENIED
    try:
        await context.services.topics.create_automatically(name, charge)
    except ApiError as error:
        return error.code
    return ErrorCode.LEADER_NOT_AVAILABLE


async def _answer_late(
    request: MetadataRequest,
    request_topics: list[MetadataRequestTopic] | None,
    errors: dict[str, ErrorCode],
    context: RequestContext,
) -> MetadataResponse:
    """Answer with the metadata known when each slice of the response is encoded."""
    if request_topics is None:
        rights = context.session.rights
        known = list(context.services.metadata.topics.values())
        seen = await only_seen(ResourceType.TOPIC, known, attrgetter("name"), context)
        topics = made_late(seen, lambda value: _topic(value, request, rights))
    else:
        topics = made_late(request_topics, lambda value: _asked_topic(value, errors, request, context))
    return _response(topics, request, context)


def _response(
    topics: list[MetadataResponseTopic], request: MetadataRequest, context: RequestContext
) -> MetadataResponse:
    metadata = context.services.metadata
    return MetadataResponse(
        brokers=[
            MetadataResponseBroker(node_id=broker.broker_id, host=host, port=port, rack=broker.rack)
            for broker in metadata.brokers.values()
            for host, port in [broker.endpoints.get(context.session.listener, (None, 0))]
            if host is not None
        ],
        cluster_id=context.services.cluster_id,
        controller_id=metadata.controller_id if metadata.controller_id in metadata.brokers else -1,
        topics=_as_seen_by_listener(topics, context),
        cluster_authorized_operations=(
            cluster_operations(context) if request.include_cluster_authorized_operations else OPERATIONS_NOT_REQUESTED
        ),
    )


def _asked_topic(
    request_topic: MetadataRequestTopic, errors: dict[str, ErrorCode], request: MetadataRequest, context: RequestContext
) -> MetadataResponseTopic:
    topics, rights = context.services.metadata.topics, context.session.rights
    name = request_topic.name
    if name is None or _is_by_id(request_topic):
        topic = context.services.metadata.topic_of_id(request_topic.topic_id)
        if topic is None:
            code = ErrorCode.UNKNOWN_TOPIC_ID
            return MetadataResponseTopic(error_code=code, name=request_topic.name, topic_id=request_topic.topic_id)
        if not rights.sees(AclOperation.DESCRIBE, ResourceType.TOPIC, topic.name):
            return MetadataResponseTopic(error_code=_DENIED, name=None, topic_id=request_topic.topic_id)
        return _topic(topic, request, rights)
    error = errors.get(name)
    if error is _DENIED:
        return MetadataResponseTopic(error_code=_DENIED, name=name)
    if name in topics:
        return _topic(topics[name], request, rights)
    return MetadataResponseTopic(
        error_code=error or why_unknown(name),
        name=name,
        is_internal=name in INTERNAL_TOPICS,
        topic_authorized_operations=_operations(name, request, rights),
    )


def why_unknown(name: str) -> ErrorCode:
    """Return the error code of an unknown topic: INVALID_TOPIC_EXCEPTION if no topic can have that name."""
    try:
        check_topic_name(name)
    except ApiError as error:
        return error.code
    return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def _topic(topic: TopicMetadata, request: MetadataRequest, rights: Rights) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.name in INTERNAL_TOPICS,
        partitions=made_late(sorted(topic.partitions.items()), _partition),
        topic_authorized_operations=_operations(topic.name, request, rights),
    )


def _operations(topic: str, request: MetadataRequest, rights: Rights) -> int:
    is_asked = request.include_topic_authorized_operations
    return rights.operations(ResourceType.TOPIC, topic) if is_asked else OPERATIONS_NOT_REQUESTED


def _partition(known: tuple[int, PartitionMetadata]) -> MetadataResponsePartition:
    index, state = known
    return MetadataResponsePartition(
        error_code=ErrorCode.NONE if state.leader >= 0 else ErrorCode.LEADER_NOT_AVAILABLE,
        partition_index=index,
        leader_id=state.leader,
        leader_epoch=state.leader_epoch,
        replica_nodes=list(state.replicas),
        isr_nodes=list(state.isr),
        offline_replicas=list(state.offline_replicas),
    )


def _as_seen_by_listener(topics: list[MetadataResponseTopic], context: RequestContext) -> list[MetadataResponseTopic]:
    """Return `topics` as a client sees them that cannot reach brokers which live and lack its listener.

    As in Kafka (KAFKA-6546) such a leader is none, with LISTENER_NOT_FOUND for clients that know the error, and such a
    replica is offline. Costs one look at each broker if all have the listener.
    """
    listener = context.session.listener
    brokers = context.services.metadata.brokers
    lacking = frozenset(broker.broker_id for broker in brokers.values() if listener not in broker.endpoints)
    if not lacking:
        return topics
    has_error = context.api_version >= _FIRST_VERSION_WITH_LISTENER_ERROR
    error = ErrorCode.LISTENER_NOT_FOUND if has_error else ErrorCode.LEADER_NOT_AVAILABLE
    seen: list[MetadataResponseTopic] = made_late(topics, partial(_topic_as_seen, lacking, error))
    return seen


def _topic_as_seen(lacking: frozenset[int], error: ErrorCode, topic: MetadataResponseTopic) -> MetadataResponseTopic:
    topic.partitions = made_late(topic.partitions, partial(_partition_as_seen, lacking, error))
    return topic


def _partition_as_seen(
    lacking: frozenset[int], error: ErrorCode, partition: MetadataResponsePartition
) -> MetadataResponsePartition:
    offline = set(partition.offline_replicas) | (lacking & set(partition.replica_nodes))
    partition.offline_replicas = [node for node in partition.replica_nodes if node in offline]
    if partition.leader_id in lacking:
        partition.error_code = error
        partition.leader_id = -1
    return partition


HANDLER = public(ApiKey.METADATA, 0, 13, handle_metadata, budget=OF_EVERYTHING)
