"""OffsetForLeaderEpoch: where the records of a leader epoch end, so that a client notices a truncation (KIP-320)."""

from operator import attrgetter

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.handlers.authorization import denied_topics, sees_cluster
from broker.handlers.deduplicate import partitions_once
from broker.handlers.handler import OF_PARTITIONS, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)
from broker.runtime.in_turns import partitions_in_turns
from broker.runtime.requests.context import RequestContext
from broker.runtime.requests.current_leader import refusal
from broker.security.operations import AclOperation


async def handle_offset_for_leader_epoch(
    request: OffsetForLeaderEpochRequest, context: RequestContext
) -> OffsetForLeaderEpochResponse:
    by_topic = partitions_once(((topic.topic, topic.partitions) for topic in request.topics), attrgetter("partition"))
    is_replica = sees_cluster(AclOperation.CLUSTER_ACTION, context)
    denied = () if is_replica else await denied_topics(AclOperation.DESCRIBE, by_topic, context)
    topics = await partitions_in_turns(
        by_topic,
        lambda topic, turn: _denied(turn) if topic in denied else _answer(topic, turn, context),
        context.services.turns,
    )
    return OffsetForLeaderEpochResponse(
        topics=[OffsetForLeaderTopicResult(topic=name, partitions=partitions) for name, partitions in topics]
    )


def _denied(partition: OffsetForLeaderPartition) -> EpochEndOffset:
    return EpochEndOffset(partition=partition.partition, error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED)


def _answer(topic: str, partition: OffsetForLeaderPartition, context: RequestContext) -> EpochEndOffset:
    try:
        hosted = context.services.replicas.leader_log(topic, partition.partition, partition.current_leader_epoch)
    except ApiError as error:
        code = refusal(error, TopicPartition(topic, partition.partition), context)
        return EpochEndOffset(partition=partition.partition, error_code=code)
    epoch, end_offset = hosted.log.end_offset_for_epoch(partition.leader_epoch)
    return EpochEndOffset(partition=partition.partition, leader_epoch=epoch, end_offset=end_offset)


HANDLER = public(ApiKey.OFFSET_FOR_LEADER_EPOCH, 2, 4, handle_offset_for_leader_epoch, budget=OF_PARTITIONS)
