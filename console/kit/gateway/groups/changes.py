"""Changes of a group, asked of its coordinator.

Not by the admin client: librdkafka 2.16 goes on waiting for a coordinator that has died after it was asked once,
even when another one, or itself again, has long served the group (librdkafka #5511).
"""

from collections.abc import Callable, Iterable, Mapping

from broker.client.coordinators import MOVED, Coordinators
from broker.common.errors import ErrorCode
from broker.protocol.messages import AnyResponse
from broker.protocol.messages.delete_groups import DeleteGroupsRequest
from broker.protocol.messages.find_coordinator import CoordinatorType
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
    OffsetDeleteResponse,
)
from broker.protocol.schema import Request
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.errors import refusal
from console.kit.gateway.groups.interface import TopicPartition


class GroupChanges:
    """Each raises RefusedError for the whole group, BarnabasError if the coordinator cannot be asked in time."""

    def __init__(self, client: ClusterClient, timeout_seconds: float):
        self._client = client
        self._timeout = timeout_seconds

    def commit(self, group_id: str, offsets: Mapping[TopicPartition, int]) -> dict[TopicPartition, str]:
        """OffsetCommit by nobody; what was refused, with why, if it is not all of it."""
        topics: dict[str, list[OffsetCommitRequestPartition]] = {}
        for (topic, partition), offset in offsets.items():
            asked = OffsetCommitRequestPartition(
                partition_index=partition, committed_offset=offset, committed_metadata=""
            )
            topics.setdefault(topic, []).append(asked)
        request = OffsetCommitRequest(
            group_id=group_id,
            topics=[OffsetCommitRequestTopic(name=name, partitions=asked) for name, asked in topics.items()],
        )
        codes = _refused(self._ask(group_id, request, lambda answer: next(iter(_refused(answer).values()), 0)))
        if codes and len(codes) == len(offsets):
            raise refusal(next(iter(codes.values())))
        return {place: str(refusal(code)) for place, code in codes.items()}

    def forget(self, group_id: str, places: Iterable[TopicPartition]) -> dict[TopicPartition, str]:
        """OffsetDelete; what was refused, with why."""
        topics: dict[str, list[OffsetDeleteRequestPartition]] = {}
        for topic, partition in places:
            topics.setdefault(topic, []).append(OffsetDeleteRequestPartition(partition_index=partition))
        request = OffsetDeleteRequest(
            group_id=group_id,
            topics=[OffsetDeleteRequestTopic(name=name, partitions=asked) for name, asked in topics.items()],
        )
        answer = self._ask(group_id, request, lambda answer: answer.error_code)
        if answer.error_code:
            raise refusal(answer.error_code)
        return {place: str(refusal(code)) for place, code in _refused(answer).items()}

    def delete(self, group_id: str) -> None:
        """DeleteGroups."""
        request = DeleteGroupsRequest(groups_names=[group_id])
        answer = self._ask(group_id, request, lambda answer: answer.results[0].error_code)
        if code := answer.results[0].error_code:
            raise refusal(code)

    def _ask(self, group_id: str, request: Request[AnyResponse], code_of: Callable[[AnyResponse], int]) -> AnyResponse:
        """Asked again only while the coordinator moves."""

        def moved(answer: AnyResponse) -> int:
            code = code_of(answer)
            return code if code in MOVED else ErrorCode.NONE

        with self._client.cluster(self._timeout) as cluster:
            coordinators = Coordinators(cluster, timeout_s=self._timeout)
            return coordinators.ask(CoordinatorType.GROUP, group_id, request, moved)


def _refused(answer: OffsetCommitResponse | OffsetDeleteResponse) -> dict[TopicPartition, int]:
    return {
        (topic.name, each.partition_index): each.error_code
        for topic in answer.topics
        for each in topic.partitions
        if each.error_code
    }
