"""What is asked about groups of each type, and what the responses come to."""

import pytest

from broker.common.errors import ErrorCode
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.consumer_group_describe import (
    AssignedTopicPartitions,
    Assignment,
    ConsumerGroupDescribeResponse,
    ConsumerGroupMember,
    DescribedConsumerGroup,
)
from broker.protocol.messages.describe_groups import DescribedGroup, DescribeGroupsResponse
from broker.protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsResponse,
    DescribeShareGroupOffsetsResponseGroup,
    DescribeShareGroupOffsetsResponsePartition,
    DescribeShareGroupOffsetsResponseTopic,
)
from broker.protocol.messages.list_groups import ListedGroup
from broker.protocol.messages.offset_fetch import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from broker.protocol.messages.share_group_describe import (
    DescribedShareGroup,
    ShareGroupDescribeResponse,
    ShareGroupMember,
)
from broker.protocol.messages.streams_group_describe import (
    DescribedStreamsGroup,
    InternalTopicInfo,
    StreamsGroupDescribeResponse,
    StreamsGroupMember,
    StreamsSubtopology,
    StreamsTopology,
    TaskAssignment,
    TaskIds,
)
from console.kit.common.partition_numbers import format_partitions, parse_partitions
from console.kit.gateway.errors import RefusedError
from console.kit.gateway.groups.described import inquiries, read_views

KAFKA_4 = {
    ApiKey.DESCRIBE_GROUPS: (0, 6),
    ApiKey.OFFSET_FETCH: (1, 10),
    ApiKey.CONSUMER_GROUP_DESCRIBE: (0, 1),
    ApiKey.SHARE_GROUP_DESCRIBE: (1, 1),
    ApiKey.STREAMS_GROUP_DESCRIBE: (0, 1),
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: (0, 1),
}
KAFKA_3 = {ApiKey.DESCRIBE_GROUPS: (0, 5), ApiKey.OFFSET_FETCH: (0, 9)}


def listed(name: str, group_type: str = "", state: str = "Stable") -> ListedGroup:
    return ListedGroup(group_id=name, protocol_type="consumer", group_state=state, group_type=group_type)


def asked_of(groups, served) -> list[ApiKey]:
    return [request.api for inquiry in inquiries(groups, served) for request in (*inquiry.requests, *inquiry.others)]


def view_of(group: ListedGroup, *responses, served=KAFKA_4):
    batches = inquiries([group], served)
    count = len(batches[0].requests)
    (view,) = read_views(batches, responses[:count], responses[count:], 3)
    return view


def holding(*partitions: int) -> Assignment:
    places = [AssignedTopicPartitions(topic_name="orders", partitions=list(partitions))]
    return Assignment(topic_partitions=places if partitions else [])


def committed(name: str, error_code: int = 0) -> OffsetFetchResponse:
    at = OffsetFetchResponsePartition(partition_index=0, committed_offset=7)
    topics = [OffsetFetchResponseTopic(name="orders", partitions=[at])]
    return OffsetFetchResponse(groups=[OffsetFetchResponseGroup(group_id=name, topics=topics, error_code=error_code)])


def test_each_type_is_asked_by_its_own_requests():
    groups = [listed("s", "share"), listed("c", "consumer"), listed("k", "streams"), listed("o", "classic")]
    assert asked_of(groups, KAFKA_4) == [
        *(ApiKey.DESCRIBE_GROUPS, ApiKey.OFFSET_FETCH),
        *(ApiKey.CONSUMER_GROUP_DESCRIBE, ApiKey.OFFSET_FETCH),
        *(ApiKey.SHARE_GROUP_DESCRIBE, ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS),
        *(ApiKey.STREAMS_GROUP_DESCRIBE, ApiKey.OFFSET_FETCH),
    ]


def test_a_broker_that_tells_no_types_is_asked_as_ever():
    assert asked_of([listed("old")], KAFKA_3) == [ApiKey.DESCRIBE_GROUPS, ApiKey.OFFSET_FETCH]


@pytest.mark.parametrize("group_type", ["consumer", "share", "streams", "quorum", "Quorum"])
def test_what_a_broker_does_not_describe_is_unknown_and_not_asked(group_type):
    group = listed("x", group_type)
    assert asked_of([group], KAFKA_3) == []
    view = view_of(group, served=KAFKA_3)
    assert (view.state, view.group_type, view.is_understood) == ("Unknown", group_type.lower(), False)
    assert group_type.lower() in view.details.unknown_because.lower()


def test_a_preview_of_share_groups_is_none_that_is_understood():
    served = KAFKA_4 | {ApiKey.SHARE_GROUP_DESCRIBE: (0, 0)}
    assert view_of(listed("s", "share"), served=served).state == "Unknown"


def test_a_group_that_is_listed_and_that_describe_groups_does_not_know_is_unknown():
    """As of a broker that has such groups, and tells no types in its list."""
    described = DescribeGroupsResponse(groups=[DescribedGroup(group_id="modern", group_state="Dead")])
    assert view_of(listed("modern"), described, committed("modern"), served=KAFKA_3).state == "Unknown"


def test_a_consumer_group_has_epochs_and_targets():
    member = ConsumerGroupMember(
        member_id="m",
        client_id="app",
        client_host="/10.0.0.1",
        member_epoch=4,
        subscribed_topic_names=["orders"],
        assignment=holding(1, 0),
        target_assignment=holding(0),
        member_type=0,
    )
    group = DescribedConsumerGroup(
        group_id="c",
        group_state="Reconciling",
        group_epoch=5,
        assignment_epoch=5,
        assignor_name="uniform",
        members=[member],
    )
    view = view_of(listed("c", "consumer"), ConsumerGroupDescribeResponse(groups=[group]), committed("c"))

    assert (view.state, view.details.group_epoch, view.details.assignor) == ("Reconciling", 5, "uniform")
    (seen,) = view.members
    assert (seen.assigned, seen.target, seen.epoch) == ((("orders", 0), ("orders", 1)), (("orders", 0),), 4)
    assert (seen.host, seen.subscription, seen.is_classic) == ("10.0.0.1", ("orders",), True)
    assert view.committed == {("orders", 0): 7}


