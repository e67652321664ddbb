"""A member of a consumer group as its records show it: its subscription, its epoch and the partitions it has."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Self
from uuid import UUID

from broker.common.shared_budget import UNATTRIBUTED, Owner
from broker.coordinator.consumer_group.assignors import NO_PARTITIONS, Partitions
from broker.coordinator.consumer_group.records import (
    ClassicMemberMetadata,
    ClassicProtocol,
    CurrentMemberValue,
    CurrentTopicPartitions,
    MemberValue,
    TargetMemberValue,
    TargetTopicPartitions,
)
from broker.coordinator.fields import text_bytes
from broker.coordinator.group.memory import MEMBER_BYTES, PROTOCOL_BYTES
from broker.protocol.messages.consumer_group_heartbeat import LEAVE_STATIC_EPOCH

#: What a subscribed topic takes in memory besides its name; a partition that a member has, or is to have.
TOPIC_NAME_BYTES = 96
PARTITION_BYTES = 120

#: By topic, of each partition that a member has the epoch in which it got it.
Owned = Mapping[UUID, Mapping[int, int]]
NOTHING: Owned = {}


class MemberState(IntEnum):
    """How far a member is on the way to its target; the value is written in its record."""

    STABLE = 0  #: it has what it is to have in its epoch
    UNREVOKED_PARTITIONS = 1  #: it is to give partitions up, and has not said yet that it did
    UNRELEASED_PARTITIONS = 2  #: it waits for partitions that other members have not given up yet
    UNKNOWN = 127  #: written by a coordinator that knows more states


@dataclass(frozen=True, slots=True)
class ClassicMembership:
    """How a member of the classic protocol joined a consumer group."""

    session_timeout_ms: int
    protocols: tuple[tuple[str, bytes], ...]  #: names and metadata, the preferred one first

    @property
    def size_bytes(self) -> int:
        return sum(PROTOCOL_BYTES + text_bytes(name) + len(metadata) for name, metadata in self.protocols)

    def to_value(self) -> ClassicMemberMetadata:
        return ClassicMemberMetadata(
            session_timeout_ms=self.session_timeout_ms,
            supported_protocols=[ClassicProtocol(name=name, metadata=metadata) for name, metadata in self.protocols],
        )

    @classmethod
    def from_value(cls, value: ClassicMemberMetadata) -> Self:
        protocols = tuple((protocol.name, bytes(protocol.metadata)) for protocol in value.supported_protocols)
        return cls(value.session_timeout_ms, protocols)


@dataclass(frozen=True, slots=True)
class MemberSubscription:
    """What a member says of itself when it joins, and whenever it changes."""

    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    topic_names: frozenset[str] = frozenset()
    topic_regex: str | None = None
    rebalance_timeout_ms: int = -1
    server_assignor: str | None = None
    classic: ClassicMembership | None = None  #: None for a member of the consumer protocol

    @property
    def size_bytes(self) -> int:
        names = (self.instance_id, self.rack_id, self.client_id, self.topic_regex, self.server_assignor)
        of_topics = sum(TOPIC_NAME_BYTES + text_bytes(name) for name in self.topic_names)
        of_protocols = self.classic.size_bytes if self.classic else 0
        return of_topics + of_protocols + sum(text_bytes(name) for name in names if name)

    def to_value(self) -> MemberValue:
        return MemberValue(
            instance_id=self.instance_id,
            rack_id=self.rack_id,
            client_id=self.client_id,
            client_host=self.client_host,
            subscribed_topic_names=sorted(self.topic_names),
            subscribed_topic_regex=self.topic_regex,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            server_assignor=self.server_assignor,
            classic_member_metadata=self.classic.to_value() if self.classic else None,
        )

    @classmethod
    def from_value(cls, value: MemberValue) -> Self:
        return cls(
            instance_id=value.instance_id,
            rack_id=value.rack_id,
            client_id=value.client_id,
            client_host=value.client_host,
            topic_names=frozenset(value.subscribed_topic_names),
            topic_regex=value.subscribed_topic_regex,
            rebalance_timeout_ms=value.rebalance_timeout_ms,
            server_assignor=value.server_assignor,
            classic=ClassicMembership.from_value(value.classic_member_metadata)
            if value.classic_member_metadata
            else None,
        )


@dataclass(frozen=True, slots=True)
class ConsumerGroupMember:
    member_id: str
    subscription: MemberSubscription = field(default_factory=MemberSubscription)
    epoch: int = 0  #: that its heartbeats are to name; LEAVE_STATIC_EPOCH while a static member is away
    previous_epoch: int = 0  #: that they may still name, if the response with the new one was lost
    state: MemberState = MemberState.STABLE
    assigned: Owned = field(default_factory=dict)  #: what it may use now
    pending_revocation: Owned = field(default_factory=dict)  #: what it has to give up
    owner: Owner = UNATTRIBUTED  #: the client that is counted for what the member takes

    @property
    def is_classic(self) -> bool:
        """Whether the member uses JoinGroup, SyncGroup and Heartbeat."""
        return self.subscription.classic is not None

    @property
    def is_away(self) -> bool:
        """Whether it is a static member that left and is expected back."""
        return self.epoch == LEAVE_STATIC_EPOCH

    def is_reconciled_to(self, assignment_epoch: int) -> bool:
        return self.state is MemberState.STABLE and self.epoch == assignment_epoch

    def moved_to(self, epoch: int, state: MemberState, assigned: Owned, pending_revocation: Owned = NOTHING) -> Self:
        """Return the member in another epoch, or in this one with other partitions."""
        previous = self.epoch if epoch != self.epoch else self.previous_epoch
        return replace(
            self,
            epoch=epoch,
            previous_epoch=previous,
            state=state,
            assigned=assigned,
            pending_revocation=pending_revocation,
        )

    def size_bytes(self, target: Partitions = NO_PARTITIONS) -> int:
        """Return what it takes in memory, with its target."""
        held = sum(len(indexes) for owned in (self.assigned, self.pending_revocation) for indexes in owned.values())
        to_have = sum(map(len, target.values()))
        return (
            MEMBER_BYTES
            + text_bytes(self.member_id)
            + self.subscription.size_bytes
            + PARTITION_BYTES * (held + to_have)
        )

    # -- records ------------------------------------------------------------------------------------------------------

    def to_value(self) -> CurrentMemberValue:
        return CurrentMemberValue(
            member_epoch=self.epoch,
            previous_member_epoch=self.previous_epoch,
            state=self.state,
            assigned_partitions=_owned_value(self.assigned),
            partitions_pending_revocation=_owned_value(self.pending_revocation),
        )

    def with_value(self, value: CurrentMemberValue) -> Self:
        """Return the member as its record of key 8 says."""
        return replace(
            self,
            epoch=value.member_epoch,
            previous_epoch=value.previous_member_epoch,
            state=_state_of(value.state),
            assigned=_owned_of(value.assigned_partitions, value.member_epoch),
            pending_revocation=_owned_of(value.partitions_pending_revocation, value.member_epoch),
        )

    def without_value(self) -> Self:
        """Return the member as after a tombstone of its record of key 8."""
        return replace(self, epoch=0, previous_epoch=0, state=MemberState.STABLE, assigned={}, pending_revocation={})


def target_to_value(target: Partitions) -> TargetMemberValue:
    return TargetMemberValue(
        topic_partitions=[
            TargetTopicPartitions(topic_id=topic_id, partitions=sorted(indexes))
            for topic_id, indexes in sorted(target.items())
        ]
    )


def target_of_value(value: TargetMemberValue) -> Partitions:
    return {topic.topic_id: frozenset(topic.partitions) for topic in value.topic_partitions}


def _state_of(number: int) -> MemberState:
    try:
        return MemberState(number)
    except ValueError:
        return MemberState.UNKNOWN


def _owned_value(owned: Owned) -> list[CurrentTopicPartitions]:
    return [
        CurrentTopicPartitions(
            topic_id=topic_id,
            partitions=sorted(epochs),
            assignment_epochs=[epochs[index] for index in sorted(epochs)],
        )
        for topic_id, epochs in sorted(owned.items())
    ]


def _owned_of(topics: Iterable[CurrentTopicPartitions], member_epoch: int) -> Owned:
    """Partitions without epochs count as assigned in the member's, as in Kafka."""
    return {
        topic.topic_id: dict(
            zip(topic.partitions, topic.assignment_epochs or [member_epoch] * len(topic.partitions), strict=False)
        )
        for topic in topics
    }
