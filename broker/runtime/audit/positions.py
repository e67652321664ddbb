"""How far each partition has been told, for whoever leads it next: offsets of a group that has no members.

Committed after the increments are acknowledged. So a leader that is killed in between leaves a position at which one of
its own increments begins, and what the next one tells from there replaces it (`AuditStory` of the ledger). A position
is of a topic's id: one made anew under the name begins anew.
"""

from collections.abc import Iterable, Mapping
from uuid import UUID

from broker.audit.increment import POSITIONS_GROUP
from broker.common.errors import ApiError, error_code_of
from broker.common.types import TopicPartition
from broker.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from broker.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from broker.runtime.audit.peers import Peers
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC
from broker.runtime.topics.topic_admin import TopicAdmin

NOWHERE = -1
_COMMIT_VERSION, _FETCH_VERSION = 8, 7


class Positions:
    """Positions of all partitions of the cluster."""

    def __init__(self, peers: Peers, topics: TopicAdmin):
        self._peers = peers
        self._topics = topics

    async def of(self, partitions: Mapping[TopicPartition, UUID]) -> dict[TopicPartition, int]:
        """Return the positions by topic id; NOWHERE for unreported partitions.

        Those the coordinator does not know yet are missing. Raises BarnabasError.
        """
        await self._topics.ensure_internal(OFFSETS_TOPIC)
        topics = [
            OffsetFetchRequestTopic(name=name, partition_indexes=numbers) for name, numbers in _by_topic(partitions)
        ]
        request = OffsetFetchRequest(group_id=POSITIONS_GROUP, topics=topics, require_stable=True)
        response = await self._peers.ask_coordinator(POSITIONS_GROUP, request, _FETCH_VERSION)
        if response.error_code:
            raise ApiError(error_code_of(response.error_code), "positions are not known")
        responses = {
            TopicPartition(topic.name, partition.partition_index): partition
            for topic in response.topics
            for partition in topic.partitions
            if not partition.error_code
        }
        return {
            partition: committed.committed_offset if committed.metadata == str(partitions.get(partition)) else NOWHERE
            for partition, committed in responses.items()
        }

    async def commit(self, positions: Mapping[TopicPartition, tuple[UUID, int]]) -> set[TopicPartition]:
        """Commit positions by topic id, and return the committed partitions. Raises BarnabasError."""
        topics = [
            OffsetCommitRequestTopic(
                name=name,
                partitions=[
                    OffsetCommitRequestPartition(
                        partition_index=index, committed_offset=offset, committed_metadata=str(topic_id)
                    )
                    for index in indexes
                    for topic_id, offset in (positions[TopicPartition(name, index)],)
                ],
            )
            for name, indexes in _by_topic(positions)
        ]
        request = OffsetCommitRequest(group_id=POSITIONS_GROUP, topics=topics)
        response = await self._peers.ask_coordinator(POSITIONS_GROUP, request, _COMMIT_VERSION)
        return {
            TopicPartition(topic.name, partition.partition_index)
            for topic in response.topics
            for partition in topic.partitions
            if not partition.error_code
        }


def _by_topic(partitions: Iterable[TopicPartition]) -> list[tuple[str, list[int]]]:
    by_topic: dict[str, list[int]] = {}
    for topic, index in partitions:
        by_topic.setdefault(topic, []).append(index)
    return list(by_topic.items())
