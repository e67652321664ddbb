"""How a member comes from the partitions it has to those it is to have (KIP-848): it gives up first, then it gets.

A member that has to give partitions up stays in its epoch, UNREVOKED_PARTITIONS, until a heartbeat no longer names
them among what it owns. Then it is moved to the target's epoch and gets what is free. What others have not given up
yet it waits for, UNRELEASED_PARTITIONS. When it has all of its target it is STABLE.

So a partition has one owner at most, and no member waits for another to join.
"""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from broker.common.errors import ApiError, ErrorCode
from broker.coordinator.consumer_group.assignors import Partitions
from broker.coordinator.consumer_group.member import ConsumerGroupMember, MemberState, Owned


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """What a member is to become, and what is to be known of the others for that."""

    target: Partitions
    assignment_epoch: int
    #: Whether no other member has the partition, as far as the records say.
    is_free: Callable[[UUID, int], bool]
    #: Whether the member is subscribed to the topic now; its target may be older than its subscription.
    is_subscribed: Callable[[UUID], bool]
    #: What the member says it owns; None if the heartbeat does not say.
    reported: Partitions | None
    has_subscription_changed: bool = False

    def next_of(self, member: ConsumerGroupMember) -> ConsumerGroupMember:
        """Return the member one step on, or as it is. Raises ApiError FENCED_MEMBER_EPOCH."""
        match member.state:
            case MemberState.STABLE:
                if member.epoch != self.assignment_epoch:
                    return self._towards_target(member, member.epoch)
                return self._without_unsubscribed(member) if self.has_subscription_changed else member
            case MemberState.UNREVOKED_PARTITIONS:
                if not self._still_owns(member.pending_revocation):
                    return self._towards_target(member, member.epoch)
                return self._without_unsubscribed(member) if self.has_subscription_changed else member
            case MemberState.UNRELEASED_PARTITIONS:
                return self._towards_target(member, member.epoch)
            case _:
                if self.reported is None or any(self.reported.values()):
                    message = "The state of the member is unknown. It must abandon all its partitions and rejoin."
                    raise ApiError(ErrorCode.FENCED_MEMBER_EPOCH, message)
                return self._towards_target(member, self.assignment_epoch)

    def _still_owns(self, owned: Owned) -> bool:
        """Whether the member has any of these, or does not say."""
        if self.reported is None:
            return True
        return any(not indexes.isdisjoint(owned.get(topic_id, ())) for topic_id, indexes in self.reported.items())

    def _towards_target(self, member: ConsumerGroupMember, epoch: int) -> ConsumerGroupMember:
        assigned: dict[UUID, dict[int, int]] = {}
        revoked: dict[UUID, dict[int, int]] = {}
        has_new = is_waiting = False
        for topic_id, epochs in member.assigned.items():
            target = self._target_of(topic_id)
            _put(assigned, topic_id, {index: since for index, since in epochs.items() if index in target})
            _put(revoked, topic_id, {index: since for index, since in epochs.items() if index not in target})
        if revoked and self._still_owns(revoked):
            return member.moved_to(epoch, MemberState.UNREVOKED_PARTITIONS, assigned, revoked)
        for topic_id in self.target:
            have = assigned.get(topic_id, {})
            giving_up = member.pending_revocation.get(topic_id, ())
            for index in self._target_of(topic_id) - have.keys():
                if index in giving_up or self.is_free(topic_id, index):
                    assigned.setdefault(topic_id, {})[index] = self.assignment_epoch
                    has_new = True
                else:
                    is_waiting = True
        state = MemberState.UNRELEASED_PARTITIONS if is_waiting else MemberState.STABLE
        if not has_new and (epoch, state) == (member.epoch, member.state) and epoch == self.assignment_epoch:
            return member
        return member.moved_to(self.assignment_epoch, state, assigned)

    def _target_of(self, topic_id: UUID) -> frozenset[int]:
        return self.target.get(topic_id, frozenset()) if self.is_subscribed(topic_id) else frozenset()

    def _without_unsubscribed(self, member: ConsumerGroupMember) -> ConsumerGroupMember:
        """The subscription has changed, the target has not: give up at once what is subscribed to no more."""
        assigned = {topic_id: epochs for topic_id, epochs in member.assigned.items() if self.is_subscribed(topic_id)}
        if len(assigned) == len(member.assigned):
            return member
        revoked = {topic_id: dict(epochs) for topic_id, epochs in member.pending_revocation.items()}
        for topic_id, epochs in member.assigned.items():
            if topic_id not in assigned:
                revoked.setdefault(topic_id, {}).update(epochs)
        if self._still_owns(revoked):
            return member.moved_to(member.epoch, MemberState.UNREVOKED_PARTITIONS, assigned, revoked)
        return member.moved_to(member.epoch, member.state, assigned, member.pending_revocation)


def _put(owned: dict[UUID, dict[int, int]], topic_id: UUID, epochs: dict[int, int]) -> None:
    if epochs:
        owned[topic_id] = epochs
