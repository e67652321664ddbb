"""A streams group as its coordinator describes it: tasks, and the partitions that they read. Pure."""

from collections.abc import Iterable, Iterator, Mapping

from broker.protocol.messages.streams_group_describe import (
    DescribedStreamsGroup,
    InternalTopicInfo,
    StreamsGroupMember,
    StreamsSubtopology,
    TaskAssignment,
    TaskIds,
)
from console.kit.common.natural_order import natural_order
from console.kit.common.partition_numbers import format_partitions
from console.kit.gateway.groups.interface import (
    STREAMS,
    GroupDetails,
    GroupView,
    MemberView,
    Subtopology,
    TopicPartition,
)


def streams_view(
    group: DescribedStreamsGroup, committed: Mapping[TopicPartition, int], protocol_type: str, broker_id: int
) -> GroupView:
    topology = group.topology
    parts = topology.subtopologies or [] if topology is not None else []
    sources = {part.subtopology_id: _sources(part) for part in parts}
    members = (_member(member, sources) for member in group.members)
    details = GroupDetails(
        group.group_epoch,
        group.assignment_epoch,
        topology_epoch=None if topology is None else topology.epoch,
        subtopologies=tuple(sorted(map(_subtopology, parts), key=lambda part: natural_order(part.name))),
    )
    return GroupView(
        group.group_id,
        group.group_state,
        protocol_type,
        broker_id,
        tuple(sorted(members, key=lambda member: (natural_order(member.client_id), natural_order(member.member_id)))),
        committed,
        STREAMS,
        details,
    )


def _member(member: StreamsGroupMember, sources: Mapping[str, tuple[str, ...]]) -> MemberView:
    return MemberView(
        member.member_id,
        member.client_id,
        member.client_host.removeprefix("/"),
        member.instance_id or "",
        tuple(sorted(_read_by(member.assignment.active_tasks, sources))),
        target=tuple(sorted(_read_by(member.target_assignment.active_tasks, sources))),
        epoch=member.member_epoch,
        rack=member.rack_id or "",
        tasks=_tasks(member.assignment),
        target_tasks=_tasks(member.target_assignment),
        is_classic=member.is_classic,
    )


def _read_by(tasks: Iterable[TaskIds], sources: Mapping[str, tuple[str, ...]]) -> Iterator[TopicPartition]:
    """Yield the partitions of a task's source topics: a task reads those of its own number."""
    for task in tasks:
        for topic in sources.get(task.subtopology_id, ()):
            yield from ((topic, number) for number in task.partitions)


def _tasks(assignment: TaskAssignment) -> str:
    """Return tasks as `active 0: 0-2, 1: 0; standby 1: 2`: partitions by the id of the sub-topology."""
    kinds = {
        "active": assignment.active_tasks,
        "standby": assignment.standby_tasks,
        "warm-up": assignment.warmup_tasks,
    }
    return "; ".join(
        f"{kind} {', '.join(f'{task.subtopology_id}: {format_partitions(task.partitions)}' for task in tasks)}"
        for kind, tasks in kinds.items()
        if tasks
    )


def _sources(part: StreamsSubtopology) -> tuple[str, ...]:
    return (*part.source_topics, *_names(part.repartition_source_topics))


def _subtopology(part: StreamsSubtopology) -> Subtopology:
    return Subtopology(
        part.subtopology_id,
        tuple(sorted(part.source_topics)),
        _names(part.repartition_source_topics),
        tuple(sorted(part.repartition_sink_topics)),
        _names(part.state_changelog_topics),
    )


def _names(topics: Iterable[InternalTopicInfo]) -> tuple[str, ...]:
    return tuple(sorted(topic.name for topic in topics))
