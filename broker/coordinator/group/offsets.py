"""Committed offsets: who may commit, the records of a commit, and what OffsetFetch tells.

Offsets of open transactions (`pending_offsets.py`) are not told, nor what could still be lost (`superseded.py`), nor
what was committed for a deleted topic (`deleted_partitions.py`); who requires stable offsets is told to wait for them.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Protocol
from uuid import UUID

from broker.common.errors import ErrorCode
from broker.common.limits import TOPIC_NAME_LENGTH_MAX
from broker.common.types import NO_TOPIC_ID, TopicPartition
from broker.coordinator.fields import is_too_long, text_bytes
from broker.coordinator.group.config import GroupConfig
from broker.coordinator.group.deleted_partitions import OutdatedOffsets
from broker.coordinator.group.memory import GroupMemoryAccount
from broker.coordinator.group.pending_offsets import PendingOffsets, place_of, size_of
from broker.coordinator.group.records import (
    NO_TIMESTAMP,
    CommittedOffset,
    OffsetKey,
    encode_offset_key,
    encode_offset_value,
)
from broker.coordinator.group.superseded import OfGroup, Superseded
from broker.coordinator.outcome import CoordinatorTurn, Remains
from broker.coordinator.progress import LogProgress
from broker.coordinator.recorded_owners import encode_offset_headers
from broker.protocol.made_late import made_late
from broker.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from broker.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from broker.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from broker.records.record import INT64_MAX

TopicIdOf = Callable[[str], UUID]
AnyCommitRequest = OffsetCommitRequest | TxnOffsetCommitRequest
AnyCommitPartition = OffsetCommitRequestPartition | TxnOffsetCommitRequestPartition
AnyCommitResponse = OffsetCommitResponse | TxnOffsetCommitResponse

#: Request: its response, which is of the same shape for both, and that of a topic and a partition.
_COMMIT_RESPONSES: dict[type[AnyCommitRequest], tuple[Any, Any, Any]] = {
    OffsetCommitRequest: (OffsetCommitResponse, OffsetCommitResponseTopic, OffsetCommitResponsePartition),
    TxnOffsetCommitRequest: (TxnOffsetCommitResponse, TxnOffsetCommitResponseTopic, TxnOffsetCommitResponsePartition),
}

#: What OffsetFetch says where nothing is committed.
_NOTHING_COMMITTED = CommittedOffset(offset=-1)

#: OffsetFetch from this version on asks for many groups.
_FETCH_MANY_VERSION = 8

_BROKER_DECIDES = -1  # OffsetCommit retention_time_ms


def unknown_topic_id(_topic: str) -> UUID:
    """Return NO_TOPIC_ID, for a coordinator whose broker knows no topics."""
    return NO_TOPIC_ID


class OffsetStored(Protocol):
    """`by_member` is False if the group had members and has none: a tool set the offset."""

    def __call__(
        self, group: str, partition: TopicPartition, before: int | None, offset: int, *, by_member: bool
    ) -> None: ...


def commit_refused(request: AnyCommitRequest, error: ErrorCode) -> AnyCommitResponse:
    """Return a response with the same error for every partition: these APIs have no other place for it."""
    response, of_topic, of_partition = _COMMIT_RESPONSES[type(request)]
    topics = []
    for topic in request.topics:
        partitions = [of_partition(partition_index=p.partition_index, error_code=error) for p in topic.partitions]
        topics.append(_named_as(topic, of_topic(name=topic.name, partitions=partitions)))
    refused: AnyCommitResponse = response(topics=topics)
    return refused


def _named_as(topic: Any, of_response: Any) -> Any:
    """Return the response's topic with the id that the request names it by, which transactions do not."""
    if isinstance(topic, OffsetCommitRequestTopic):
        of_response.topic_id = topic.topic_id
    return of_response


