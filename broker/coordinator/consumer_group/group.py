"""One consumer group as its records say. Only replayed records change it; what else is here is derived from them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from enum import Enum
from typing import NamedTuple
from uuid import UUID

from broker.common.shared_budget import UNATTRIBUTED, Owner
from broker.coordinator.consumer_group.assignors import NO_PARTITIONS, Partitions
from broker.coordinator.consumer_group.member import (
    TOPIC_NAME_BYTES,
    ConsumerGroupMember,
    MemberSubscription,
    target_of_value,
)
from broker.coordinator.consumer_group.records import (
    CurrentMemberValue,
    GroupEpochValue,
    MemberValue,
    PatternValue,
    TargetEpochValue,
    TargetMemberValue,
)
from broker.coordinator.fields import text_bytes
from broker.coordinator.group.memory import GroupMemoryAccount, group_bytes

#: No version of the topics: they have not been looked at yet.
NEVER = -1


class ConsumerGroupState(Enum):
    """The value is the name that ListGroups and ConsumerGroupDescribe show."""

    EMPTY = "Empty"
    ASSIGNING = "Assigning"  #: the target assignment is older than the group's epoch
    RECONCILING = "Reconciling"  #: some members are not where the target wants them
    STABLE = "Stable"
    DEAD = "Dead"


class ResolvedPattern(NamedTuple):
    """The topics that a regular expression matched."""

    topics: frozenset[str]
    timestamp_ms: int = 0
    owner: Owner = UNATTRIBUTED  #: the client that is counted for them

    @property
    def size_bytes(self) -> int:
        return sum(TOPIC_NAME_BYTES + text_bytes(topic) for topic in self.topics)


class ModernGroup:
    def __init__(self, group_id: str, account: GroupMemoryAccount):
        self.group_id = group_id
        self.epoch = 0  #: of the members' subscriptions and of what the topics are; 0: nothing is recorded
        self.metadata_hash = 0
        self.assignment_epoch = 0  #: the epoch that the target was made for
        self.assigned_at_ms = 0  #: by the wall clock
        self.members: dict[str, ConsumerGroupMember] = {}
        self.targets: dict[str, Partitions] = {}  #: by member id
        self.static_members: dict[str, str] = {}  #: group.instance.id: member id
        self.patterns: dict[str, ResolvedPattern] = {}
        self.assignor_votes: Counter[str] = Counter()
        self.classic_count = 0  #: members of the classic protocol
        self.classic_support: Counter[str] = Counter()  #: of those, how many support a protocol, by its name
        self.topics_version = NEVER  #: of the topics that the epoch is of; not recorded
        self.matched_at_ms = 0  #: when patterns were matched again; not recorded
        self._subscribers: Counter[str] = Counter()  #: by topic name, without those by patterns
        self._owners: dict[tuple[UUID, int], str] = {}
        self._account = account
        self._held: dict[str, tuple[Owner, int]] = {}  #: by member id
        self._held_itself: tuple[Owner, int] | None = None

    # -- what is derived ----------------------------------------------------------------------------------------------

    @property
    def state(self) -> ConsumerGroupState:
        if not self.members:
            return ConsumerGroupState.EMPTY
        if self.epoch > self.assignment_epoch:
            return ConsumerGroupState.ASSIGNING
        is_stable = all(member.is_reconciled_to(self.assignment_epoch) for member in self.members.values())
        return ConsumerGroupState.STABLE if is_stable else ConsumerGroupState.RECONCILING

    def owner_of(self, topic_id: UUID, index: int) -> str | None:
        """Return the id of the member that has the partition, or has to give it up; None if none has."""
        return self._owners.get((topic_id, index))

    @property
    def is_all_classic(self) -> bool:
        """Whether the group has members, and none of the consumer protocol."""
        return 0 < self.classic_count == len(self.members)

    def target_of(self, member_id: str) -> Partitions:
        return self.targets.get(member_id, NO_PARTITIONS)

    def held_by_member(self, member_id: str) -> int:
        """Return the bytes that are counted for the member."""
        return self._held.get(member_id, (UNATTRIBUTED, 0))[1]

    def subscribed_names(self) -> Iterable[str]:
        """Return the topics that members name; those of patterns are not among them."""
        return self._subscribers.keys()

    def subscribers_of(self, topic: str) -> int:
        return self._subscribers[topic]

    def is_subscribed(self, topic: str) -> bool:
        """Whether any member reads the topic, or is about to."""
        by_pattern = (resolved.topics for resolved in self.patterns.values())
        return topic in self._subscribers or any(topic in topics for topics in by_pattern)

    # -- records ------------------------------------------------------------------------------------------------------

    def replay_epoch(self, value: GroupEpochValue, owner: Owner) -> None:
        self.epoch, self.metadata_hash = value.epoch, value.metadata_hash
        if self._held_itself is None:
            self._held_itself = owner, group_bytes(self.group_id)
            self._account.members.hold(*self._held_itself)
            self._account.note_members(self.group_id)

    def remove_member(self, member_id: str) -> None:
        self._set_member(member_id, None)

    def replay_member(self, member_id: str, value: MemberValue, owner: Owner) -> None:
        member = self.members.get(member_id) or ConsumerGroupMember(member_id)
        self._set_member(member_id, replace(member, subscription=MemberSubscription.from_value(value), owner=owner))

    def replay_target_epoch(self, value: TargetEpochValue | None) -> None:
        self.assignment_epoch = value.assignment_epoch if value else 0
        self.assigned_at_ms = value.assignment_timestamp if value else 0

    def replay_target(self, member_id: str, value: TargetMemberValue | None) -> None:
        if value is None:
            self.targets.pop(member_id, None)
        else:
            self.targets[member_id] = target_of_value(value)
        self._count_member(member_id)

    def replay_current(self, member_id: str, value: CurrentMemberValue | None) -> None:
        """A record may come before that of the member's subscription: compaction keeps the last of each."""
        member = self.members.get(member_id)
        if value is not None:
            self._set_member(member_id, (member or ConsumerGroupMember(member_id)).with_value(value))
        elif member is not None:
            self._set_member(member_id, member.without_value())

    def replay_pattern(self, pattern: str, value: PatternValue, owner: Owner) -> None:
        self.remove_pattern(pattern)
        resolved = self.patterns[pattern] = ResolvedPattern(frozenset(value.topics), value.timestamp, owner)
        self._account.members.hold(owner, resolved.size_bytes)

    def remove_pattern(self, pattern: str) -> None:
        before = self.patterns.pop(pattern, None)
        if before is not None:
            self._account.members.hold(before.owner, -before.size_bytes)

    def let_go(self) -> None:
        """The group is forgotten."""
        for owner, byte_count in self._held.values():
            self._account.members.hold(owner, -byte_count)
        if self._held_itself is not None:
            owner, byte_count = self._held_itself
            self._account.members.hold(owner, -byte_count)
        for pattern in list(self.patterns):
            self.remove_pattern(pattern)
        self._held, self._held_itself = {}, None

    # -- members ------------------------------------------------------------------------------------------------------

    def _set_member(self, member_id: str, member: ConsumerGroupMember | None) -> None:
        before = self.members.pop(member_id, None)
        if before is not None:
            self._release(before)
            self._leave(before)
        if member is not None:
            self.members[member_id] = member
            self._enter(member)
            self._take(member)
        self._count_member(member_id)

    def _enter(self, member: ConsumerGroupMember) -> None:
        subscription = member.subscription
        self._subscribers.update(subscription.topic_names)
        if subscription.server_assignor is not None:
            self.assignor_votes[subscription.server_assignor] += 1
        if subscription.instance_id is not None:
            self.static_members[subscription.instance_id] = member.member_id
        if subscription.classic is not None:
            self.classic_count += 1
            self.classic_support.update(name for name, _ in subscription.classic.protocols)

    def _leave(self, member: ConsumerGroupMember) -> None:
        subscription = member.subscription
        for name in subscription.topic_names:
            _count_down(self._subscribers, name)
        if subscription.server_assignor is not None:
            _count_down(self.assignor_votes, subscription.server_assignor)
        if self.static_members.get(subscription.instance_id or "") == member.member_id:
            del self.static_members[subscription.instance_id or ""]
        if subscription.classic is not None:
            self.classic_count -= 1
            for name, _ in subscription.classic.protocols:
                _count_down(self.classic_support, name)

    def _take(self, member: ConsumerGroupMember) -> None:
        for owned in (member.assigned, member.pending_revocation):
            for topic_id, epochs in owned.items():
                for index in epochs:
                    self._owners[topic_id, index] = member.member_id

    def _release(self, member: ConsumerGroupMember) -> None:
        """What another member's record took meanwhile stays that member's: a compacted log has records out of order."""
        for owned in (member.assigned, member.pending_revocation):
            for topic_id, epochs in owned.items():
                for index in epochs:
                    if self._owners.get((topic_id, index)) == member.member_id:
                        del self._owners[topic_id, index]

    def _count_member(self, member_id: str) -> None:
        member = self.members.get(member_id)
        held = (member.owner, member.size_bytes(self.target_of(member_id))) if member is not None else None
        before = self._held.pop(member_id, (UNATTRIBUTED, 0))
        if held is not None:
            self._held[member_id] = held
        if held != before:
            self._account.members.hold(before[0], -before[1])
            if held is not None:
                self._account.members.hold(*held)


def _count_down(counts: Counter[str], name: str) -> None:
    """What is not used any more is not remembered: names are clients' to make up."""
    counts[name] -= 1
    if counts[name] <= 0:
        del counts[name]
