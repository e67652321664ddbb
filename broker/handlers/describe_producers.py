"""DescribeProducers: recent producers of a partition, and its open transactions (KIP-664).

Any replica answers. A transaction that hangs is found so: its producer, where it began, and the coordinator epoch to
abort it with by WriteTxnMarkers.
"""

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.handlers.authorization import denied_topics
from broker.handlers.deduplicate import partitions_once
from broker.handlers.handler import OF_PARTITIONS, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)
from broker.runtime.in_turns import partitions_in_turns
from broker.runtime.requests.context import RequestContext
from broker.runtime.requests.current_leader import refusal
from broker.runtime.topics.topic_admin import check_topic_name
from broker.security.operations import AclOperation


async def handle_describe_producers(
    request: DescribeProducersRequest, context: RequestContext
) -> DescribeProducersResponse:
    by_topic = partitions_once(((topic.name, topic.partition_indexes) for topic in request.topics), int)
    denied = await denied_topics(AclOperation.READ, by_topic, context)
    topics = await partitions_in_turns(
        by_topic,
        lambda topic, index: _describe(TopicPartition(topic, index), context, is_denied=topic in denied),
        context.services.turns,
    )
    return DescribeProducersResponse(
        topics=[TopicResponse(name=name, partitions=partitions) for name, partitions in topics]
    )


def _describe(topic_partition: TopicPartition, context: RequestContext, *, is_denied: bool) -> PartitionResponse:
    answer = PartitionResponse(partition_index=topic_partition.partition)
    try:
        check_topic_name(topic_partition.topic)
        if is_denied:
            raise ApiError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        hosted = context.services.replicas.get(*topic_partition)
        if hosted is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        answer.active_producers = [ProducerState(**producer._asdict()) for producer in hosted.log.producers()]
    except ApiError as error:
        answer.error_code = refusal(error, topic_partition, context)
        answer.error_message = answer.error_code.meaning
    return answer


HANDLER = public(ApiKey.DESCRIBE_PRODUCERS, 0, 0, handle_describe_producers, budget=OF_PARTITIONS)
