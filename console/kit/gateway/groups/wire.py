"""Groups asked of the brokers that coordinate them, in a few requests for all of a broker's groups.

The admin client asks for the offsets of one group at a time, which is thousands of requests where three are enough.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from broker.client.assignment import decode_assignment
from broker.client.cluster import parse_bootstrap_servers
from broker.common.errors import BarnabasError, ErrorCode
from broker.protocol.messages.describe_groups import DescribedGroup, DescribedGroupMember, DescribeGroupsRequest
from broker.protocol.messages.find_coordinator import Coordinator, FindCoordinatorRequest
from broker.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from broker.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchResponseGroup
from broker.protocol.schema import Message, Request
from console.kit.common.natural_order import natural_order
from console.kit.gateway.connection.at_once import Address, Heard, ask_at_once
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.errors import (
    ClientRefusedError,
    ClusterUnreachableError,
    GatewayError,
    OtherClusterError,
    in_our_words,
    refusal,
    unanswered,
)
from console.kit.gateway.groups.interface import GroupView, MemberView, TopicPartition

logger = logging.getLogger(__name__)

GROUPS_PER_REQUEST = 500
CONSUMER_PROTOCOL = "consumer"
T = TypeVar("T")


def ask_all_groups(
    client: ClusterClient, brokers: Iterable[tuple[int, str, int]], timeout_seconds: float
) -> tuple[list[GroupView], frozenset[int]]:
    """The groups of every broker (id, host, port) that tells them, and the ids of those that do.

    A broker tells none that does not know all of its groups: they are loaded, or have just moved away. Raises
    GatewayError if none does, with what one answered rather than that others did not.
    """
    ids = {(host, port): broker_id for broker_id, host, port in brokers}
    failures: list[GatewayError] = []
    listed = ask_at_once(client, {each: [ListGroupsRequest()] for each in ids}, timeout_seconds)
    names = _said(listed, lambda _address, answers: _names(*answers), failures)
    questions = {each: _questions(found) for each, found in names.items() if found}
    told = ask_at_once(client, questions, timeout_seconds) if questions else {}
    described = {each: told.get(each, Heard()) for each in names}
    groups = _said(described, lambda address, answers: list(_views(answers, ids[address])), failures)
    if not groups:
        raise min(failures, key=_is_unanswered, default=unanswered())
    return [group for found in groups.values() for group in found], frozenset(ids[each] for each in groups)


def _said(
    told: Mapping[Address, Heard], read: Callable[[Address, list[Any]], list[T]], failures: list[GatewayError]
) -> dict[Address, list[T]]:
    """What each broker's answers say; why there are none goes to `failures`. Raises that the console is not let in."""
    found = {}
    for address, heard in told.items():
        try:
            with in_our_words():
                if heard.error is not None:
                    raise heard.error
                found[address] = read(address, heard.answers)
        except (ClientRefusedError, OtherClusterError):
            raise
        except GatewayError as error:
            logger.debug("no groups of broker %s:%s: %s", *address, error)
            failures.append(error)
    return found


def _is_unanswered(failure: GatewayError) -> bool:
    return isinstance(failure, ClusterUnreachableError)


def _names(listed: ListGroupsResponse) -> list[str]:
    if listed.error_code:
        raise refusal(listed.error_code)
    return sorted(group.group_id for group in listed.groups)


def ask_group(client: ClusterClient, group_id: str, timeout_seconds: float) -> GroupView:
    """Raises RefusedError if the coordinator says no, BarnabasError if it cannot be asked."""
    coordinator = _find_coordinator(client, group_id, timeout_seconds)
    with client.connection(coordinator.host, coordinator.port, timeout_seconds) as connection:
        (group,) = _views([connection.ask(each) for each in _questions([group_id])], coordinator.node_id)
    return group


def _find_coordinator(client: ClusterClient, group_id: str, timeout_seconds: float) -> Coordinator:
    failure: BarnabasError | None = None
    with client.cluster(timeout_seconds) as cluster:
        for address in parse_bootstrap_servers(client.bootstrap_servers):
            try:
                answer = cluster.connection(*address).ask(FindCoordinatorRequest(coordinator_keys=[group_id]))
            except BarnabasError as error:
                failure = error
                continue
            (coordinator,) = answer.coordinators
            if coordinator.error_code:
                raise refusal(coordinator.error_code, coordinator.error_message or "")
            return coordinator
    raise failure or refusal(ErrorCode.COORDINATOR_NOT_AVAILABLE)


def _questions(names: list[str]) -> list[Request[Message]]:
    """Two for each of some groups: who is in them, and what they have committed."""
    return [
        question
        for start in range(0, len(names), GROUPS_PER_REQUEST)
        for question in _questions_of(names[start : start + GROUPS_PER_REQUEST])
    ]


def _questions_of(names: list[str]) -> tuple[DescribeGroupsRequest, OffsetFetchRequest]:
    wanted = [OffsetFetchRequestGroup(group_id=name, topics=None) for name in names]
    return DescribeGroupsRequest(groups=names), OffsetFetchRequest(groups=wanted)


def _views(answers: Sequence[Any], broker_id: int) -> Iterator[GroupView]:
    """Of the answers to these questions. Raises RefusedError if one of the groups has moved away meanwhile."""
    for described, committed in zip(answers[::2], answers[1::2], strict=True):
        yield from _views_of(described.groups, {each.group_id: each for each in committed.groups}, broker_id)


def _views_of(
    described: Iterable[DescribedGroup], fetched: Mapping[str, OffsetFetchResponseGroup], broker_id: int
) -> Iterator[GroupView]:
    for group in described:
        committed = fetched[group.group_id]
        code = group.error_code or committed.error_code
        if code not in (ErrorCode.NONE, ErrorCode.GROUP_ID_NOT_FOUND):
            raise refusal(code)
        offsets = {
            (topic.name, each.partition_index): each.committed_offset
            for topic in committed.topics
            for each in topic.partitions
            if not each.error_code and each.committed_offset >= 0
        }
        yield _view(group, broker_id, offsets)


def _view(group: DescribedGroup, broker_id: int, committed: Mapping[TopicPartition, int]) -> GroupView:
    is_consumer = group.protocol_type == CONSUMER_PROTOCOL
    members = (_member(each, is_consumer) for each in group.members)
    return GroupView(
        group.group_id,
        group.group_state,
        group.protocol_type,
        broker_id,
        tuple(sorted(members, key=member_order)),
        committed,
    )


def member_order(member: MemberView) -> tuple[object, ...]:
    return natural_order(member.client_id), natural_order(member.member_id)


def _member(member: DescribedGroupMember, is_consumer: bool) -> MemberView:
    assigned = decode_assignment(bytes(member.member_assignment)) if is_consumer else ()
    host = member.client_host.removeprefix("/")
    return MemberView(member.member_id, member.client_id, host, member.group_instance_id or "", assigned)
