"""What one call is about to change of a group, before it is written: the group as it will be, and the records for it.

The group itself is changed by replaying these records. They are written so that each beginning of them makes sense
alone, since many of them may not fit into one batch: a higher group epoch first, the target's epoch after the targets,
and what members have at the end.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from uuid import UUID

from broker.common.shared_budget import Owner
from broker.coordinator.consumer_group import records
from broker.coordinator.consumer_group.assignors import AssignableMember, Partitions
from broker.coordinator.consumer_group.group import ModernGroup, ResolvedPattern
from broker.coordinator.consumer_group.installed_assignors import assign
from broker.coordinator.consumer_group.member import ConsumerGroupMember, MemberSubscription, target_to_value
from broker.coordinator.consumer_group.records import (
    ConsumerGroupKey,
    GroupEpochValue,
    PatternValue,
    TargetEpochValue,
    encode_key,
    encode_value,
)
from broker.coordinator.consumer_group.topics import AssignableTopic, TopicDirectory, hash_of
from broker.coordinator.outcome import CoordinatorTurn
from broker.coordinator.recorded_owners import encode_owner
from broker.protocol.messages.consumer_group_heartbeat import JOIN_EPOCH
from broker.protocol.schema import StoredValue


class GroupDraft:
    def __init__(self, group: ModernGroup, topics: TopicDirectory, owner: Owner):
        """owner: the client that a new group, and new patterns, are counted for."""
        self.group = group
        self.epoch = group.epoch
        self.assignment_epoch = group.assignment_epoch
        self._topics = topics
        self._owner = owner
        self._hash = group.metadata_hash
        self._assigned_at_ms = group.assigned_at_ms
        self._changed: dict[str, ConsumerGroupMember | None] = {}  #: None for one that is removed
        self._targets: dict[str, Partitions | None] = {}
        self._patterns: dict[str, ResolvedPattern | None] = {}

    # -- the group as it will be --------------------------------------------------------------------------------------

    def member(self, member_id: str) -> ConsumerGroupMember | None:
        return self._changed[member_id] if member_id in self._changed else self.group.members.get(member_id)

    def members(self) -> Iterator[ConsumerGroupMember]:
        for member_id, member in self.group.members.items():
            if member_id not in self._changed:
                yield member
        yield from (member for member in self._changed.values() if member is not None)

    def target_of(self, member_id: str) -> Partitions:
        if member_id in self._targets:
            return self._targets[member_id] or {}
        return self.group.target_of(member_id)

    def pattern(self, pattern: str) -> ResolvedPattern | None:
        return self._patterns[pattern] if pattern in self._patterns else self.group.patterns.get(pattern)

    def names_of(self, subscription: MemberSubscription) -> frozenset[str]:
        """Return the topics that a member reads, by its names and by its pattern."""
        resolved = self.pattern(subscription.topic_regex) if subscription.topic_regex else None
        return subscription.topic_names | resolved.topics if resolved else subscription.topic_names

    def topic_ids_of(self, member: ConsumerGroupMember) -> frozenset[UUID]:
        topics = map(self._topics.named, self.names_of(member.subscription))
        return frozenset(topic.topic_id for topic in topics if topic is not None)

    def is_free(self, topic_id: UUID, index: int) -> bool:
        """Whether no member has the partition, or has it to give up."""
        owner = self.group.owner_of(topic_id, index)
        return owner is None or self._changed.get(owner, owner) is None

    @property
    def counts(self) -> tuple[int, int]:
        """How many members there will be, and how many of them of the classic protocol."""
        member_count, classic_count = len(self.group.members), self.group.classic_count
        for member_id, member in self._changed.items():
            before = self.group.members.get(member_id)
            member_count += (member is not None) - (before is not None)
            classic_count += (member is not None and member.is_classic) - (before is not None and before.is_classic)
        return member_count, classic_count

    @property
    def is_changed(self) -> bool:
        return bool(self._changed or self._patterns) or self.epoch != self.group.epoch

    # -- changes ------------------------------------------------------------------------------------------------------

    def put(self, member: ConsumerGroupMember) -> None:
        self._changed[member.member_id] = member

    def remove(self, member_id: str) -> None:
        self._changed[member_id] = None
        self._targets[member_id] = None

    def replaced(self, former: ConsumerGroupMember, member_id: str) -> ConsumerGroupMember:
        """A static member came back under a new id: return it with what the former one had and was to have."""
        member = replace(former, member_id=member_id, epoch=JOIN_EPOCH, previous_epoch=JOIN_EPOCH)
        if former.member_id != member_id:
            self._targets[member_id] = self.target_of(former.member_id)
            self.remove(former.member_id)
            self.put(member)
        return member

    def resolve(self, pattern: str, topics: frozenset[str], wall_ms: int) -> None:
        self._patterns[pattern] = ResolvedPattern(topics, wall_ms, self._owner)

    def drop_unused_patterns(self) -> None:
        used = {member.subscription.topic_regex for member in self.members()}
        for pattern in self.group.patterns:
            if pattern not in used:
                self._patterns[pattern] = None

    def bump(self) -> None:
        self.epoch = self.group.epoch + 1

    def look_at_topics(self) -> bool:
        """Return whether the subscribed topics are others than those the group's epoch is of."""
        before, self._hash = self._hash, hash_of(self._subscribed_topics())
        return self._hash != before

    def _subscribed_topics(self) -> Iterator[AssignableTopic]:
        names: set[str] = set()
        removed_of: dict[str, int] = {}
        for member_id, member in self._changed.items():
            if member is not None:
                names |= self.names_of(member.subscription)
            if (before := self.group.members.get(member_id)) is not None:
                for name in before.subscription.topic_names:
                    removed_of[name] = removed_of.get(name, 0) + 1
        names.update(
            name for name in self.group.subscribed_names() if self.group.subscribers_of(name) > removed_of.get(name, 0)
        )
        for pattern in {*self.group.patterns, *self._patterns}:
            names |= resolved.topics if (resolved := self.pattern(pattern)) else frozenset()
        return (topic for topic in map(self._topics.named, names) if topic is not None)

    def assign(self, assignors: Sequence[str], wall_ms: int) -> str:
        """Make the target assignment for the group's epoch by one of the assignors; return its name.

        Raises AssignorError; then nothing is changed.
        """
        counts: dict[UUID, int] = {}
        members = [self._assignable(member, counts) for member in self.members()]
        name = self._preferred_assignor(assignors)
        for member_id, target in assign(name, members, counts).items():
            if target != self.target_of(member_id):
                self._targets[member_id] = target
        self.assignment_epoch, self._assigned_at_ms = self.epoch, wall_ms
        return name

    def _assignable(self, member: ConsumerGroupMember, counts: dict[UUID, int]) -> AssignableMember:
        topics = [topic for topic in map(self._topics.named, self.names_of(member.subscription)) if topic is not None]
        counts.update((topic.topic_id, topic.partition_count) for topic in topics)
        ids = frozenset(topic.topic_id for topic in topics)
        return AssignableMember(
            member.member_id, member.subscription.instance_id, ids, self.target_of(member.member_id)
        )

    def _preferred_assignor(self, assignors: Sequence[str]) -> str:
        votes = self.group.assignor_votes.copy()
        for member_id, member in self._changed.items():
            if (before := self.group.members.get(member_id)) is not None and before.subscription.server_assignor:
                votes[before.subscription.server_assignor] -= 1
            if member is not None and member.subscription.server_assignor:
                votes[member.subscription.server_assignor] += 1
        wanted = [(count, name) for name, count in votes.items() if count > 0 and name in assignors]
        return max(wanted)[1] if wanted else assignors[0]

    # -- records ------------------------------------------------------------------------------------------------------

    def write(self, turn: CoordinatorTurn) -> None:
        before = self.group
        turn.outcome.is_divisible = True
        if (self.epoch, self._hash) != (before.epoch, before.metadata_hash):
            value = GroupEpochValue(epoch=self.epoch, metadata_hash=self._hash)
            self._append(turn, records.GROUP_EPOCH, "", value, self._owner)
        self._write_removals(turn)
        self._write_subscriptions(turn)
        for member_id, target in self._targets.items():
            if target is not None:
                self._append(turn, records.TARGET_MEMBER, member_id, target_to_value(target))
        if (self.assignment_epoch, self._assigned_at_ms) != (before.assignment_epoch, before.assigned_at_ms):
            made = TargetEpochValue(assignment_epoch=self.assignment_epoch, assignment_timestamp=self._assigned_at_ms)
            self._append(turn, records.TARGET_EPOCH, "", made)
        self._write_assignments(turn)

    def _write_removals(self, turn: CoordinatorTurn) -> None:
        for member_id, member in self._changed.items():
            if member is None:
                for kind in (records.CURRENT_MEMBER, records.TARGET_MEMBER, records.MEMBER):
                    self._append(turn, kind, member_id, None)

    def _write_subscriptions(self, turn: CoordinatorTurn) -> None:
        for member_id, member in self._changed.items():
            before = self.group.members.get(member_id)
            if member is not None and (before is None or _described(member) != _described(before)):
                self._append(turn, records.MEMBER, member_id, member.subscription.to_value(), member.owner)
        for pattern, resolved in self._patterns.items():
            value = None
            if resolved is not None:
                value = PatternValue(
                    topics=sorted(resolved.topics), version=self._topics.version, timestamp=resolved.timestamp_ms
                )
            self._append(turn, records.PATTERN, pattern, value, resolved.owner if resolved else None)

    def _write_assignments(self, turn: CoordinatorTurn) -> None:
        for member_id, member in self._changed.items():
            before = self.group.members.get(member_id)
            if member is not None and (before is None or member.to_value() != before.to_value()):
                self._append(turn, records.CURRENT_MEMBER, member_id, member.to_value())

    def _append(
        self, turn: CoordinatorTurn, kind: int, name: str, value: StoredValue | None, owner: Owner | None = None
    ) -> None:
        key = encode_key(ConsumerGroupKey(kind, self.group.group_id, name))
        turn.append(key, None if value is None else encode_value(value), encode_owner(owner) if owner else ())


def _described(member: ConsumerGroupMember) -> tuple[MemberSubscription, Owner]:
    return member.subscription, member.owner
