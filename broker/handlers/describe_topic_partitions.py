"""DescribeTopicPartitions: what Metadata tells of topics, a page at a time (KIP-966).

Kafka serves it with KRaft only, but its tools ask everybody for it first.
"""

from collections.abc import Collection, Iterable

from broker.common.errors import ErrorCode
from broker.common.limits import DESCRIBED_PARTITIONS_MAX
from broker.handlers.authorization import denied_topics, only_seen
from broker.handlers.handler import OF_EVERYTHING, public
from broker.handlers.metadata import why_unknown
from broker.protocol.api_keys import ApiKey
from broker.protocol.made_late import made_late
from broker.protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)
from broker.runtime.metadata_cache import PartitionMetadata, TopicMetadata
from broker.runtime.requests.context import RequestContext
from broker.runtime.topics.internal_topics import INTERNAL_TOPICS
from broker.security.operations import AclOperation, ResourceType
from broker.security.rights import Rights


async def handle_describe_topic_partitions(
    request: DescribeTopicPartitionsRequest, context: RequestContext
) -> DescribeTopicPartitionsResponse:
    """Describe topics in the order of their names, as many partitions as the page holds; the rest begins at its
    cursor.
    """
    first = request.cursor or Cursor(topic_name="", partition_index=0)
    if first.partition_index < 0:
        return _refused(request)
    left = max(1, min(request.response_partition_limit, DESCRIBED_PARTITIONS_MAX))
    response = DescribeTopicPartitionsResponse()
    topics = context.services.metadata.topics
    names, denied = await _requested_names(request, first, context)
    for name in names:
        if not left:
            response.next_cursor = Cursor(topic_name=name, partition_index=0)
            break
        topic = topics.get(name)
        if name in denied or topic is None:
            response.topics.append(_denied(name) if name in denied else _missing(name, context.session.rights))
            continue
        begin = first.partition_index if name == first.topic_name else 0
        known = sorted(item for item in topic.partitions.items() if item[0] >= begin)
        response.topics.append(_topic(topic, known[:left], context.session.rights))
        if len(known) > left:
            response.next_cursor = Cursor(topic_name=name, partition_index=known[left][0])
            break
        left -= len(known)
    return response


async def _requested_names(
    request: DescribeTopicPartitionsRequest, first: Cursor, context: RequestContext
) -> tuple[Iterable[str], Collection[str]]:
    """Return names from the cursor on, each once, and those named ones that the client may not see."""
    names = {topic.name for topic in request.topics} or context.services.metadata.topics.keys()
    left = sorted(name for name in names if name >= first.topic_name)
    if request.topics:
        return left, await denied_topics(AclOperation.DESCRIBE, left, context)
    return await only_seen(ResourceType.TOPIC, left, str, context), ()


def _denied(name: str) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED, name=name)


def _missing(name: str, rights: Rights) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        error_code=why_unknown(name),
        name=name,
        topic_authorized_operations=rights.operations(ResourceType.TOPIC, name),
    )


def _refused(request: DescribeTopicPartitionsRequest) -> DescribeTopicPartitionsResponse:
    """Refuse a cursor that names no partition; the response has errors with its topics only."""
    return DescribeTopicPartitionsResponse(
        topics=[
            DescribeTopicPartitionsResponseTopic(error_code=ErrorCode.INVALID_REQUEST, name=topic.name)
            for topic in request.topics
        ]
    )


def _topic(
    topic: TopicMetadata, known: list[tuple[int, PartitionMetadata]], rights: Rights
) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.name in INTERNAL_TOPICS,
        partitions=made_late(known, _partition),
        topic_authorized_operations=rights.operations(ResourceType.TOPIC, topic.name),
    )


def _partition(known: tuple[int, PartitionMetadata]) -> DescribeTopicPartitionsResponsePartition:
    index, state = known
    return DescribeTopicPartitionsResponsePartition(
        error_code=ErrorCode.NONE if state.leader >= 0 else ErrorCode.LEADER_NOT_AVAILABLE,
        partition_index=index,
        leader_id=state.leader,
        leader_epoch=state.leader_epoch,
        replica_nodes=list(state.replicas),
        isr_nodes=list(state.isr),
        # Nullable on the wire, yet Kafka's Java Admin reads both without asking.
        eligible_leader_replicas=list(state.elr),
        last_known_elr=list(state.last_known_elr),
        offline_replicas=list(state.offline_replicas),
    )


HANDLER = public(ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, 0, handle_describe_topic_partitions, budget=OF_EVERYTHING)