class CommittedOffsets:
    """The committed offsets of all groups of one coordinator; written by `replay_…` only."""

    def __init__(
        self, config: GroupConfig, progress: LogProgress, account: GroupMemoryAccount, outdated: OutdatedOffsets
    ):
        self.outdated = outdated
        self._config = config
        self._progress = progress
        self._account = account
        self._hold = account.hold_for_offsets
        self._offsets: dict[str, OfGroup] = {}  #: by group id
        self._counts: dict[str, int] = {}  #: how many each group has
        self._groups_of: dict[str, dict[str, None]] = {}  #: ids of the groups with offsets, by topic
        self._pending = PendingOffsets(self._hold)
        self._superseded = Superseded()
        #: Told of each offset that counts now: group, partition, the offset before if there was one, the offset.
        self.on_stored: OffsetStored | None = None

    def __contains__(self, group_id: str) -> bool:
        """Return whether anything is committed for the group, or will be should a transaction commit."""
        return group_id in self._offsets or self._pending.has_group(group_id)

    def has_pending(self, group_id: str) -> bool:
        """Return whether a transaction is open that commits offsets of the group."""
        return self._pending.has_group(group_id)

    def is_pending(self, key: OffsetKey) -> bool:
        return key in self._pending

    def has_offset(self, key: OffsetKey) -> bool:
        return key.partition.partition in self._offsets.get(key.group_id, {}).get(key.partition.topic, ())

    def committed_for(self, key: OffsetKey) -> CommittedOffset | None:
        """Return the newest in the log, None if there is none."""
        return self._offsets.get(key.group_id, {}).get(key.partition.topic, {}).get(key.partition.partition)

    def pending_for(self, key: OffsetKey) -> list[CommittedOffset]:
        """Return the offsets that open transactions may yet commit."""
        return self._pending.of_key(key)

    def stored_for(self, key: OffsetKey) -> list[CommittedOffset]:
        """Return what is committed for the partition, and what open transactions may yet commit."""
        committed = self.committed_for(key)
        return [*self.pending_for(key), *([committed] if committed is not None else [])]

    def groups_of(self, topic: str) -> Collection[str]:
        """Return the ids of the groups that committed offsets for the topic."""
        return self._groups_of.get(topic, ())

    def count(self, group_id: str) -> int:
        return self._counts.get(group_id, 0)

    def growth(self, request: AnyCommitRequest) -> int:
        """Return how many bytes more the broker would hold after the commit than before it, 0 if it is not more.

        Of each committed offset one may be pending besides, lest those stop who go on by transactions. What becomes
        less makes up for nothing: one partition may be named many times.
        """
        committed, growth = self._offsets.get(request.group_id, {}), 0
        if isinstance(request, TxnOffsetCommitRequest):
            return self._pending_growth(request, committed)
        for topic in request.topics:
            partitions = committed.get(topic.name, {})
            for partition in topic.partitions:
                metadata, earlier = partition.committed_metadata or "", partitions.get(partition.partition_index)
                if earlier is None:
                    growth += place_of(request.group_id, topic.name) + text_bytes(metadata)
                elif metadata != earlier.metadata:
                    growth += max(0, text_bytes(metadata) - text_bytes(earlier.metadata))
        return growth

    def _pending_growth(self, request: TxnOffsetCommitRequest, committed: OfGroup) -> int:
        growth = 0
        for topic in request.topics:
            partitions = committed.get(topic.name, {})
            place = place_of(request.group_id, topic.name)
            for partition in topic.partitions:
                key = OffsetKey(request.group_id, TopicPartition(topic.name, partition.partition_index))
                size_bytes = place + text_bytes(partition.committed_metadata or "")
                earlier = partitions.get(partition.partition_index)
                growth += self._pending.growth(key, request.producer_id, earlier, size_bytes)
        return growth

    def commit(self, request: AnyCommitRequest, turn: CoordinatorTurn) -> AnyCommitResponse:
        """Propose a record for each partition that is in order; the response says which are."""
        response, of_topic, of_partition = _COMMIT_RESPONSES[type(request)]
        committer = self._account.committer
        topics = []
        for topic in request.topics:
            name, partitions = topic.name, []
            headers = encode_offset_headers(committer, self.outdated.topic_id_of(name))
            for partition in topic.partitions:
                error = self._partition_error(name, partition)
                if error is ErrorCode.NONE:
                    key = OffsetKey(request.group_id, TopicPartition(name, partition.partition_index))
                    turn.append(encode_offset_key(key), _offset_value(request, partition, turn), headers)
                partitions.append(of_partition(partition_index=partition.partition_index, error_code=error))
            topics.append(_named_as(topic, of_topic(name=name, partitions=partitions)))
        answer: AnyCommitResponse = response(topics=topics)
        return answer

    def fetch(
        self,
        request: OffsetFetchRequest,
        api_version: int,
        refused: Callable[[str, str | None, int], ErrorCode] = lambda *_: ErrorCode.NONE,
    ) -> OffsetFetchResponse:
        """refused: the error for a group whose request names this member and this epoch; NONE if there is none."""
        if api_version < _FETCH_MANY_VERSION:
            return OffsetFetchResponse(topics=self._fetch_topics(request, request))
        groups = []
        for group in request.groups:
            error = refused(group.group_id, group.member_id, group.member_epoch)
            topics = [] if error is not ErrorCode.NONE else self._fetch_topics(group, request)
            groups.append(OffsetFetchResponseGroup(group_id=group.group_id, topics=topics, error_code=error))
        return OffsetFetchResponse(groups=groups)

    def _fetch_topics(
        self, group: OffsetFetchRequest | OffsetFetchRequestGroup, request: OffsetFetchRequest
    ) -> list[OffsetFetchResponseTopic]:
        """Return the group's committed offsets of these partitions, or of all partitions if the request names none."""
        committed = self._committed(group.group_id)
        wanted: list[tuple[str, list[tuple[int, CommittedOffset]]]]
        if group.topics is None:
            wanted = [(name, list(partitions.items())) for name, partitions in committed.items()]
        else:
            wanted = [
                (topic.name, [(index, partitions.get(index, _NOTHING_COMMITTED)) for index in topic.partition_indexes])
                for topic in group.topics
                for partitions in (committed.get(topic.name, {}),)
            ]
        if request.require_stable and self._is_unstable(group.group_id):
            stable = self._only_stable
            return [_fetched_topic(name, stable(group.group_id, name, partitions)) for name, partitions in wanted]
        return [_fetched_topic(name, partitions) for name, partitions in wanted]

    def _committed(self, group_id: str) -> OfGroup:
        """Return by topic what is certain, once the load is, and was committed for a topic that is not deleted."""
        committed = self._superseded.instead_of(self._offsets.get(group_id, {}), group_id)
        return self.outdated.without(group_id, committed)

    def _is_unstable(self, group_id: str) -> bool:
        return self._pending.has_group(group_id) or self._superseded.has_group(group_id)

    def _only_stable(
        self, group_id: str, topic: str, partitions: list[tuple[int, CommittedOffset]]
    ) -> list[tuple[int, CommittedOffset | None]]:
        """Return offsets; None where an open transaction, or a record not yet committed, may still change them."""
        return [
            (index, None if key in self._pending or key in self._superseded else committed)
            for index, committed in partitions
            for key in (OffsetKey(group_id, TopicPartition(topic, index)),)
        ]

    def of_group(self, group_id: str) -> Iterator[tuple[TopicPartition, CommittedOffset]]:
        for topic, partitions in self._offsets.get(group_id, {}).items():
            for partition, committed in partitions.items():
                yield TopicPartition(topic, partition), committed

    def walk(self, group_id: str) -> Iterator[TopicPartition]:
        """Iterate as `of_group`, while offsets change: one that is there all the time is yielded once."""
        for topic in list(self._offsets.get(group_id, ())):
            for partition in list(self._offsets.get(group_id, {}).get(topic, ())):
                yield TopicPartition(topic, partition)

    def replay(self, key: OffsetKey, committed: CommittedOffset, *, by_member: bool = True) -> None:
        self._pending.supersede(key)
        self._store(key, committed, by_member=by_member)

    def replay_pending(self, key: OffsetKey, committed: CommittedOffset, producer_id: int) -> None:
        """Replay an offset of a transaction that is still open."""
        self._pending.add(producer_id, key, committed)

    def complete_transaction(self, producer_id: int, is_commit: bool) -> set[OffsetKey]:
        """Apply a marker: the producer's pending offsets count now, or are dropped. Return whose offsets they were."""
        keys = self._pending.keys_of(producer_id)
        for key, committed in self._pending.complete(producer_id, is_commit):
            self._store(key, committed)
        return keys

    def _store(self, key: OffsetKey, committed: CommittedOffset, *, by_member: bool = True) -> None:
        self._supersede(key)
        topic, partition = key.partition
        partitions = self._offsets.setdefault(key.group_id, {}).setdefault(topic, {})
        if not partitions:
            self._groups_of.setdefault(topic, {})[key.group_id] = None
        before = partitions.get(partition)
        growth = 0
        if before is None or before.metadata != committed.metadata:
            growth = size_of(key, committed) - (size_of(key, before) if before else 0)
        self._hold(key.group_id, growth)
        partitions[partition] = committed
        if before is None:
            self._counts[key.group_id] = self._counts.get(key.group_id, 0) + 1
        if self.on_stored is not None:
            earlier = before.offset if before else None
            self.on_stored(key.group_id, key.partition, earlier, committed.offset, by_member=by_member)

    def replay_tombstone(self, key: OffsetKey) -> None:
        self._pending.forget(key)
        self._supersede(key)
        topics = self._offsets.get(key.group_id, {})
        topic, partition = key.partition
        before = topics.get(topic, {}).pop(partition, None)
        if before is not None:
            self._hold(key.group_id, -size_of(key, before))
            self._counts[key.group_id] -= 1
        if not topics.get(topic):
            topics.pop(topic, None)
            self._leave_topic(topic, key.group_id)
        if not topics:
            self._offsets.pop(key.group_id, None)
            self._counts.pop(key.group_id, None)

    def _leave_topic(self, topic: str, group_id: str) -> None:
        groups = self._groups_of.get(topic, {})
        groups.pop(group_id, None)
        if not groups:
            self._groups_of.pop(topic, None)

    def _supersede(self, key: OffsetKey) -> None:
        if not self._progress.is_committed(self._progress.written_to):
            topic, partition = key.partition
            before = self._offsets.get(key.group_id, {}).get(topic, {}).get(partition)
            self._superseded.add(key, before, self._progress.written_to)

    def committed(self, high_watermark: int) -> None:
        self._superseded.committed(high_watermark)

    def forget(self) -> list[Remains]:
        """Forget all offsets, and return what was removed."""
        remains: list[Remains] = [self._offsets, *self._groups_of.values()]
        self._offsets, self._groups_of, self._counts = {}, {}, {}
        self._superseded.clear()
        self._pending.clear()
        return remains

    def _partition_error(self, topic: str, partition: AnyCommitPartition) -> ErrorCode:
        metadata = partition.committed_metadata or ""
        if len(metadata) > self._config.offset_metadata_max_bytes or is_too_long(metadata):
            return ErrorCode.OFFSET_METADATA_TOO_LARGE
        return ErrorCode.INVALID_TOPIC_EXCEPTION if len(topic) > TOPIC_NAME_LENGTH_MAX else ErrorCode.NONE


