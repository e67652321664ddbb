"""Groups of each type as their coordinator describes them: what is asked, and what the responses say. Pure.

Which request describes a group depends on its type. A group whose type this cluster does not describe, or this console
does not know, is in an unknown state: it is there, and nothing is known of its members.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import Any, NamedTuple

from broker.client.assignment import decode_assignment
from broker.common.errors import ErrorCode, error_code_of
from broker.protocol.messages.consumer_group_describe import (
    Assignment,
    ConsumerGroupDescribeRequest,
    ConsumerGroupMember,
    DescribedConsumerGroup,
)
from broker.protocol.messages.describe_groups import DescribedGroup, DescribedGroupMember, DescribeGroupsRequest
from broker.protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsResponseGroup,
)
from broker.protocol.messages.list_groups import ListedGroup
from broker.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchResponseGroup
from broker.protocol.messages.share_group_describe import (
    DescribedShareGroup,
    ShareGroupDescribeRequest,
    ShareGroupMember,
)
from broker.protocol.messages.streams_group_describe import StreamsGroupDescribeRequest
from broker.protocol.schema import Message, Request
from console.kit.common.natural_order import natural_order
from console.kit.gateway.errors import refusal
from console.kit.gateway.groups.interface import (
    CLASSIC,
    CONSUMER,
    SET_BY_CONSOLE,
    SHARE,
    STREAMS,
    UNKNOWN_STATE,
    GroupDetails,
    GroupView,
    MemberView,
    TopicPartition,
)
from console.kit.gateway.groups.streams import streams_view

GROUPS_PER_REQUEST = 500
_CONSUMER_PROTOCOL = "consumer"
#: API → lowest and highest version, as a broker says.
Served = Mapping[int, tuple[int, int]]
#: The views that the responses about these groups of a broker come to. Raises RefusedError if a group has moved away.
_Read = Callable[[Sequence[ListedGroup], Sequence[Any], int], Iterator[GroupView]]


class Inquiry(NamedTuple):
    """Requests about groups of one type, and how their responses are read.

    `others`: requests that the coordinator answers only when other brokers have answered it, so that it may keep every
    response behind them waiting. Where their responses do not come, `read` is given those of `requests` alone.
    """

    groups: Sequence[ListedGroup]
    requests: Sequence[Request[Message]]
    read: _Read
    others: Sequence[Request[Message]] = ()


def inquiries(listed: Iterable[ListedGroup], served: Served) -> list[Inquiry]:
    """Return what to ask a coordinator that serves these APIs about the groups it lists."""
    ordered = sorted(listed, key=lambda group: (group_type_of(group), group.group_id))
    inquiries = []
    for group_type, groups in groupby(ordered, key=group_type_of):
        of_type = list(groups)
        for start in range(0, len(of_type), GROUPS_PER_REQUEST):
            inquiries.append(_inquiry(group_type, of_type[start : start + GROUPS_PER_REQUEST], served))
    return inquiries


def read_views(
    inquiries: Iterable[Inquiry], responses: Sequence[Any], others: Sequence[Any], broker_id: int
) -> Iterator[GroupView]:
    """Return the views that `responses`, one to each request in order, come to. Raises RefusedError.

    `others` are the responses to `Inquiry.others`, none where they did not come.
    """
    of_requests, of_others = iter(responses), iter(others)
    for inquiry in inquiries:
        answers_of_inquiry = [*islice(of_requests, len(inquiry.requests)), *islice(of_others, len(inquiry.others))]
        yield from inquiry.read(inquiry.groups, answers_of_inquiry, broker_id)


def group_type_of(group: ListedGroup) -> str:
    """Return Kafka's word for the type; a broker that tells no types (ListGroups below 5) has classic groups only."""
    return group.group_type.lower() or CLASSIC


def member_order(member: MemberView) -> tuple[object, ...]:
    return natural_order(member.client_id), natural_order(member.member_id)


def _inquiry(group_type: str, groups: Sequence[ListedGroup], served: Served) -> Inquiry:
    names = [group.group_id for group in groups]
    offsets = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=name, topics=None) for name in names])
    requests: tuple[Request[Message], ...]
    others: tuple[Request[Message], ...] = ()
    match group_type:
        case "classic":
            return Inquiry(groups, (DescribeGroupsRequest(groups=names), offsets), _classic_views)
        case "consumer":
            requests, read = (ConsumerGroupDescribeRequest(group_ids=names), offsets), _consumer_views
        case "streams":
            requests, read = (StreamsGroupDescribeRequest(group_ids=names), offsets), _streams_views
        case "share":
            requests = (ShareGroupDescribeRequest(group_ids=names),)
            places = [DescribeShareGroupOffsetsRequestGroup(group_id=name, topics=None) for name in names]
            others, read = (DescribeShareGroupOffsetsRequest(groups=places),), _share_views
        case _:
            return Inquiry(groups, (), _unknown_views)
    if _are_served((*requests, *others), served):
        return Inquiry(groups, requests, read, others)
    return Inquiry(groups, (), _unserved_views)