def test_a_share_group_has_start_offsets_and_the_lags_that_are_counted():
    places = [
        DescribeShareGroupOffsetsResponsePartition(partition_index=0, start_offset=5, lag=2),
        DescribeShareGroupOffsetsResponsePartition(partition_index=1, start_offset=-1, lag=-1),
        DescribeShareGroupOffsetsResponsePartition(partition_index=2, start_offset=9, error_code=3),
    ]
    topics = [DescribeShareGroupOffsetsResponseTopic(topic_name="orders", partitions=places)]
    offsets = DescribeShareGroupOffsetsResponse(
        groups=[DescribeShareGroupOffsetsResponseGroup(group_id="s", topics=topics)]
    )
    members = [ShareGroupMember(member_id=name, client_id=name, assignment=holding(0, 1)) for name in ("b", "a")]
    described = ShareGroupDescribeResponse(
        groups=[DescribedShareGroup(group_id="s", group_state="Stable", members=members)]
    )
    view = view_of(listed("s", "share"), described, offsets)

    assert (view.committed, view.lags) == ({("orders", 0): 5}, {("orders", 0): 2})
    assert [member.client_id for member in view.members] == ["a", "b"]
    assert view.members[0].target is None


def test_a_streams_group_holds_what_its_active_tasks_read():
    part = StreamsSubtopology(
        subtopology_id="0",
        source_topics=["orders"],
        repartition_source_topics=[InternalTopicInfo(name="again")],
        state_changelog_topics=[InternalTopicInfo(name="log")],
    )
    tasks = TaskAssignment(
        active_tasks=[TaskIds(subtopology_id="0", partitions=[0, 1])],
        standby_tasks=[TaskIds(subtopology_id="0", partitions=[2])],
    )
    member = StreamsGroupMember(member_id="m", client_id="app", assignment=tasks)
    group = DescribedStreamsGroup(
        group_id="k", group_state="Stable", topology=StreamsTopology(epoch=2, subtopologies=[part]), members=[member]
    )
    view = view_of(listed("k", "streams"), StreamsGroupDescribeResponse(groups=[group]), committed("k"))

    assert view.members[0].assigned == (("again", 0), ("again", 1), ("orders", 0), ("orders", 1))
    assert (view.members[0].tasks, view.members[0].target_tasks) == ("active 0: 0-1; standby 0: 2", "")
    assert view.details.topology_epoch == 2
    assert view.details.subtopologies[0].changelog_topics == ("log",)


@pytest.mark.parametrize("topology", [None, StreamsTopology(epoch=1, subtopologies=None)])
def test_a_streams_group_without_its_source_topics_is_described(topology):
    group = DescribedStreamsGroup(group_id="k", group_state="NotReady", topology=topology)
    view = view_of(listed("k", "streams"), StreamsGroupDescribeResponse(groups=[group]), committed("k"))
    assert (view.state, view.details.subtopologies) == ("NotReady", ())


@pytest.mark.parametrize("group_type", ["classic", "consumer"])
def test_a_group_that_the_console_may_not_describe_is_unknown_and_the_others_are_told(group_type):
    refused = {"error_code": ErrorCode.GROUP_AUTHORIZATION_FAILED}
    if group_type == "classic":
        described = DescribeGroupsResponse(groups=[DescribedGroup(group_id="g", **refused)])
    else:
        described = ConsumerGroupDescribeResponse(groups=[DescribedConsumerGroup(group_id="g", **refused)])
    view = view_of(listed("g", group_type), described, committed("g"))
    assert view.state == "Unknown"
    assert "Group authorization failed." in view.details.unknown_because


def test_a_group_that_has_gone_meanwhile_is_left_out():
    gone = DescribedConsumerGroup(group_id="c", error_code=ErrorCode.GROUP_ID_NOT_FOUND)
    batches = inquiries([listed("c", "consumer")], KAFKA_4)
    assert list(read_views(batches, [ConsumerGroupDescribeResponse(groups=[gone]), committed("c")], [], 1)) == []


def test_a_share_group_whose_offsets_do_not_come_is_unknown():
    described = ShareGroupDescribeResponse(groups=[DescribedShareGroup(group_id="s", group_state="Stable")])
    view = view_of(listed("s", "share"), described)
    assert (view.state, view.details.unknown_because) == ("Unknown", "Its start offsets were not returned in time.")


def test_a_coordinator_that_moves_is_asked_again_rather_than_believed():
    moved = DescribedConsumerGroup(group_id="c", error_code=ErrorCode.NOT_COORDINATOR)
    with pytest.raises(RefusedError):
        view_of(listed("c", "consumer"), ConsumerGroupDescribeResponse(groups=[moved]), committed("c"))


def test_offsets_that_a_broker_leaves_out_are_a_refusal():
    group = DescribedConsumerGroup(group_id="c", group_state="Stable")
    with pytest.raises(RefusedError):
        view_of(listed("c", "consumer"), ConsumerGroupDescribeResponse(groups=[group]), OffsetFetchResponse())


@pytest.mark.parametrize(("numbers", "text"), [([], ""), ([3], "3"), ([2, 0, 1, 5, 7, 8], "0-2,5,7-8")])
def test_partitions_are_written_as_they_are_read(numbers, text):
    assert format_partitions(numbers) == text
    assert parse_partitions(text) == frozenset(numbers)