def _offset_value(request: AnyCommitRequest, partition: AnyCommitPartition, turn: CoordinatorTurn) -> bytes:
    committed = CommittedOffset(
        offset=partition.committed_offset,
        leader_epoch=partition.committed_leader_epoch,
        metadata=partition.committed_metadata or "",
        commit_timestamp_ms=turn.wall_ms,
        expire_timestamp_ms=_expiry(turn.wall_ms, getattr(request, "retention_time_ms", _BROKER_DECIDES)),
    )
    return encode_offset_value(committed)


def _expiry(wall_ms: int, retention_ms: int) -> int:
    """Return the expiry in wall ms, limited to a time that can be written."""
    return NO_TIMESTAMP if retention_ms == _BROKER_DECIDES else min(max(wall_ms + retention_ms, 0), INT64_MAX)


def _fetched_topic(name: str, partitions: Sequence[tuple[int, CommittedOffset | None]]) -> OffsetFetchResponseTopic:
    return OffsetFetchResponseTopic(name=name, partitions=made_late(partitions, _fetched))


def _fetched(entry: tuple[int, CommittedOffset | None]) -> OffsetFetchResponsePartition:
    index, committed = entry
    if committed is None:
        return OffsetFetchResponsePartition(
            partition_index=index, committed_offset=-1, metadata="", error_code=ErrorCode.UNSTABLE_OFFSET_COMMIT
        )
    return OffsetFetchResponsePartition(
        partition_index=index,
        committed_offset=committed.offset,
        committed_leader_epoch=committed.leader_epoch,
        metadata=committed.metadata,
    )