def _are_served(requests: Iterable[Request[Message]], served: Served) -> bool:
    return all(
        request.api in served
        and max(served[request.api][0], request.versions[0]) <= min(served[request.api][1], request.versions[1])
        for request in requests
    )


def _unknown_views(groups: Sequence[ListedGroup], _responses: Sequence[Any], broker_id: int) -> Iterator[GroupView]:
    for group in groups:
        yield _unknown(group, broker_id, f"This console does not know groups of type {group.group_type}.")


def _unserved_views(groups: Sequence[ListedGroup], _responses: Sequence[Any], broker_id: int) -> Iterator[GroupView]:
    for group in groups:
        yield _unknown(group, broker_id, f"Its broker does not describe groups of type {group_type_of(group)}.")


def _classic_views(groups: Sequence[ListedGroup], responses: Sequence[Any], broker_id: int) -> Iterator[GroupView]:
    described, fetched = responses
    listed = {group.group_id: group for group in groups}
    for group, committed in _paired(described.groups, fetched.groups):
        code = _refused(group.error_code) or _refused(committed.error_code)
        is_listed = listed[group.group_id].group_state not in ("", "Dead")
        if code:
            yield _unknown(listed[group.group_id], broker_id, f"It is not described: {refusal(code)}")
        elif group.group_state == "Dead" and is_listed:
            sentence = "It is listed and DescribeGroups does not know it: its type is none that the broker tells."
            yield _unknown(listed[group.group_id], broker_id, sentence)
        else:
            yield _classic_view(group, committed, broker_id)


def _classic_view(group: DescribedGroup, committed: OffsetFetchResponseGroup, broker_id: int) -> GroupView:
    is_consumer = group.protocol_type == _CONSUMER_PROTOCOL
    members = (_classic_member(member, is_consumer) for member in group.members)
    return GroupView(
        group.group_id,
        group.group_state,
        group.protocol_type,
        broker_id,
        tuple(sorted(members, key=member_order)),
        _offsets(committed),
        CLASSIC,
        GroupDetails(assignor=group.protocol_data if is_consumer else ""),
        are_set=_are_set(committed),
    )


def _classic_member(member: DescribedGroupMember, is_consumer: bool) -> MemberView:
    assigned = decode_assignment(bytes(member.member_assignment)) if is_consumer else ()
    return MemberView(
        member.member_id, member.client_id, _host(member.client_host), member.group_instance_id or "", assigned
    )


def _consumer_views(groups: Sequence[ListedGroup], responses: Sequence[Any], broker_id: int) -> Iterator[GroupView]:
    described, fetched = responses
    for group, committed, listed in _known(groups, described.groups, fetched.groups):
        code = _refused(group.error_code) or _refused(committed.error_code)
        if code:
            yield _unknown(listed, broker_id, f"It is not described: {refusal(code)}")
            continue
        members = tuple(sorted(map(_consumer_member, group.members), key=member_order))
        offsets, details = _offsets(committed), _details(group)
        yield GroupView(
            group.group_id,
            group.group_state,
            listed.protocol_type,
            broker_id,
            members,
            offsets,
            CONSUMER,
            details,
            are_set=_are_set(committed),
        )


def _consumer_member(member: ConsumerGroupMember) -> MemberView:
    return MemberView(
        member.member_id,
        member.client_id,
        _host(member.client_host),
        member.instance_id or "",
        _assigned(member.assignment),
        target=_assigned(member.target_assignment),
        epoch=member.member_epoch,
        rack=member.rack_id or "",
        subscription=tuple(sorted(member.subscribed_topic_names)),
        regex=member.subscribed_topic_regex or "",
        is_classic=member.member_type == 0,
    )


