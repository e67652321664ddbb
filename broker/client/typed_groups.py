"""Groups of the types of Kafka 4 (KIP-848, KIP-932, KIP-1071) as an administrator's client sees them. Pure.

DescribeGroups knows classic groups only: to it one of another type does not exist. Each type has an API of its own.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from broker.common.types import TopicPartition
from broker.protocol.messages.consumer_group_describe import Assignment, ConsumerGroupDescribeRequest
from broker.protocol.messages.describe_share_group_offsets import DescribeShareGroupOffsetsResponse
from broker.protocol.messages.share_group_describe import ShareGroupDescribeRequest
from broker.protocol.messages.streams_group_describe import StreamsGroupDescribeRequest, TaskAssignment
from broker.protocol.schema import Request

#: Type of a member of the consumer protocol; the classic one's is 0.
_OF_CONSUMERS = 1
CLASSIC, CONSUMER, SHARE, STREAMS = "Classic", "Consumer", "Share", "Streams"


@dataclass(frozen=True, slots=True)
class GroupMember:
    """`epoch` and `target` are None for members of classic groups; `target` also of share groups. `tasks` are those of
    a streams group, as text: its partitions are in `assignment`."""

    member_id: str
    instance_id: str
    client_id: str
    host: str
    assignment: tuple[TopicPartition, ...]
    epoch: int | None = None
    target: tuple[TopicPartition, ...] | None = None
    tasks: str = ""
    target_tasks: str = ""
    is_upgraded: bool | None = None  #: whether a consumer group's member uses the consumer protocol; None: not reported


@dataclass(frozen=True, slots=True)
class TypedGroup:
    """`state` is Kafka's word, "Dead" of an unknown group; `strategy` is the assignor. A classic one has no epochs."""

    group_id: str
    state: str
    strategy: str
    members: tuple[GroupMember, ...]
    group_type: str = CLASSIC
    group_epoch: int | None = None
    assignment_epoch: int | None = None


@dataclass(frozen=True, slots=True)
class ShareOffset:
    """Offset of the first record that is not acknowledged. `lag` None: the broker does not report it (KIP-1226)."""

    start: int
    lag: int | None


def describe_requests(group_id: str) -> Iterator[tuple[str, Request[Any]]]:
    """Yield the type and the request that describes a group of it. Each other type answers GROUP_ID_NOT_FOUND."""
    yield CONSUMER, ConsumerGroupDescribeRequest(group_ids=[group_id], include_authorized_operations=False)
    yield SHARE, ShareGroupDescribeRequest(group_ids=[group_id], include_authorized_operations=False)
    yield STREAMS, StreamsGroupDescribeRequest(group_ids=[group_id], include_authorized_operations=False)


def typed_group(group_type: str, described: Any) -> TypedGroup:
    """Return a group as the API of its type describes it."""
    member_of = {CONSUMER: _consumer, SHARE: _share, STREAMS: _streams(described)}[group_type]
    return TypedGroup(
        described.group_id,
        described.group_state,
        getattr(described, "assignor_name", ""),
        tuple(member_of(member) for member in described.members),
        group_type,
        described.group_epoch,
        described.assignment_epoch,
    )


def share_offsets(response: DescribeShareGroupOffsetsResponse) -> dict[TopicPartition, ShareOffset]:
    """Return the start offset of each share partition that has begun."""
    return {
        TopicPartition(topic.topic_name, partition.partition_index): ShareOffset(
            partition.start_offset, partition.lag if partition.lag >= 0 else None
        )
        for group in response.groups
        for topic in group.topics
        for partition in topic.partitions
        if partition.start_offset >= 0 and not partition.error_code
    }


def _consumer(member: Any) -> GroupMember:
    described = _member(
        member, member.instance_id, _partitions(member.assignment), _partitions(member.target_assignment)
    )
    return described if member.member_type < 0 else replace(described, is_upgraded=member.member_type == _OF_CONSUMERS)


def _share(member: Any) -> GroupMember:
    return _member(member, None, _partitions(member.assignment), None)


def _streams(described: Any) -> Any:
    """Return what makes a member: its active tasks read the partitions of their sub-topology's source topics."""
    topology = getattr(described, "topology", None)
    parts = topology.subtopologies or () if topology is not None else ()
    topics = {
        part.subtopology_id: sorted({*part.source_topics, *(topic.name for topic in part.repartition_source_topics)})
        for part in parts
    }

    def held(tasks: TaskAssignment) -> tuple[TopicPartition, ...]:
        return tuple(
            TopicPartition(topic, partition)
            for task in tasks.active_tasks
            for topic in topics.get(task.subtopology_id, ())
            for partition in sorted(task.partitions)
        )

    def member_of(member: Any) -> GroupMember:
        return _member(
            member,
            member.instance_id,
            held(member.assignment),
            held(member.target_assignment),
            _tasks(member.assignment),
            _tasks(member.target_assignment),
        )

    return member_of


def _tasks(assignment: TaskAssignment) -> str:
    """Return `ACTIVE: [0: 0,1]; STANDBY: [1: 0]`."""
    kinds = (
        ("ACTIVE", assignment.active_tasks),
        ("STANDBY", assignment.standby_tasks),
        ("WARMUP", assignment.warmup_tasks),
    )
    return "; ".join(
        f"{name}: [{'; '.join(f'{task.subtopology_id}: {_numbers(task.partitions)}' for task in tasks)}]"
        for name, tasks in kinds
        if tasks
    )


def _numbers(partitions: Iterable[int]) -> str:
    return ",".join(map(str, sorted(partitions)))


def _member(
    member: Any,
    instance_id: str | None,
    assignment: tuple[TopicPartition, ...],
    target: tuple[TopicPartition, ...] | None,
    tasks: str = "",
    target_tasks: str = "",
) -> GroupMember:
    return GroupMember(
        member.member_id,
        instance_id or "",
        member.client_id,
        member.client_host,
        assignment,
        member.member_epoch,
        target,
        tasks,
        target_tasks,
    )


def _partitions(assignment: Assignment) -> tuple[TopicPartition, ...]:
    return tuple(
        TopicPartition(topic.topic_name, partition)
        for topic in assignment.topic_partitions
        for partition in sorted(topic.partitions)
    )
