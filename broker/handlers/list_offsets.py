"""ListOffsets: first offset, next offset, offset by timestamp, newest timestamp."""

import sys
from operator import attrgetter

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import IsolationLevel, TopicPartition
from broker.handlers.authorization import denied_topics
from broker.handlers.deduplicate import partitions_once
from broker.handlers.handler import OF_PARTITIONS, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.list_offsets import (
    EARLIEST_LOCAL_TIMESTAMP,
    EARLIEST_PENDING_UPLOAD_TIMESTAMP,
    EARLIEST_TIMESTAMP,
    LATEST_TIERED_TIMESTAMP,
    LATEST_TIMESTAMP,
    MAX_TIMESTAMP,
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from broker.runtime.in_turns import partitions_in_turns
from broker.runtime.replication.hosted_partition import HostedPartition, find_time, readable_end_offset
from broker.runtime.requests.context import RequestContext
from broker.runtime.requests.current_leader import refusal
from broker.security.operations import AclOperation

_NOT_FOUND = (-1, -1)
#: The versions from which on numbers below 0 mean something: no record has such a time.
_FIRST_VERSIONS = {
    LATEST_TIMESTAMP: 0,
    EARLIEST_TIMESTAMP: 0,
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL_TIMESTAMP: 8,
    LATEST_TIERED_TIMESTAMP: 9,
    EARLIEST_PENDING_UPLOAD_TIMESTAMP: 11,
}
#: Answered with no offset, as by a Kafka without remote storage: nothing is tiered or waits to be.
_OF_TIERED_RECORDS = (LATEST_TIERED_TIMESTAMP, EARLIEST_PENDING_UPLOAD_TIMESTAMP)
_NEEDS_NO_HIGH_WATERMARK = (EARLIEST_TIMESTAMP, EARLIEST_LOCAL_TIMESTAMP, *_OF_TIERED_RECORDS)


async def handle_list_offsets(request: ListOffsetsRequest, context: RequestContext) -> ListOffsetsResponse:
    is_stable_only = request.isolation_level == IsolationLevel.READ_COMMITTED
    by_topic = partitions_once(
        ((topic.name, topic.partitions) for topic in request.topics), attrgetter("partition_index")
    )
    denied = await denied_topics(AclOperation.DESCRIBE, by_topic, context)
    topics = await partitions_in_turns(
        by_topic,
        lambda topic, turn: _denied(turn) if topic in denied else _answer(topic, turn, is_stable_only, context),
        context.services.turns,
    )
    return ListOffsetsResponse(
        topics=[ListOffsetsTopicResponse(name=name, partitions=partitions) for name, partitions in topics]
    )


def _denied(partition: ListOffsetsPartition) -> ListOffsetsPartitionResponse:
    return ListOffsetsPartitionResponse(
        partition_index=partition.partition_index, error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED
    )


async def _answer(
    topic: str, partition: ListOffsetsPartition, is_stable_only: bool, context: RequestContext
) -> ListOffsetsPartitionResponse:
    try:
        if partition.timestamp < 0 and context.api_version < _FIRST_VERSIONS.get(partition.timestamp, sys.maxsize):
            raise ApiError(ErrorCode.UNSUPPORTED_VERSION)
        hosted = context.services.replicas.leader_log(topic, partition.partition_index, partition.current_leader_epoch)
        offset, timestamp = await _find(hosted, partition.timestamp, is_stable_only, context)
    except ApiError as error:
        code = refusal(error, TopicPartition(topic, partition.partition_index), context)
        return ListOffsetsPartitionResponse(partition_index=partition.partition_index, error_code=code)
    return ListOffsetsPartitionResponse(
        partition_index=partition.partition_index,
        offset=offset,
        timestamp=timestamp,
        leader_epoch=_leader_epoch(hosted, partition.timestamp, offset),
    )


def _leader_epoch(hosted: HostedPartition, timestamp: int, offset: int) -> int:
    """Return the leader epoch of the record; of the current leader for the log end; -1 if unknown."""
    if timestamp == LATEST_TIMESTAMP:
        return hosted.partition.leader_epoch
    return hosted.log.leader_epoch_at(offset) if offset >= 0 else -1


async def _find(
    hosted: HostedPartition, timestamp: int, is_stable_only: bool, context: RequestContext
) -> tuple[int, int]:
    """Return (offset, timestamp of its record); records that the reader may not fetch yet do not count."""
    if timestamp not in _NEEDS_NO_HIGH_WATERMARK:
        _check_established(hosted, context.api_version)
    if timestamp == LATEST_TIMESTAMP:
        return readable_end_offset(hosted, is_stable_only), -1
    if timestamp in (EARLIEST_TIMESTAMP, EARLIEST_LOCAL_TIMESTAMP):
        return hosted.log.log_start_offset, -1
    if timestamp in _OF_TIERED_RECORDS:
        return _NOT_FOUND
    offset_and_time = await find_time(hosted, None if timestamp == MAX_TIMESTAMP else timestamp)
    return (
        offset_and_time
        if offset_and_time is not None and offset_and_time[0] < readable_end_offset(hosted, is_stable_only)
        else _NOT_FOUND
    )


def _check_established(hosted: HostedPartition, version: int) -> None:
    """Refuse until the new leader knows how much was committed: offsets must not seem to go back (KIP-207)."""
    if not hosted.partition.is_high_watermark_established:
        code = ErrorCode.OFFSET_NOT_AVAILABLE if version >= 5 else ErrorCode.LEADER_NOT_AVAILABLE
        raise ApiError(code, "the new leader does not know yet how much its predecessor committed")


HANDLER = public(ApiKey.LIST_OFFSETS, 1, 11, handle_list_offsets, budget=OF_PARTITIONS)
