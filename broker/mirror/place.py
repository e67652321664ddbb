"""Where in the source a partition goes on: behind what was copied, unless that is not there any more."""

from typing import NamedTuple
from uuid import UUID

from broker.client.cluster import ClusterConnections
from broker.client.leaders import Leaders
from broker.client.offsets import list_offsets
from broker.common.errors import ApiError, error_code_of
from broker.common.types import IsolationLevel, TopicPartition
from broker.mirror.records import MirrorPosition
from broker.mirror.runs import Runs
from broker.protocol.messages.list_offsets import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP
from broker.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)

_CONSUMER = -1


class SourcePartition(NamedTuple):
    """What a partition of the source is now. `epoch_end`: where the epoch of the last record copied ends, or None."""

    topic_id: UUID | None
    start: int
    end: int
    epoch_end: int | None


class Resumed(NamedTuple):
    offset: int
    #: What a person should know: part of the source was not copied, or is copied again.
    notice: str | None


def resume(
    position: MirrorPosition | None, source: SourcePartition, *, from_end: bool, copy_id: UUID | None = None
) -> Resumed:
    """Return where to resume. Pure. A source that lost records it had (an unclean election) goes on where both logs
    still agree.
    """
    if position is None:
        return Resumed(source.end if from_end else source.start, None)
    offset = position.next_offset
    if position.topic_id and source.topic_id and position.topic_id != source.topic_id:
        return Resumed(source.start, "the topic was deleted and recreated: all of the new one is copied")
    if position.copy_id and copy_id and position.copy_id != copy_id:
        return Resumed(source.start, "the copy was recreated: all records of the source are copied into it")
    if offset < source.start:
        return Resumed(source.start, f"offsets {offset} to {source.start - 1} were deleted before they were copied")
    if source.epoch_end is not None and source.epoch_end < offset:
        agreed = max(source.epoch_end, source.start)
        return Resumed(
            agreed, f"the source lost its records from {agreed} on, which the target has, up to {offset - 1}"
        )
    if offset > source.end:
        return Resumed(source.start, f"the source ends at {source.end}, before {offset}: all of it is copied again")
    return Resumed(offset, None)


def again(runs: Runs, cut_at: int, source: SourcePartition) -> Resumed:
    """Return where to resume after the target has lost records from its offset `cut_at` on. Pure."""
    place = runs.source_of(cut_at)
    offset = max(source.start, place.offset if place is not None else source.start)
    return Resumed(offset, f"the target lost what it had from {cut_at} on: the source's are copied again from {offset}")


def topic_id_of(cluster: ClusterConnections, topic: str) -> UUID | None:
    """Return the topic's id, None in a cluster without ids. Raises ApiError (UNKNOWN_TOPIC_OR_PARTITION),
    BrokerUnreachable.
    """
    (described,) = cluster.describe_topics([topic]).topics
    if described.error_code:
        code = error_code_of(described.error_code)
        raise ApiError(code, f"topic {topic}: {code.meaning}")
    return described.topic_id if described.topic_id and described.topic_id.int else None


def look(
    cluster: ClusterConnections, leaders: Leaders, partition: TopicPartition, leader_epoch: int
) -> SourcePartition:
    """Raises ApiError (UNKNOWN_TOPIC_OR_PARTITION when there is none), BrokerUnreachable."""
    topic_id = topic_id_of(cluster, partition.topic)
    bounds = []
    for moment in (EARLIEST_TIMESTAMP, LATEST_TIMESTAMP):
        (offset,) = list_offsets(leaders, {partition: moment}, IsolationLevel.READ_COMMITTED).values()
        bounds.append(offset)
    return SourcePartition(topic_id, bounds[0], bounds[1], _epoch_end(leaders, partition, leader_epoch))


def _epoch_end(leaders: Leaders, partition: TopicPartition, leader_epoch: int) -> int | None:
    if leader_epoch < 0:
        return None
    epoch_partition = OffsetForLeaderPartition(partition=partition.partition, leader_epoch=leader_epoch)
    request = OffsetForLeaderEpochRequest(
        replica_id=_CONSUMER, topics=[OffsetForLeaderTopic(topic=partition.topic, partitions=[epoch_partition])]
    )
    answer = leaders.connection(partition).ask(request)
    (epoch_end,) = answer.topics[0].partitions
    return None if epoch_end.error_code or epoch_end.end_offset < 0 else epoch_end.end_offset