def _share_views(groups: Sequence[ListedGroup], responses: Sequence[Any], broker_id: int) -> Iterator[GroupView]:
    described, *places = responses
    if not places:
        for listed_group in groups:
            yield _unknown(listed_group, broker_id, "Its start offsets were not returned in time.")
        return
    for group, offsets, listed in _known(groups, described.groups, places[0].groups):
        code = _refused(group.error_code) or _refused(offsets.error_code)
        if code:
            yield _unknown(listed, broker_id, f"It is not described: {refusal(code)}")
            continue
        members = tuple(sorted(map(_share_member, group.members), key=member_order))
        starts, lags = _share_offsets(offsets)
        yield GroupView(
            group.group_id,
            group.group_state,
            listed.protocol_type,
            broker_id,
            members,
            starts,
            SHARE,
            _details(group),
            lags,
        )


def _share_member(member: ShareGroupMember) -> MemberView:
    return MemberView(
        member.member_id,
        member.client_id,
        _host(member.client_host),
        "",
        _assigned(member.assignment),
        epoch=member.member_epoch,
        rack=member.rack_id or "",
        subscription=tuple(sorted(member.subscribed_topic_names)),
    )


def _share_offsets(
    group: DescribeShareGroupOffsetsResponseGroup,
) -> tuple[dict[TopicPartition, int], dict[TopicPartition, int]]:
    """Return start offsets and lags by share partition; what is -1, or has an error, is left out."""
    offsets = [
        ((topic.topic_name, partition.partition_index), partition)
        for topic in group.topics
        for partition in topic.partitions
        if not partition.error_code
    ]
    starts = {place: partition.start_offset for place, partition in offsets if partition.start_offset >= 0}
    return starts, {place: partition.lag for place, partition in offsets if partition.lag >= 0}


def _streams_views(groups: Sequence[ListedGroup], responses: Sequence[Any], broker_id: int) -> Iterator[GroupView]:
    described, fetched = responses
    for group, committed, listed in _known(groups, described.groups, fetched.groups):
        code = _refused(group.error_code) or _refused(committed.error_code)
        if code:
            yield _unknown(listed, broker_id, f"It is not described: {refusal(code)}")
        else:
            yield streams_view(group, _offsets(committed), listed.protocol_type or STREAMS, broker_id)


def _known(
    groups: Sequence[ListedGroup], described: Iterable[Any], offsets: Iterable[Any]
) -> Iterator[tuple[Any, Any, ListedGroup]]:
    """Yield what is described of each group beside its offsets, without groups that have gone or changed their type."""
    listed = {group.group_id: group for group in groups}
    for group, committed in _paired(described, offsets):
        if group.error_code != ErrorCode.GROUP_ID_NOT_FOUND and group.group_id in listed:
            yield group, committed, listed[group.group_id]


def _paired(described: Iterable[Any], offsets: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield each group with its offsets: brokers answer in another order than they were asked in.

    Raises RefusedError where a broker leaves out the offsets of a group.
    """
    by_name = {offset.group_id: offset for offset in offsets}
    for group in described:
        if group.group_id not in by_name:
            raise refusal(ErrorCode.GROUP_ID_NOT_FOUND)
        yield group, by_name[group.group_id]


def _refused(code: int) -> int:
    """Return a code that says no for good, 0 for none. Raises RefusedError for one that asks to try again."""
    if code in (ErrorCode.NONE, ErrorCode.GROUP_ID_NOT_FOUND):
        return ErrorCode.NONE
    if error_code_of(code).retriable:
        raise refusal(code)
    return code


def _unknown(group: ListedGroup, broker_id: int, sentence: str) -> GroupView:
    return GroupView(
        group.group_id,
        UNKNOWN_STATE,
        group.protocol_type,
        broker_id,
        (),
        {},
        group_type_of(group),
        GroupDetails(unknown_because=sentence),
    )


def _details(group: DescribedConsumerGroup | DescribedShareGroup) -> GroupDetails:
    return GroupDetails(group.group_epoch, group.assignment_epoch, group.assignor_name)


def _assigned(assignment: Assignment) -> tuple[TopicPartition, ...]:
    return tuple(
        sorted(
            (partition.topic_name, number)
            for partition in assignment.topic_partitions
            for number in partition.partitions
        )
    )


def _offsets(group: OffsetFetchResponseGroup) -> dict[TopicPartition, int]:
    return {
        (topic.name, partition.partition_index): partition.committed_offset
        for topic in group.topics
        for partition in topic.partitions
        if not partition.error_code and partition.committed_offset >= 0
    }


def _are_set(group: OffsetFetchResponseGroup) -> frozenset[TopicPartition]:
    """Return where the console has set the offset, and no consumer has committed since."""
    return frozenset(
        (topic.name, partition.partition_index)
        for topic in group.topics
        for partition in topic.partitions
        if partition.metadata == SET_BY_CONSOLE
    )


def _host(client_host: str) -> str:
    return client_host.removeprefix("/")
