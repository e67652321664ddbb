"""Consumer groups as an administrator sees and changes them, each asked of the broker that coordinates it."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from broker.client.assignment import decode_assignment
from broker.client.cluster import ClusterConnections
from broker.client.coordinators import Coordinators
from broker.client.errors import ApiNotServed
from broker.client.typed_groups import (
    GroupMember,
    ShareOffset,
    TypedGroup,
    describe_requests,
    share_offsets,
    typed_group,
)
from broker.common.errors import ApiError, ErrorCode, error_code_of
from broker.common.types import TopicPartition
from broker.protocol.messages import AnyResponse
from broker.protocol.messages.delete_groups import DeleteGroupsRequest
from broker.protocol.messages.describe_groups import DescribedGroup, DescribeGroupsRequest
from broker.protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
)
from broker.protocol.messages.find_coordinator import CoordinatorType, FindCoordinatorRequest
from broker.protocol.messages.list_groups import ListedGroup, ListGroupsRequest
from broker.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from broker.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from broker.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from broker.protocol.schema import Request

CONSUMER_PROTOCOL = "consumer"
#: FindCoordinator and OffsetFetch for one group: the newest versions, which brokers of every age serve.
_FIND_ONE = 3
_FETCH_OF_ONE = 7
_LOADING_PAUSE_S = 0.05


@dataclass(frozen=True, slots=True)
class CoordinatorAddress:
    broker_id: int
    host: str
    port: int


class GroupClient:
    """Group client of one cluster. Each call raises ApiError when it is refused, BrokerUnreachable, ApiNotServed."""

    def __init__(self, cluster: ClusterConnections, *, timeout_s: float = 5.0):
        """`timeout_s`: how long coordinators that load or move are waited for."""
        self._cluster = cluster
        self._timeout_s = timeout_s
        self._coordinators = Coordinators(cluster, timeout_s=timeout_s)

    def listed(self, states: Iterable[str] = ()) -> list[ListedGroup]:
        """Return consumer groups by name, of all brokers; those in `states`, if any is named."""
        return [group for group in self.listed_of_all_types(states) if group.protocol_type in ("", CONSUMER_PROTOCOL)]

    def listed_of_all_types(self, states: Iterable[str] = ()) -> list[ListedGroup]:
        """Return groups of all types by name, of all brokers; those in `states`, if any is named."""
        request = ListGroupsRequest(states_filter=list(states))
        groups = {
            group.group_id: group
            for broker_id in self._cluster.brokers()
            for group in self._listed_by(broker_id, request)
        }
        return [groups[name] for name in sorted(groups)]

    def _listed_by(self, broker_id: int, request: ListGroupsRequest) -> list[ListedGroup]:
        deadline = time.monotonic() + self._timeout_s
        while True:
            answer = self._cluster.ask_broker(broker_id, request)
            if answer.error_code != ErrorCode.COORDINATOR_LOAD_IN_PROGRESS or time.monotonic() > deadline:
                break
            time.sleep(_LOADING_PAUSE_S)
        _check(answer.error_code, f"broker {broker_id}")
        return list(answer.groups)

    def described(self, group_id: str) -> TypedGroup:
        """Return the group, of any type. ApiError(INCONSISTENT_GROUP_PROTOCOL) for one that is none of consumers."""
        (group,) = self._ask(group_id, DescribeGroupsRequest(groups=[group_id]), _error_of_described).groups
        if group.group_state == "Dead" and (typed := self._typed(group_id)) is not None:
            return typed
        if group.protocol_type not in ("", CONSUMER_PROTOCOL):
            sentence = f"GroupId {group_id} is not a consumer group ({group.protocol_type})."
            raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, sentence)
        return _consumer_group(group)

    def _typed(self, group_id: str) -> TypedGroup | None:
        """Return a group of a type of Kafka 4; None if there is none of the name, or no such type is served."""
        for group_type, request in describe_requests(group_id):
            try:
                (group,) = self._ask(group_id, request, _error_of_described).groups
            except ApiNotServed:
                continue
            if group.error_code == ErrorCode.NONE and group.group_state != "Dead":
                return typed_group(group_type, group)
        return None

    def share_offsets(self, group_id: str) -> dict[TopicPartition, ShareOffset]:
        """Return the share-partition start offset and the unacknowledged count of each partition of a share group."""
        wanted = DescribeShareGroupOffsetsRequestGroup(group_id=group_id, topics=None)
        request = DescribeShareGroupOffsetsRequest(groups=[wanted])
        return share_offsets(self._ask(group_id, request, lambda answer: answer.groups[0].error_code))

    def coordinator(self, group_id: str) -> CoordinatorAddress:
        deadline = time.monotonic() + self._timeout_s
        request = FindCoordinatorRequest(key=group_id, key_type=CoordinatorType.GROUP)
        while True:
            response = self._cluster.ask_any(request, version_max=_FIND_ONE)
            if response.error_code != ErrorCode.COORDINATOR_NOT_AVAILABLE or time.monotonic() > deadline:
                break
            time.sleep(_LOADING_PAUSE_S)
        _check(response.error_code, group_id)
        return CoordinatorAddress(response.node_id, response.host, response.port)

    def committed(self, group_id: str) -> dict[TopicPartition, int]:
        """Return the group's committed offset of each partition."""
        request = OffsetFetchRequest(group_id=group_id, topics=None)
        answer = self._ask(group_id, request, _error_of_fetch, version_max=_FETCH_OF_ONE)
        return {
            TopicPartition(topic.name, partition.partition_index): partition.committed_offset
            for topic in answer.topics
            for partition in topic.partitions
            if partition.committed_offset >= 0
        }

    def commit(self, group_id: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Commit offsets for a group without members."""
        self._ask(group_id, commit_request(group_id, offsets.items()), _first_error)

    def delete(self, group_id: str) -> None:
        """Raise ApiError(NON_EMPTY_GROUP or GROUP_ID_NOT_FOUND)."""
        self._ask(group_id, DeleteGroupsRequest(groups_names=[group_id]), lambda answer: answer.results[0].error_code)

    def delete_offsets(self, group_id: str, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, ErrorCode]:
        """Delete the group's offsets, and return the error code of each partition."""
        request = offset_delete_request(group_id, partitions)
        answer = self._ask(group_id, request, lambda answer: answer.error_code)
        return {
            TopicPartition(topic.name, partition.partition_index): error_code_of(partition.error_code)
            for topic in answer.topics
            for partition in topic.partitions
        }

    def _ask(
        self,
        group_id: str,
        request: Request[AnyResponse],
        error_of: Callable[[AnyResponse], int],
        version_max: int = 0x7FFF,
    ) -> AnyResponse:
        return self._coordinators.ask(CoordinatorType.GROUP, group_id, request, error_of, version_max)


def _consumer_group(group: DescribedGroup) -> TypedGroup:
    members = tuple(
        GroupMember(
            member.member_id,
            member.group_instance_id or "",
            member.client_id,
            member.client_host,
            decode_assignment(bytes(member.member_assignment)) if member.member_assignment else (),
        )
        for member in group.members
    )
    return TypedGroup(group.group_id, group.group_state, group.protocol_data, members)


def _error_of_described(answer: Any) -> int:
    """Return the error, but 0 for a group that is unknown or of another type (KIP-1043)."""
    code: int = answer.groups[0].error_code
    return ErrorCode.NONE if code == ErrorCode.GROUP_ID_NOT_FOUND else code


def _error_of_fetch(answer: OffsetFetchResponse) -> int:
    """Return the error of the whole response, which version 1 lacks."""
    return answer.error_code or _first_error(answer)


def _first_error(answer: OffsetFetchResponse | OffsetCommitResponse) -> int:
    codes = (partition.error_code for topic in answer.topics for partition in topic.partitions)
    return next((code for code in codes if code), ErrorCode.NONE)


def _check(code: int, what: str) -> None:
    if code:
        raise ApiError(error_code_of(code), f"{what}: {error_code_of(code).meaning}")


def commit_request(
    group_id: str, offsets: Iterable[tuple[tuple[str, int], int]], metadata: str = ""
) -> OffsetCommitRequest:
    """Return a commit of offsets, each after its (topic, partition), by a client that is no member of the group."""
    topics: dict[str, list[OffsetCommitRequestPartition]] = {}
    for (topic, index), offset in offsets:
        partition = OffsetCommitRequestPartition(
            partition_index=index, committed_offset=offset, committed_metadata=metadata
        )
        topics.setdefault(topic, []).append(partition)
    listed = [OffsetCommitRequestTopic(name=name, partitions=named) for name, named in topics.items()]
    return OffsetCommitRequest(group_id=group_id, topics=listed)


def offset_delete_request(group_id: str, partitions: Iterable[tuple[str, int]]) -> OffsetDeleteRequest:
    """Return a request that the group forget its offsets of these (topic, partition)."""
    topics: dict[str, list[OffsetDeleteRequestPartition]] = {}
    for topic, index in partitions:
        topics.setdefault(topic, []).append(OffsetDeleteRequestPartition(partition_index=index))
    listed = [OffsetDeleteRequestTopic(name=name, partitions=named) for name, named in topics.items()]
    return OffsetDeleteRequest(group_id=group_id, topics=listed)
