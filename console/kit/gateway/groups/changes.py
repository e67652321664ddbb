"""Changes of a group, asked of its coordinator.

Not by the admin client: librdkafka 2.16 goes on waiting for a coordinator that has died after it was asked once,
even when another one, or itself again, has long served the group (librdkafka #5511).
"""

from collections.abc import Callable, Iterable, Mapping

from broker.client.coordinators import MOVED, Coordinators
from broker.client.groups import commit_request, offset_delete_request
from broker.common.errors import ErrorCode
from broker.protocol.messages import AnyResponse
from broker.protocol.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
)
from broker.protocol.messages.delete_groups import DeleteGroupsRequest
from broker.protocol.messages.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
)
from broker.protocol.messages.find_coordinator import CoordinatorType
from broker.protocol.messages.offset_commit import OffsetCommitResponse
from broker.protocol.messages.offset_delete import OffsetDeleteResponse
from broker.protocol.schema import Request
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.errors import refusal
from console.kit.gateway.groups.interface import SET_BY_CONSOLE, TopicPartition


class GroupOperations:
    """Each raises RefusedError for the whole group, BarnabasError if the coordinator cannot be asked in time."""

    def __init__(self, client: ClusterClient, timeout_seconds: float):
        self._client = client
        self._timeout = timeout_seconds

    def commit(self, group_id: str, offsets: Mapping[TopicPartition, int]) -> dict[TopicPartition, str]:
        """Commit offsets without a member; return refused partitions with the reason."""
        request = commit_request(group_id, offsets.items(), SET_BY_CONSOLE)
        codes = _refused(self._ask(group_id, request, lambda answer: next(iter(_refused(answer).values()), 0)))
        if codes and len(codes) == len(offsets):
            raise refusal(next(iter(codes.values())))
        return {place: str(refusal(code)) for place, code in codes.items()}

    def set_share_offsets(self, group_id: str, offsets: Mapping[TopicPartition, int]) -> dict[TopicPartition, str]:
        """Set a share group's offsets; return refused partitions with the reason."""
        topics: dict[str, list[AlterShareGroupOffsetsRequestPartition]] = {}
        for (topic, partition), offset in offsets.items():
            start = AlterShareGroupOffsetsRequestPartition(partition_index=partition, start_offset=offset)
            topics.setdefault(topic, []).append(start)
        request = AlterShareGroupOffsetsRequest(
            group_id=group_id,
            topics=[
                AlterShareGroupOffsetsRequestTopic(topic_name=name, partitions=starts)
                for name, starts in topics.items()
            ],
        )
        response = self._ask(group_id, request, lambda answer: answer.error_code)
        if response.error_code:
            raise refusal(response.error_code, response.error_message or "")
        return {
            (topic.topic_name, partition.partition_index): str(
                refusal(partition.error_code, partition.error_message or "")
            )
            for topic in response.responses
            for partition in topic.partitions
            if partition.error_code
        }

    def delete_share_offsets(self, group_id: str, topics: Iterable[str]) -> dict[str, str]:
        """Delete a share group's offsets; return refused topics with the reason."""
        doomed = [DeleteShareGroupOffsetsRequestTopic(topic_name=name) for name in topics]
        request = DeleteShareGroupOffsetsRequest(group_id=group_id, topics=doomed)
        response = self._ask(group_id, request, lambda answer: answer.error_code)
        if response.error_code:
            raise refusal(response.error_code, response.error_message or "")
        return {
            topic.topic_name: str(refusal(topic.error_code, topic.error_message or ""))
            for topic in response.responses
            if topic.error_code
        }

    def forget(self, group_id: str, places: Iterable[TopicPartition]) -> dict[TopicPartition, str]:
        """Delete committed offsets; return refused partitions with the reason."""
        request = offset_delete_request(group_id, places)
        answer = self._ask(group_id, request, lambda answer: answer.error_code)
        if answer.error_code:
            raise refusal(answer.error_code)
        return {place: str(refusal(code)) for place, code in _refused(answer).items()}

    def delete(self, group_id: str) -> None:
        """Send DeleteGroups for the groups."""
        request = DeleteGroupsRequest(groups_names=[group_id])
        answer = self._ask(group_id, request, lambda answer: answer.results[0].error_code)
        if code := answer.results[0].error_code:
            raise refusal(code)

    def _ask(self, group_id: str, request: Request[AnyResponse], code_of: Callable[[AnyResponse], int]) -> AnyResponse:
        """Ask the coordinator, again only while it moves."""

        def moved(answer: AnyResponse) -> int:
            code = code_of(answer)
            return code if code in MOVED else ErrorCode.NONE

        with self._client.cluster(self._timeout) as cluster:
            coordinators = Coordinators(cluster, timeout_s=self._timeout)
            return coordinators.ask(CoordinatorType.GROUP, group_id, request, moved)


def _refused(answer: OffsetCommitResponse | OffsetDeleteResponse) -> dict[TopicPartition, int]:
    return {
        (topic.name, partition.partition_index): partition.error_code
        for topic in answer.topics
        for partition in topic.partitions
        if partition.error_code
    }
