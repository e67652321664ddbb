"""DeleteRecords: the leader moves the log start offset of a partition forward (KIP-107)."""

from operator import attrgetter

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.handlers.current_leader import refusal
from broker.handlers.handler import OF_PARTITIONS, RequestContext, public
from broker.handlers.named_once import partitions_once
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from broker.runtime.in_turns import partitions_in_turns
from broker.runtime.topics.internal_topics import INTERNAL_TOPICS


async def handle_delete_records(request: DeleteRecordsRequest, context: RequestContext) -> DeleteRecordsResponse:
    asked = partitions_once(((topic.name, topic.partitions) for topic in request.topics), attrgetter("partition_index"))
    topics = await partitions_in_turns(asked, lambda topic, each: _delete(topic, each, context), context.services.turns)
    return DeleteRecordsResponse(
        topics=[DeleteRecordsTopicResult(name=name, partitions=partitions) for name, partitions in topics]
    )


def _delete(topic: str, asked: DeleteRecordsPartition, context: RequestContext) -> DeleteRecordsPartitionResult:
    try:
        if topic in INTERNAL_TOPICS:
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION)
        low_watermark = context.services.replicas.delete_records(topic, asked.partition_index, asked.offset)
    except ApiError as error:
        code = refusal(error, TopicPartition(topic, asked.partition_index), context)
        return DeleteRecordsPartitionResult(partition_index=asked.partition_index, low_watermark=-1, error_code=code)
    return DeleteRecordsPartitionResult(partition_index=asked.partition_index, low_watermark=low_watermark)


HANDLER = public(ApiKey.DELETE_RECORDS, 0, 2, handle_delete_records, budget=OF_PARTITIONS)
