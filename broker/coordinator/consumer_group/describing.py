"""ConsumerGroupDescribe: what tools see of consumer groups."""

from broker.common.errors import ErrorCode
from broker.coordinator.consumer_group.assignors import Partitions
from broker.coordinator.consumer_group.group import ConsumerGroupState, ModernGroup
from broker.coordinator.consumer_group.groups import ConsumerGroups
from broker.coordinator.consumer_group.member import ConsumerGroupMember
from broker.coordinator.consumer_group.topics import TopicDirectory
from broker.protocol.made_late import made_late
from broker.protocol.messages.consumer_group_describe import (
    AssignedTopicPartitions,
    Assignment,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedConsumerGroup,
)
from broker.protocol.messages.consumer_group_describe import ConsumerGroupMember as DescribedMember

#: `member_type` of a member of the classic protocol, and of one of the consumer protocol.
_CLASSIC, _CONSUMER = 0, 1


def describe(request: ConsumerGroupDescribeRequest, groups: ConsumerGroups) -> ConsumerGroupDescribeResponse:
    described = [_described(group_id, groups.get(group_id), groups) for group_id in request.group_ids]
    return ConsumerGroupDescribeResponse(groups=described)


def _described(group_id: str, group: ModernGroup | None, groups: ConsumerGroups) -> DescribedConsumerGroup:
    if group is None:
        return DescribedConsumerGroup(
            error_code=ErrorCode.GROUP_ID_NOT_FOUND,
            error_message=f"Group {group_id} not found.",
            group_id=group_id,
            group_state=ConsumerGroupState.DEAD.value,
        )
    votes, topics = group.assignor_votes, groups.topics
    return DescribedConsumerGroup(
        group_id=group_id,
        group_state=group.state.value,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=votes.most_common(1)[0][0] if votes else groups.config.group_consumer_assignors[0],
        members=made_late(
            [(member, group.target_of(member.member_id)) for member in group.members.values()],
            lambda described: _described_member(described[0], described[1], topics),
        ),
    )


def _described_member(member: ConsumerGroupMember, target: Partitions, topics: TopicDirectory) -> DescribedMember:
    subscription = member.subscription
    assigned = {topic_id: frozenset(epochs) for topic_id, epochs in member.assigned.items()}
    return DescribedMember(
        member_id=member.member_id,
        instance_id=subscription.instance_id,
        rack_id=subscription.rack_id,
        member_epoch=member.epoch,
        client_id=subscription.client_id,
        client_host=subscription.client_host,
        subscribed_topic_names=sorted(subscription.topic_names),
        subscribed_topic_regex=subscription.topic_regex or "",
        assignment=_assignment(assigned, topics),
        target_assignment=_assignment(target, topics),
        member_type=_CLASSIC if member.is_classic else _CONSUMER,
    )


def _assignment(partitions: Partitions, topics: TopicDirectory) -> Assignment:
    """Topics that are deleted are left out: they have no name."""
    named = [(topics.name_of(topic_id), topic_id) for topic_id in partitions]
    return Assignment(
        topic_partitions=[
            AssignedTopicPartitions(topic_id=topic_id, topic_name=name, partitions=sorted(partitions[topic_id]))
            for name, topic_id in named
            if name is not None
        ]
    )
