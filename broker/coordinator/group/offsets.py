"""Committed offsets: who may commit, the records of a commit, and what OffsetFetch tells.

Left for later, each with its place here: offsets of open transactions are a second mapping beside `_offsets` that
`fetch` consults when the client requires stable offsets; expiry proposes tombstones from a periodic timer.
"""

from collections.abc import Iterable, Iterator

from broker.common.errors import ErrorCode
from broker.common.limits import TOPIC_NAME_LENGTH_MAX
from broker.common.types import TopicPartition
from broker.coordinator.group.config import GroupConfig
from broker.coordinator.group.fields import is_too_long
from broker.coordinator.group.group import Group
from broker.coordinator.group.outcome import Turn
from broker.coordinator.group.records import (
    NO_TIMESTAMP,
    CommittedOffset,
    OffsetKey,
    encode_offset_key,
    encode_offset_value,
)
from broker.coordinator.group.states import GroupState
from broker.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from broker.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)

#: What OffsetFetch says where nothing is committed.
_NOTHING_COMMITTED = CommittedOffset(offset=-1)

#: OffsetFetch from this version on asks for many groups.
_FETCH_MANY_VERSION = 8

_BROKER_DECIDES = -1  # OffsetCommit retention_time_ms


def commit_error(group: Group | None, request: OffsetCommitRequest) -> ErrorCode:
    """Whether this client may commit for the group; None stands for a group nobody knows yet.

    A generation of -1 says "I am no member": allowed to simple consumers and administrators while there are none.
    """
    if is_too_long(request.group_id):
        return ErrorCode.INVALID_GROUP_ID
    generation_id = request.generation_id_or_member_epoch
    if group is None or group.state is GroupState.EMPTY:
        return ErrorCode.NONE if generation_id < 0 else _no_such_generation(group)
    if generation_id < 0 and not request.member_id and request.group_instance_id is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    error = group.error_of(request.member_id, request.group_instance_id)
    if error is not ErrorCode.NONE:
        return error
    if generation_id != group.generation_id:
        return ErrorCode.ILLEGAL_GENERATION
    completing = group.state is GroupState.COMPLETING_REBALANCE
    return ErrorCode.REBALANCE_IN_PROGRESS if completing else ErrorCode.NONE


def _no_such_generation(group: Group | None) -> ErrorCode:
    return ErrorCode.ILLEGAL_GENERATION if group is None else ErrorCode.UNKNOWN_MEMBER_ID


def commit_refused(request: OffsetCommitRequest, error: ErrorCode) -> OffsetCommitResponse:
    """The same error for every partition: this API has no other place for it."""
    return _commit_response((topic.name, [(p, error) for p in topic.partitions]) for topic in request.topics)


class Offsets:
    """The committed offsets of all groups of one coordinator; written by `replay_…` only."""

    def __init__(self, config: GroupConfig):
        self._config = config
        self._offsets: dict[str, dict[str, dict[int, CommittedOffset]]] = {}  #: group id: topic: partition

    def __contains__(self, group_id: str) -> bool:
        return group_id in self._offsets

    def commit(self, request: OffsetCommitRequest, turn: Turn) -> OffsetCommitResponse:
        """Propose a record for each partition that is in order; the response says which are."""
        results = []
        for topic in request.topics:
            errors = [(partition, self._partition_error(topic.name, partition)) for partition in topic.partitions]
            for partition, error in errors:
                if error is ErrorCode.NONE:
                    self._propose(request, TopicPartition(topic.name, partition.partition_index), partition, turn)
            results.append((topic.name, errors))
        return _commit_response(results)

    def fetch(self, request: OffsetFetchRequest, api_version: int) -> OffsetFetchResponse:
        if api_version < _FETCH_MANY_VERSION:
            return OffsetFetchResponse(topics=self._fetch_topics(request.group_id, request.topics))
        groups = [
            OffsetFetchResponseGroup(group_id=each.group_id, topics=self._fetch_topics(each.group_id, each.topics))
            for each in request.groups
        ]
        return OffsetFetchResponse(groups=groups)

    def _fetch_topics(
        self, group_id: str, topics: list[OffsetFetchRequestTopic] | None
    ) -> list[OffsetFetchResponseTopic]:
        """What the group committed for these partitions, or, for None, for every partition it ever committed."""
        committed = self._offsets.get(group_id, {})
        if topics is None:
            return [_fetched_topic(name, partitions.items()) for name, partitions in committed.items()]
        found = []
        for topic in topics:
            partitions = committed.get(topic.name, {})
            wanted = [(index, partitions.get(index, _NOTHING_COMMITTED)) for index in topic.partition_indexes]
            found.append(_fetched_topic(topic.name, wanted))
        return found

    def of_group(self, group_id: str) -> Iterator[tuple[TopicPartition, CommittedOffset]]:
        for topic, partitions in self._offsets.get(group_id, {}).items():
            for partition, committed in partitions.items():
                yield TopicPartition(topic, partition), committed

    def replay(self, key: OffsetKey, committed: CommittedOffset) -> None:
        topic, partition = key.partition
        self._offsets.setdefault(key.group_id, {}).setdefault(topic, {})[partition] = committed

    def replay_tombstone(self, key: OffsetKey) -> None:
        topics = self._offsets.get(key.group_id, {})
        topic, partition = key.partition
        topics.get(topic, {}).pop(partition, None)
        if not topics.get(topic):
            topics.pop(topic, None)
        if not topics:
            self._offsets.pop(key.group_id, None)

    def clear(self) -> None:
        self._offsets.clear()

    def _partition_error(self, topic: str, partition: OffsetCommitRequestPartition) -> ErrorCode:
        metadata = partition.committed_metadata or ""
        if len(metadata) > self._config.offset_metadata_max_bytes or is_too_long(metadata):
            return ErrorCode.OFFSET_METADATA_TOO_LARGE
        return ErrorCode.INVALID_TOPIC_EXCEPTION if len(topic) > TOPIC_NAME_LENGTH_MAX else ErrorCode.NONE

    def _propose(
        self, request: OffsetCommitRequest, of: TopicPartition, partition: OffsetCommitRequestPartition, turn: Turn
    ) -> None:
        keeps_own_time = request.retention_time_ms != _BROKER_DECIDES
        committed = CommittedOffset(
            offset=partition.committed_offset,
            leader_epoch=partition.committed_leader_epoch,
            metadata=partition.committed_metadata or "",
            commit_timestamp_ms=turn.wall_ms,
            expire_timestamp_ms=turn.wall_ms + request.retention_time_ms if keeps_own_time else NO_TIMESTAMP,
        )
        turn.append(encode_offset_key(OffsetKey(request.group_id, of)), encode_offset_value(committed))


def _commit_response(
    results: Iterable[tuple[str, list[tuple[OffsetCommitRequestPartition, ErrorCode]]]],
) -> OffsetCommitResponse:
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name=name,
                partitions=[
                    OffsetCommitResponsePartition(partition_index=partition.partition_index, error_code=error)
                    for partition, error in partitions
                ],
            )
            for name, partitions in results
        ]
    )


def _fetched_topic(name: str, partitions: Iterable[tuple[int, CommittedOffset]]) -> OffsetFetchResponseTopic:
    return OffsetFetchResponseTopic(
        name=name,
        partitions=[
            OffsetFetchResponsePartition(
                partition_index=index,
                committed_offset=committed.offset,
                committed_leader_epoch=committed.leader_epoch,
                metadata=committed.metadata,
            )
            for index, committed in partitions
        ],
    )
