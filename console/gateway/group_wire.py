"""Groups asked of the brokers that coordinate them, in a few requests for all of a broker's groups.

The admin client asks for the offsets of one group at a time, which is thousands of requests where three are enough.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from broker.client.assignment import decode_assignment
from broker.client.cluster import parse_bootstrap_servers
from broker.client.connection import BrokerConnection
from broker.common.errors import BarnabasError, ErrorCode
from broker.protocol.messages.describe_groups import DescribedGroup, DescribedGroupMember, DescribeGroupsRequest
from broker.protocol.messages.find_coordinator import Coordinator, FindCoordinatorRequest
from broker.protocol.messages.list_groups import ListGroupsRequest
from broker.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from console.common.natural_order import natural_order
from console.gateway.client import ClusterClient
from console.gateway.errors import (
    ClientRefusedError,
    ClusterUnreachableError,
    GatewayError,
    OtherClusterError,
    in_our_words,
    refusal,
    unanswered,
)
from console.gateway.group_views import GroupView, MemberView, TopicPartition

logger = logging.getLogger(__name__)

BROKERS_AT_ONCE = 8
GROUPS_PER_REQUEST = 500
CONSUMER_PROTOCOL = "consumer"


def ask_all_groups(
    client: ClusterClient, brokers: Iterable[tuple[int, str, int]], timeout_seconds: float
) -> tuple[list[GroupView], frozenset[int]]:
    """The groups of every broker (id, host, port) that tells them, and the ids of those that do.

    A broker tells none that does not know all of its groups: they are loaded, or have just moved away. Raises
    GatewayError if none does, with what one answered rather than that others did not.
    """
    asked = list(brokers)
    groups: list[GroupView] = []
    answered: set[int] = set()
    failures: list[GatewayError] = []
    with ThreadPoolExecutor(BROKERS_AT_ONCE) as pool:
        answers = pool.map(lambda broker: _ask_broker(client, *broker, timeout_seconds), asked)
        for (broker_id, _, _), answer in zip(asked, answers, strict=True):
            if isinstance(answer, GatewayError):
                failures.append(answer)
            else:
                answered.add(broker_id)
                groups += answer
    if not answered:
        raise min(failures, key=_is_unanswered, default=unanswered())
    return groups, frozenset(answered)


def ask_group(client: ClusterClient, group_id: str, timeout_seconds: float) -> GroupView:
    """Raises RefusedError if the coordinator says no, BarnabasError if it cannot be asked."""
    coordinator = _find_coordinator(client, group_id, timeout_seconds)
    with client.connection(coordinator.host, coordinator.port, timeout_seconds) as connection:
        (group,) = _ask_groups(connection, coordinator.node_id, [group_id])
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


def _ask_broker(
    client: ClusterClient, broker_id: int, host: str, port: int, timeout_seconds: float
) -> list[GroupView] | GatewayError:
    try:
        with in_our_words(), client.connection(host, port, timeout_seconds) as connection:
            listed = connection.ask(ListGroupsRequest())
            if listed.error_code:
                raise refusal(listed.error_code)
            names = sorted(group.group_id for group in listed.groups)
            return [
                group
                for start in range(0, len(names), GROUPS_PER_REQUEST)
                for group in _ask_groups(connection, broker_id, names[start : start + GROUPS_PER_REQUEST])
            ]
    except (ClientRefusedError, OtherClusterError):
        raise
    except GatewayError as error:
        logger.debug("no groups of broker %s: %s", broker_id, error)
        return error


def _is_unanswered(failure: GatewayError) -> bool:
    return isinstance(failure, ClusterUnreachableError)


def _ask_groups(connection: BrokerConnection, broker_id: int, names: list[str]) -> Iterator[GroupView]:
    """Raises RefusedError if one of them has moved away meanwhile."""
    described = connection.ask(DescribeGroupsRequest(groups=names)).groups
    wanted = [OffsetFetchRequestGroup(group_id=name, topics=None) for name in names]
    fetched = {each.group_id: each for each in connection.ask(OffsetFetchRequest(groups=wanted)).groups}
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
