"""A coordinator with a log in memory, a clock that is moved, and clients that remember who they are.

It keeps the runtime's side of the contract: append, replay, answer. Requests and responses go through the wire codec in
the version the client speaks, so that a response no client could be sent fails here.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

from broker.common.errors import ErrorCode
from broker.common.shared_budget import ANONYMOUS, Owner
from broker.common.types import NO_TOPIC_ID, TopicIdPartition, TopicPartition
from broker.coordinator.group.client import GroupClientInfo
from broker.coordinator.group.config import GroupConfig
from broker.coordinator.group.coordinator import GroupCoordinator
from broker.coordinator.group.deleted_partitions import DeletedPartitions
from broker.coordinator.group.memory import GroupMemory
from broker.coordinator.outcome import CoordinatorOutcome
from broker.protocol.codec import decode, encode
from broker.protocol.messages.delete_groups import DeleteGroupsRequest
from broker.protocol.messages.describe_groups import DescribeGroupsRequest
from broker.protocol.messages.heartbeat import HeartbeatRequest
from broker.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from broker.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from broker.protocol.messages.list_groups import ListGroupsRequest
from broker.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from broker.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from broker.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
)
from broker.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from broker.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from broker.protocol.schema import Message

WALL_AHEAD_MS = 1_700_000_000_000


class LogRecord(NamedTuple):
    key: bytes
    value: bytes | None
    headers: tuple = ()
    producer_id: int | None = None  #: of a transaction


class LogMarker(NamedTuple):
    producer_id: int
    is_commit: bool


def read(entries: Iterable[LogRecord | LogMarker], coordinator: GroupCoordinator) -> None:
    """As the runtime reads the partition."""
    for entry in entries:
        if isinstance(entry, LogMarker):
            coordinator.complete_transaction(*entry)
        else:
            coordinator.replay(*entry)


@dataclass
class SentRequest:
    """A request on its way: `response` is None while it is parked."""

    token: int
    name: str
    group_id: str
    api_version: int
    response: Any = None

    @property
    def error(self) -> ErrorCode | None:
        return None if self.response is None else ErrorCode(self.response.error_code)

    @property
    def errors(self) -> dict[tuple[str, int], ErrorCode]:
        """Of an OffsetCommit: the error of each partition."""
        return {
            (topic.name, partition.partition_index): ErrorCode(partition.error_code)
            for topic in self.response.topics
            for partition in topic.partitions
        }

    @property
    def is_parked(self) -> bool:
        return self.response is None


@dataclass
class Seat:
    """What a client remembers of its membership in a group."""

    member_id: str = ""
    generation_id: int = -1
    instance_id: str | None = None


@dataclass
class World:
    config: GroupConfig = field(default_factory=GroupConfig)
    memory: GroupMemory = field(default_factory=GroupMemory)  #: of the broker
    deleted: DeletedPartitions = field(default_factory=DeletedPartitions)  #: as the broker has heard

    def __post_init__(self) -> None:
        self.log: list[LogRecord | LogMarker] = []
        self.now_ms = 0
        self.wall_ahead_ms = WALL_AHEAD_MS  #: of the broker that coordinates
        self.jump_ms = 0  #: of it, what offsets do not age by
        self.topic_ids: dict[str, UUID] = {}  #: as that broker knows them
        self.speaker = Owner(ANONYMOUS, "/127.0.0.1")  #: whose connection all requests come by
        self.append_error: ErrorCode | None = None  #: what the next append fails with
        self.commit_error: ErrorCode | None = None  #: appended and replayed, but never committed
        self.sent: dict[int, SentRequest] = {}
        self.seats: dict[tuple[str, str], Seat] = {}
        self.outcomes: list[CoordinatorOutcome] = []  #: as carried out; whoever tells the story empties it
        self._ids: dict[str, int] = {}
        self.coordinator = self._new_coordinator()
        self.coordinator.after_load(self.now_ms)

    def _new_coordinator(self) -> GroupCoordinator:
        topic_id_of = lambda topic: self.topic_ids.get(topic, NO_TOPIC_ID)  # noqa: E731
        return GroupCoordinator(
            self.config,
            self._new_member_id,
            self.wall_now_ms,
            self.memory,
            self.deleted,
            topic_id_of,
            lambda: self.wall_now_ms() - self.jump_ms,
        )

    def wall_now_ms(self) -> int:
        return self.wall_ahead_ms + self.now_ms

    def _new_member_id(self, prefix: str) -> str:
        self._ids[prefix] = self._ids.get(prefix, 0) + 1
        return f"{prefix}-{self._ids[prefix]}"

    def _client(self, name: str, version: int) -> GroupClientInfo:
        return GroupClientInfo(name, self.speaker.host, version, self.speaker.principal)

    def seat(self, group_id: str, name: str) -> Seat:
        return self.seats.setdefault((group_id, name), Seat())

    # -- the runtime's part -------------------------------------------------------------------------------------------

    def carry_out(self, outcome: CoordinatorOutcome) -> None:
        if outcome.records and self.append_error is not None:
            outcome, self.append_error = self.coordinator.abort(outcome, self.append_error), None
        else:
            producer_id = outcome.producer.producer_id if outcome.producer else None
            self.write(*(LogRecord(*record, producer_id) for record in outcome.records))
            if outcome.records and self.commit_error is not None:
                late = [self.coordinator.unconfirmed(response, self.commit_error) for response in outcome.responses]
                outcome.responses[:], self.commit_error = late, None
        self.outcomes.append(outcome)
        for answer in outcome.responses:
            self._receive(self.sent[answer.token], answer.response)

    def write(self, *entries: "LogRecord | LogMarker") -> None:
        self.log += entries
        read(entries, self.coordinator)

    def end_transaction(self, producer_id: int, is_commit: bool) -> None:
        """The transaction coordinator has the marker written to the partition."""
        self.write(LogMarker(producer_id, is_commit))

    def _receive(self, sent: SentRequest, response: Message) -> None:
        assert sent.response is None, f"{sent} is answered a second time: {response}"
        sent.response = decode(type(response), encode(response, sent.api_version), sent.api_version)
        seat = self.seat(sent.group_id, sent.name)
        if type(response).__name__ == "JoinGroupResponse":
            if response.error_code in (ErrorCode.NONE, ErrorCode.MEMBER_ID_REQUIRED):
                seat.member_id = response.member_id
            if response.error_code == ErrorCode.NONE:
                seat.generation_id = response.generation_id

    def _ask(self, group_id: str, name: str, request: Message, api_version: int) -> tuple[SentRequest, Message]:
        token = len(self.sent) + 1
        sent = self.sent[token] = SentRequest(token, name, group_id, api_version)
        return sent, decode(type(request), encode(request, api_version), api_version)

    def advance(self, by_ms: int) -> None:
        """Let time pass, with a tick at every deadline on the way."""
        until_ms = self.now_ms + by_ms
        while (deadline_ms := self.coordinator.next_deadline_ms()) is not None and deadline_ms <= until_ms:
            self.now_ms = max(self.now_ms, deadline_ms)
            self.carry_out(self.coordinator.tick(self.now_ms))
        self.now_ms = until_ms

    def hang_up(self, sent: SentRequest) -> None:
        self.coordinator.cancel(sent.token)

    def delete_partitions(self, *partitions: tuple[str, int], topic_id: UUID | None = None) -> None:
        """The broker hears of it, and its coordinator. topic_id: None for the one that the broker knows."""
        topic_id_of = self.topic_ids.get
        deleted = [
            TopicIdPartition(TopicPartition(*partition), topic_id or topic_id_of(partition[0], NO_TOPIC_ID))
            for partition in partitions
        ]
        self.deleted.note(deleted, self.wall_now_ms())
        self.carry_out(self.coordinator.partitions_deleted(deleted, self.now_ms))

    def restart(self) -> None:
        """Another broker takes the partition over and replays it."""
        self.carry_out(self.coordinator.unload())
        self.coordinator = self._new_coordinator()
        read(self.log, self.coordinator)
        self.coordinator.after_load(self.now_ms)

    # -- what clients do ----------------------------------------------------------------------------------------------

    def join(
        self,
        group_id: str,
        name: str,
        version: int = 9,
        session_ms: int = 10_000,
        rebalance_ms: int = 60_000,
        protocol_type: str = "consumer",
        protocols: tuple[str, ...] = ("range",),
        metadata: str | bytes | None = None,
        instance_id: str | None = None,
        reason: str | None = None,
        member_id: str | None = None,
    ) -> SentRequest:
        seat = self.seat(group_id, name)
        seat.instance_id = instance_id or seat.instance_id
        request = JoinGroupRequest(
            group_id=group_id,
            session_timeout_ms=session_ms,
            rebalance_timeout_ms=rebalance_ms,
            member_id=seat.member_id if member_id is None else member_id,
            group_instance_id=seat.instance_id if version >= 5 else None,
            protocol_type=protocol_type,
            protocols=[
                JoinGroupRequestProtocol(name=protocol, metadata=_metadata(metadata or f"{name} {protocol}"))
                for protocol in protocols
            ],
            reason=reason,
        )
        sent, request = self._ask(group_id, name, request, version)
        client = self._client(name, version)
        self.carry_out(self.coordinator.join_group(request, client, sent.token, self.now_ms))
        return sent

    def enter(self, group_id: str, name: str, **join: Any) -> SentRequest:
        """Join as a new dynamic member does: get an id, then join with it."""
        self.seat(group_id, name).member_id = ""
        assert self.join(group_id, name, **join).error is ErrorCode.MEMBER_ID_REQUIRED
        return self.join(group_id, name, **join)

    def enter_refused(self, group_id: str, name: str, **join: Any) -> ErrorCode:
        """What a new member is refused with before it gets an id."""
        return self.join(group_id, name, member_id="", **join).error

    def sync(self, group_id: str, name: str, assign: dict[str, str] | None = None, **fields: Any) -> SentRequest:
        seat = self.seat(group_id, name)
        assignments = [
            SyncGroupRequestAssignment(member_id=self.seat(group_id, to).member_id, assignment=part.encode())
            for to, part in (assign or {}).items()
        ]
        values = {
            "group_id": group_id,
            "generation_id": seat.generation_id,
            "member_id": seat.member_id,
            "group_instance_id": seat.instance_id,
            "assignments": assignments,
        }
        sent, request = self._ask(group_id, name, SyncGroupRequest(**values | fields), 5)
        self.carry_out(self.coordinator.sync_group(request, sent.token, self.now_ms))
        return sent

    def heartbeat(self, group_id: str, name: str, **fields: Any) -> SentRequest:
        seat = self.seat(group_id, name)
        values = {
            "group_id": group_id,
            "generation_id": seat.generation_id,
            "member_id": seat.member_id,
            "group_instance_id": seat.instance_id,
        }
        sent, request = self._ask(group_id, name, HeartbeatRequest(**values | fields), 4)
        self.carry_out(self.coordinator.heartbeat(request, sent.token, self.now_ms))
        return sent

    def leave(self, group_id: str, *names: str, version: int = 5) -> SentRequest:
        seats = [
            Seat(instance_id=name.removeprefix("instance=")) if "=" in name else self.seat(group_id, name)
            for name in names
        ]
        identities = [MemberIdentity(member_id=s.member_id, group_instance_id=s.instance_id) for s in seats]
        return self.leave_as(group_id, identities, names[0], version)

    def leave_as(
        self, group_id: str, identities: list[MemberIdentity], name: str = "-", version: int = 5
    ) -> SentRequest:
        request = LeaveGroupRequest(group_id=group_id, members=identities)
        if version <= 2:
            request = LeaveGroupRequest(group_id=group_id, member_id=identities[0].member_id)
        sent, request = self._ask(group_id, name, request, version)
        client = self._client(name, version)
        self.carry_out(self.coordinator.leave_group(request, client, sent.token, self.now_ms))
        return sent

    def commit(
        self, group_id: str, name: str, offsets: dict[tuple[str, int], int], version: int = 9, **fields: Any
    ) -> SentRequest:
        """Commit as a member; as the client "-", which is nobody's member, with generation -1."""
        seat = self.seat(group_id, name)
        metadata = fields.pop("metadata", "")
        topics = [
            OffsetCommitRequestTopic(
                name=topic,
                partitions=[
                    OffsetCommitRequestPartition(
                        partition_index=partition, committed_offset=offset, committed_metadata=metadata
                    )
                ],
            )
            for (topic, partition), offset in offsets.items()
        ]
        values = {
            "group_id": group_id,
            "generation_id_or_member_epoch": seat.generation_id,
            "member_id": seat.member_id,
            "group_instance_id": seat.instance_id,
            "topics": topics,
        }
        sent, request = self._ask(group_id, name, OffsetCommitRequest(**values | fields), version)
        self.carry_out(self.coordinator.offset_commit(request, self._client(name, version), sent.token, self.now_ms))
        return sent

    def txn_commit(
        self,
        group_id: str,
        producer_id: int,
        offsets: dict[tuple[str, int], int],
        version: int = 4,
        name: str = "-",
        **fields: Any,
    ) -> SentRequest:
        """A producer commits for the member `name`, or for nobody in particular."""
        seat = self.seat(group_id, name)
        topics = [
            TxnOffsetCommitRequestTopic(
                name=topic,
                partitions=[TxnOffsetCommitRequestPartition(partition_index=index, committed_offset=offset)],
            )
            for (topic, index), offset in offsets.items()
        ]
        values = {
            "transactional_id": f"producer-{producer_id}",
            "group_id": group_id,
            "producer_id": producer_id,
            "producer_epoch": 0,
            "topics": topics,
        }
        member = {
            "generation_id": seat.generation_id,
            "member_id": seat.member_id,
            "group_instance_id": seat.instance_id,
        }
        values |= (member if version >= 3 else {"member_id": ""}) | fields
        sent, request = self._ask(group_id, name, TxnOffsetCommitRequest(**values), version)
        self.carry_out(
            self.coordinator.txn_offset_commit(request, self._client(name, version), sent.token, self.now_ms)
        )
        return sent

    def fetch(
        self,
        group_id: str,
        partitions: dict[str, list[int]] | None,
        version: int = 9,
        require_stable: bool = False,
    ) -> SentRequest:
        topics = None
        if partitions is not None:
            named = partitions.items()
            topics = [OffsetFetchRequestTopic(name=name, partition_indexes=indexes) for name, indexes in named]
        request = OffsetFetchRequest(
            groups=[OffsetFetchRequestGroup(group_id=group_id, topics=topics)], require_stable=require_stable
        )
        if version < 8:
            request = OffsetFetchRequest(group_id=group_id, topics=topics, require_stable=require_stable)
        return self.ask_for_offsets(request, version)

    def ask_for_offsets(self, request: OffsetFetchRequest, version: int = 9) -> SentRequest:
        sent, request = self._ask(request.group_id, "-", request, version)
        self.carry_out(self.coordinator.offset_fetch(request, version, sent.token, self.now_ms))
        return sent

    def describe(self, group_id: str) -> Any:
        sent, request = self._ask(group_id, "-", DescribeGroupsRequest(groups=[group_id]), 5)
        self.carry_out(self.coordinator.describe_groups(request, sent.token, self.now_ms))
        return sent.response.groups[0]

    def list_groups(self, **filters: Any) -> Any:
        sent, request = self._ask("", "-", ListGroupsRequest(**filters), 5)
        self.carry_out(self.coordinator.list_groups(request, sent.token, self.now_ms))
        return sent.response.groups

    def delete(self, group_id: str) -> ErrorCode:
        sent, request = self._ask(group_id, "-", DeleteGroupsRequest(groups_names=[group_id]), 2)
        self.carry_out(self.coordinator.delete_groups(request, sent.token, self.now_ms))
        return ErrorCode(sent.response.results[0].error_code)

    def delete_offsets(self, group_id: str, partitions: dict[str, list[int]]) -> Any:
        topics = [
            OffsetDeleteRequestTopic(
                name=name, partitions=[OffsetDeleteRequestPartition(partition_index=index) for index in indexes]
            )
            for name, indexes in partitions.items()
        ]
        sent, request = self._ask(group_id, "-", OffsetDeleteRequest(group_id=group_id, topics=topics), 0)
        self.carry_out(self.coordinator.offset_delete(request, sent.token, self.now_ms))
        return sent

    # -- sights -------------------------------------------------------------------------------------------------------

    def stable_group(self, group_id: str, *names: str, **join: Any) -> None:
        """The named clients become members, the first of them leader, and each gets an assignment of its own."""
        for name in names:
            (self.join if "instance_id" in join else self.enter)(group_id, name, **join)
        self.advance(2 * self.config.group_initial_rebalance_delay_ms)
        self.sync(group_id, names[0], {name: f"for {name}" for name in names})
        for name in names[1:]:
            assert self.sync(group_id, name).error is ErrorCode.NONE
        assert self.describe(group_id).group_state == "Stable"

    def durable_state(self) -> tuple[dict, dict]:
        return durable_state(self.coordinator)


def _metadata(given: str | bytes) -> bytes:
    return given.encode() if isinstance(given, str) else given


def record_bytes(outcome: CoordinatorOutcome) -> int:
    return sum(record.size_bytes for record in outcome.records)


def durable_state(coordinator: GroupCoordinator) -> tuple[dict, dict]:
    """All that a coordinator knows from its log: generations and offsets by group."""
    groups = {group_id: group.metadata for group_id, group in coordinator.groups.items() if group.metadata}
    ids = {*coordinator.groups, *groups}
    offsets = {group_id: dict(coordinator.offsets.of_group(group_id)) for group_id in ids}
    return groups, {group_id: committed for group_id, committed in offsets.items() if committed}
