"""DeleteRecords: the leader moves the log start offset of a partition forward (KIP-107), and answers when all live
replicas have followed.
"""

from operator import attrgetter

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.handlers.authorization import denied_topics
from broker.handlers.deduplicate import partitions_once
from broker.handlers.handler import OF_PARTITIONS, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from broker.runtime.in_turns import partitions_in_turns
from broker.runtime.replication.record_deletions import DeletedRecords, PartitionDeletion
from broker.runtime.requests.context import RequestContext
from broker.runtime.requests.current_leader import refusal
from broker.runtime.topics.internal_topics import INTERNAL_TOPICS
from broker.security.operations import AclOperation

#: What is deleted here, with the result that says what came of it.
_Pending = list[tuple[DeleteRecordsPartitionResult, PartitionDeletion]]


async def handle_delete_records(request: DeleteRecordsRequest, context: RequestContext) -> DeleteRecordsResponse:
    by_topic = partitions_once(
        ((topic.name, topic.partitions) for topic in request.topics), attrgetter("partition_index")
    )
    denied = await denied_topics(AclOperation.DELETE, by_topic, context)
    pending: _Pending = []
    topics = await partitions_in_turns(
        by_topic,
        lambda topic, turn: _denied(turn) if topic in denied else _plan(topic, turn, context, pending),
        context.services.turns,
    )
    response = DeleteRecordsResponse(
        topics=[DeleteRecordsTopicResult(name=name, partitions=partitions) for name, partitions in topics]
    )
    if pending:
        pending = await _carried_out(pending, context)
    if not pending:
        return response
    decided: DeleteRecordsResponse = await context.services.deletions.wait(
        [deletion for _, deletion in pending],
        request.timeout_ms,
        lambda outcomes: _when_decided(response, pending, outcomes),
    )
    return decided


def _denied(partition: DeleteRecordsPartition) -> DeleteRecordsPartitionResult:
    code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    return DeleteRecordsPartitionResult(partition_index=partition.partition_index, low_watermark=-1, error_code=code)


def _plan(
    topic: str, partition: DeleteRecordsPartition, context: RequestContext, pending: _Pending
) -> DeleteRecordsPartitionResult:
    result = DeleteRecordsPartitionResult(partition_index=partition.partition_index, low_watermark=-1)
    try:
        if topic in INTERNAL_TOPICS and context.services.metadata.partition_of(topic, partition.partition_index):
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION)
        deletion = context.services.deletions.plan(topic, partition.partition_index, partition.offset)
    except ApiError as error:
        result.error_code = refusal(error, TopicPartition(topic, partition.partition_index), context)
    else:
        pending.append((result, deletion))
    return result


async def _carried_out(pending: _Pending, context: RequestContext) -> _Pending:
    """Delete, and return the deletions that are done; the results of the others get the reason."""
    refused = await context.services.deletions.carry_out([deletion for _, deletion in pending])
    done = []
    for result, deletion in pending:
        error = refused.get(deletion.hosted.partition.topic_partition)
        if error is None:
            done.append((result, deletion))
        else:
            result.error_code = error.code
    return done


def _when_decided(
    response: DeleteRecordsResponse, pending: _Pending, outcomes: list[DeletedRecords]
) -> DeleteRecordsResponse:
    for (result, _), outcome in zip(pending, outcomes, strict=True):
        result.error_code, result.low_watermark = outcome
    return response


HANDLER = public(ApiKey.DELETE_RECORDS, 0, 2, handle_delete_records, budget=OF_PARTITIONS)
