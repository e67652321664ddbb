"""DescribeTopicPartitions: what Metadata tells of topics, a page at a time (KIP-966).

Kafka serves it with KRaft only, but its tools ask everybody for it first.
"""

from collections.abc import Iterator

from broker.common.errors import ErrorCode
from broker.common.limits import DESCRIBED_PARTITIONS_MAX
from broker.handlers.handler import OF_EVERYTHING, RequestContext, public
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
from broker.runtime.topics.internal_topics import INTERNAL_TOPICS
from broker.security.operations import OF_TOPIC


async def handle_describe_topic_partitions(
    request: DescribeTopicPartitionsRequest, context: RequestContext
) -> DescribeTopicPartitionsResponse:
    """Topics in the order of their names, as many partitions as the page holds; the rest begins at its cursor."""
    first = request.cursor or Cursor(topic_name="", partition_index=0)
    if first.partition_index < 0:
        return _refused(request)
    left = max(1, min(request.response_partition_limit, DESCRIBED_PARTITIONS_MAX))
    response = DescribeTopicPartitionsResponse()
    for name, topic in _asked(request, first, context):
        if not left:
            response.next_cursor = Cursor(topic_name=name, partition_index=0)
            break
        if topic is None:
            response.topics.append(DescribeTopicPartitionsResponseTopic(error_code=why_unknown(name), name=name))
            continue
        begin = first.partition_index if name == first.topic_name else 0
        known = sorted(each for each in topic.partitions.items() if each[0] >= begin)
        response.topics.append(_topic(topic, known[:left]))
        if len(known) > left:
            response.next_cursor = Cursor(topic_name=name, partition_index=known[left][0])
            break
        left -= len(known)
    return response


def _asked(
    request: DescribeTopicPartitionsRequest, first: Cursor, context: RequestContext
) -> Iterator[tuple[str, TopicMetadata | None]]:
    """Names from the cursor on, each once, with what is known of them."""
    topics = context.services.metadata.topics
    names = {each.name for each in request.topics} or topics.keys()
    for name in sorted(each for each in names if each >= first.topic_name):
        yield name, topics.get(name)


def _refused(request: DescribeTopicPartitionsRequest) -> DescribeTopicPartitionsResponse:
    """The cursor names no partition; the answer has room for errors with its topics only."""
    return DescribeTopicPartitionsResponse(
        topics=[
            DescribeTopicPartitionsResponseTopic(error_code=ErrorCode.INVALID_REQUEST, name=each.name)
            for each in request.topics
        ]
    )


def _topic(topic: TopicMetadata, known: list[tuple[int, PartitionMetadata]]) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.name in INTERNAL_TOPICS,
        partitions=made_late(known, _partition),
        topic_authorized_operations=OF_TOPIC,
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
        offline_replicas=list(state.offline_replicas),
    )


HANDLER = public(ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, 0, handle_describe_topic_partitions, budget=OF_EVERYTHING)
