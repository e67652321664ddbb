"""One ConsumerGroupHeartbeat: what it changes of its member, of the group and of the assignment.

The member joins or is known. Its subscription may change the group's epoch, which may need a new target assignment.
Then the member is moved one step towards its target.

A heartbeat that changes nothing looks at its own member only, however large the group is.
"""

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import CLIENT_ID_LENGTH_MAX, REBALANCE_TIMEOUT_MS_MAX
from broker.coordinator.consumer_group.assignors import Partitions
from broker.coordinator.consumer_group.config import ConsumerGroupConfig
from broker.coordinator.consumer_group.draft import GroupDraft
from broker.coordinator.consumer_group.fencing import fenced_by_epoch, static_member, unknown_member
from broker.coordinator.consumer_group.group import ModernGroup
from broker.coordinator.consumer_group.installed_assignors import AssignorError
from broker.coordinator.consumer_group.member import ConsumerGroupMember, MemberState, MemberSubscription, Owned
from broker.coordinator.consumer_group.patterns import topics_matching
from broker.coordinator.consumer_group.reconciliation import Reconciliation
from broker.coordinator.consumer_group.requests import is_full, reported_partitions
from broker.coordinator.consumer_group.timers import ConsumerTimerKey, ConsumerTimerKind
from broker.coordinator.consumer_group.topics import TopicDirectory
from broker.coordinator.group.client import GroupClientInfo
from broker.coordinator.group.config import TIMER_RETRY_MS
from broker.coordinator.group.memory import GroupMemory, group_bytes
from broker.coordinator.outcome import CoordinatorTurn
from broker.coordinator.timers import Timers
from broker.protocol.messages.consumer_group_heartbeat import (
    JOIN_EPOCH,
    LEAVE_STATIC_EPOCH,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    HeartbeatAssignment,
    HeartbeatTopicPartitions,
)

#: Whether a client may describe a topic; others are not matched by its pattern.
SeesTopic = Callable[[str], bool]


class ConsumerHeartbeats:
    def __init__(
        self,
        config: ConsumerGroupConfig,
        topics: TopicDirectory,
        timers: Timers[ConsumerTimerKey],
        memory: GroupMemory,
        new_member_id: Callable[[str], str],
    ):
        self._config = config
        self._topics = topics
        self._timers = timers
        self._memory = memory
        self._new_member_id = new_member_id

    def stay(
        self,
        group: ModernGroup,
        request: ConsumerGroupHeartbeatRequest,
        client: GroupClientInfo,
        turn: CoordinatorTurn,
        sees_topic: SeesTopic,
    ) -> ConsumerGroupHeartbeatResponse:
        """Join, or go on as a member. Raises ApiError; then nothing is changed."""
        draft = GroupDraft(group, self._topics, client.owner)
        before = self._present(draft, request)
        member = self._subscribed(before, request, client)
        member = self.advance(draft, before, member, reported_partitions(request), client, turn, sees_topic)
        shows_assignment = is_full(request) or _partitions(member.assigned) != _partitions(before.assigned)
        return ConsumerGroupHeartbeatResponse(
            member_id=member.member_id,
            member_epoch=member.epoch,
            heartbeat_interval_ms=self._config.heartbeat_interval_ms(group.group_id),
            assignment=_to_response(member.assigned) if shows_assignment else None,
        )

    def advance(
        self,
        draft: GroupDraft,
        before: ConsumerGroupMember,
        member: ConsumerGroupMember,
        reported: Partitions | None,
        client: GroupClientInfo,
        turn: CoordinatorTurn,
        sees_topic: SeesTopic | None = None,
    ) -> ConsumerGroupMember:
        """Note what a member says, move it one step towards its target and write what that changes; return it.

        reported: as for `Reconciliation`. sees_topic: None if patterns are not to be matched. Raises ApiError; then
        nothing is changed.
        """
        group = draft.group
        has_subscription_changed = self._subscribe(draft, before, member, sees_topic, turn)
        self._bump_if_due(draft, sees_topic, turn, is_due=group.epoch == 0 or has_subscription_changed)
        self._assign_if_due(draft, turn)
        member = self._reconciled(draft, member, reported, has_subscription_changed)
        if member != before or before.member_id not in group.members:
            draft.put(member)
        self._admit(draft, member, client, turn)
        if sees_topic is not None:
            group.topics_version = self._topics.version
        if draft.is_changed or draft.assignment_epoch != group.assignment_epoch:
            draft.write(turn)
        self._restart_timers(group, before, member, turn)
        if member.is_classic:
            self._follow_up(draft, turn)
        return member

    def look_at_topics(self, group: ModernGroup, turn: CoordinatorTurn) -> None:
        """Assign anew if the topics that members name are others than those the group's epoch is of."""
        if group.topics_version == self._topics.version or group.patterns:
            return
        draft = GroupDraft(group, self._topics, next(iter(group.members.values())).owner)
        if draft.look_at_topics():
            draft.bump()
            self._assign_if_due(draft, turn)
            draft.write(turn)
        group.topics_version = self._topics.version

    def leave(
        self, group: ModernGroup, request: ConsumerGroupHeartbeatRequest, turn: CoordinatorTurn
    ) -> ConsumerGroupHeartbeatResponse:
        """Remove the member; a static one that comes back keeps its place for a session. Raises ApiError."""
        member = group.members.get(request.member_id)
        if request.instance_id is not None:
            member = static_member(group, request)
        if member is None:
            raise unknown_member(group, request.member_id)
        if request.member_epoch == LEAVE_STATIC_EPOCH:
            draft = GroupDraft(group, self._topics, member.owner)
            draft.put(member.moved_to(LEAVE_STATIC_EPOCH, member.state, member.assigned))
            draft.write(turn)
            turn.note("static member left for a while", group_id=group.group_id, member_id=member.member_id)
        else:
            self.remove(group, [member], "left", turn)
        return ConsumerGroupHeartbeatResponse(member_id=request.member_id, member_epoch=request.member_epoch)

    def remove(
        self, group: ModernGroup, members: list[ConsumerGroupMember], reason: str, turn: CoordinatorTurn
    ) -> None:
        draft = GroupDraft(group, self._topics, members[0].owner)
        for member in members:
            draft.remove(member.member_id)
            turn.note("member is removed", group_id=group.group_id, member_id=member.member_id, reason=reason)
        draft.bump()
        draft.drop_unused_patterns()
        draft.look_at_topics()
        draft.write(turn)
        self._follow_up(draft, turn)

    def _follow_up(self, draft: GroupDraft, turn: CoordinatorTurn) -> None:
        """Have the next tick do what heartbeats of the consumer protocol would do, for members of the classic one."""
        member_count, classic_count = draft.counts
        if self.may_downgrade(member_count, classic_count):
            self._schedule(ConsumerTimerKind.DOWNGRADE, draft.group, turn)
        elif classic_count and draft.epoch > draft.assignment_epoch:
            self._schedule(ConsumerTimerKind.ASSIGNMENT, draft.group, turn)

    def may_downgrade(self, member_count: int, classic_count: int) -> bool:
        """Return whether a group of so many members becomes a classic one."""
        is_classic = 0 < classic_count == member_count <= self._config.group_max_size
        return is_classic and self._config.group_consumer_migration_policy.allows_downgrade

    def _schedule(self, kind: ConsumerTimerKind, group: ModernGroup, turn: CoordinatorTurn, in_ms: int = 0) -> None:
        self._timers.schedule(ConsumerTimerKey(kind, group.group_id), turn.now_ms + in_ms)

    def assign(self, group: ModernGroup, turn: CoordinatorTurn) -> None:
        """Make the assignment that had to wait, if the group still needs one."""
        draft = GroupDraft(group, self._topics, next(iter(group.members.values())).owner)
        try:
            self._assign_if_due(draft, turn)
        except ApiError as error:
            turn.warn("group is not assigned", group_id=group.group_id, reason=error.message)
            self._schedule(ConsumerTimerKind.ASSIGNMENT, group, turn, TIMER_RETRY_MS)
        if draft.assignment_epoch != group.assignment_epoch:
            draft.write(turn)

    # -- the member ---------------------------------------------------------------------------------------------------

    def _present(self, draft: GroupDraft, request: ConsumerGroupHeartbeatRequest) -> ConsumerGroupMember:
        """Return the member as it is now, or, if it joins, as it begins."""
        group, is_joining = draft.group, request.member_epoch == JOIN_EPOCH
        member_id = request.member_id or self._new_member_id(request.instance_id or "")
        is_known = member_id in group.members
        self.check_room(group, member_id)
        if request.instance_id is not None:
            if not is_joining:
                return fenced_by_epoch(static_member(group, request), request)
            if request.instance_id in group.static_members:
                return self._returned(draft, request, member_id)
        elif is_known:
            return fenced_by_epoch(group.members[member_id], request)
        if not is_joining:
            raise unknown_member(group, member_id)
        return ConsumerGroupMember(member_id)

    def check_room(self, group: ModernGroup, member_id: str) -> None:
        """Raises ApiError GROUP_MAX_SIZE_REACHED if the group takes no member that it does not have."""
        limit = self._config.group_consumer_max_size
        if len(group.members) >= limit and member_id not in group.members:
            message = f"The consumer group has reached its maximum capacity of {limit} members."
            raise ApiError(ErrorCode.GROUP_MAX_SIZE_REACHED, message)

    def _returned(
        self, draft: GroupDraft, request: ConsumerGroupHeartbeatRequest, member_id: str
    ) -> ConsumerGroupMember:
        """A static member joins: it takes the place of its former self, if that has left or is of the classic
        protocol.
        """
        former = draft.group.members[draft.group.static_members[request.instance_id or ""]]
        if former.member_id == member_id and not former.is_away:
            return former
        if not former.is_away and not former.is_classic:
            message = f"Static member {member_id} with instance id {request.instance_id} cannot join the group because "
            raise ApiError(
                ErrorCode.UNRELEASED_INSTANCE_ID, f"{message}the instance id is owned by {former.member_id} member."
            )
        return draft.replaced(former, member_id)

    def _subscribed(
        self, member: ConsumerGroupMember, request: ConsumerGroupHeartbeatRequest, client: GroupClientInfo
    ) -> ConsumerGroupMember:
        """Return the member with what the heartbeat says of it; what it does not say stays."""
        before, names = member.subscription, request.subscribed_topic_names
        timeout_ms, regex = request.rebalance_timeout_ms, request.subscribed_topic_regex
        subscription = MemberSubscription(
            instance_id=before.instance_id if request.instance_id is None else request.instance_id,
            rack_id=before.rack_id if request.rack_id is None else request.rack_id,
            client_id=client.client_id[:CLIENT_ID_LENGTH_MAX],
            client_host=client.client_host,
            topic_names=before.topic_names if names is None else frozenset(names),
            topic_regex=before.topic_regex if regex is None else regex,
            rebalance_timeout_ms=(
                before.rebalance_timeout_ms if timeout_ms == -1 else min(timeout_ms, REBALANCE_TIMEOUT_MS_MAX)
            ),
            server_assignor=before.server_assignor if request.server_assignor is None else request.server_assignor,
        )
        return member if subscription == before else replace(member, subscription=subscription)

    # -- the group ----------------------------------------------------------------------------------------------------

    def _subscribe(
        self,
        draft: GroupDraft,
        before: ConsumerGroupMember,
        member: ConsumerGroupMember,
        sees_topic: SeesTopic | None,
        turn: CoordinatorTurn,
    ) -> bool:
        """Note the member's subscription; return whether it reads by other names, or by another pattern."""
        if member == before and member.member_id in draft.group.members:
            return False
        draft.put(member)
        old, new = before.subscription, member.subscription
        if (new.topic_regex or "") != (old.topic_regex or ""):
            if new.topic_regex and sees_topic is not None and draft.pattern(new.topic_regex) is None:
                draft.resolve(new.topic_regex, self._matching(new.topic_regex, sees_topic), turn.wall_ms)
            draft.drop_unused_patterns()
            return True
        return new.topic_names != old.topic_names

    def _bump_if_due(
        self, draft: GroupDraft, sees_topic: SeesTopic | None, turn: CoordinatorTurn, *, is_due: bool
    ) -> None:
        group = draft.group
        is_old = group.topics_version != self._topics.version or (
            bool(group.patterns)
            and turn.now_ms >= group.matched_at_ms + self._config.group_consumer_regex_refresh_interval_ms
        )
        if not is_due and not is_old:
            return
        if is_old and sees_topic is not None:
            self._match_again(draft, sees_topic, turn)
        if draft.look_at_topics() or is_due:
            draft.bump()

    def _matching(self, pattern: str, sees_topic: SeesTopic) -> frozenset[str]:
        return frozenset(filter(sees_topic, topics_matching(pattern, self._topics.names())))

    def _match_again(self, draft: GroupDraft, sees_topic: SeesTopic, turn: CoordinatorTurn) -> None:
        """The topics are others than when the group's patterns were matched, or what the client may see of them."""
        draft.group.matched_at_ms = turn.now_ms
        for pattern, resolved in draft.group.patterns.items():
            try:
                topics = self._matching(pattern, sees_topic)
            except ApiError as error:  # of more topics it takes too long: it goes on with those that it has
                turn.warn("subscription is not matched again", group_id=draft.group.group_id, reason=error.message)
                continue
            if topics != resolved.topics and draft.pattern(pattern) is resolved:
                draft.resolve(pattern, topics, turn.wall_ms)

    def _assign_if_due(self, draft: GroupDraft, turn: CoordinatorTurn) -> None:
        """Assign for the group's epoch now, or when the interval since the last assignment is over."""
        group = draft.group
        if draft.epoch <= draft.assignment_epoch:
            return
        interval_ms = self._config.assignment_interval_ms(group.group_id)
        left_ms = min(interval_ms, group.assigned_at_ms + interval_ms - turn.wall_ms)
        if group.assignment_epoch and left_ms > 0:
            self._schedule(ConsumerTimerKind.ASSIGNMENT, group, turn, left_ms)
            return
        try:
            assignor = draft.assign(self._config.group_consumer_assignors, turn.wall_ms)
        except AssignorError as error:
            message = f"Failed to compute a new target assignment for epoch {draft.epoch}: {error}"
            raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, message) from None
        turn.note("group is assigned", group_id=group.group_id, epoch=draft.epoch, assignor=assignor)

    def _reconciled(
        self,
        draft: GroupDraft,
        member: ConsumerGroupMember,
        reported: Partitions | None,
        has_subscription_changed: bool,
    ) -> ConsumerGroupMember:
        if member.is_reconciled_to(draft.assignment_epoch) and not has_subscription_changed:
            return member
        return Reconciliation(
            draft.target_of(member.member_id),
            draft.assignment_epoch,
            draft.is_free,
            draft.topic_ids_of(member).__contains__,
            reported,
            has_subscription_changed,
        ).next_of(member)

    def _admit(
        self, draft: GroupDraft, member: ConsumerGroupMember, client: GroupClientInfo, turn: CoordinatorTurn
    ) -> None:
        """Raises ApiError COORDINATOR_NOT_AVAILABLE if the client may not take what the member would."""
        before = draft.group.members.get(member.member_id)
        if before is not None and before.subscription == member.subscription:
            return
        taken = member.size_bytes(draft.target_of(member.member_id))
        resolved = draft.pattern(member.subscription.topic_regex or "")
        if resolved is not None and member.subscription.topic_regex not in draft.group.patterns:
            taken += resolved.size_bytes
        if draft.group.epoch == 0:
            taken += group_bytes(draft.group.group_id)
        held = draft.group.held_by_member(member.member_id)
        is_same = before is not None and before.owner == client.owner
        if self._memory.may_join(
            client.owner, taken - held if is_same else taken, is_group_there=bool(draft.group.members)
        ):
            draft.put(replace(member, owner=client.owner))
        elif before is None or taken > held:
            self._memory.refuse(self._memory.members, client.owner, turn.wall_ms)
            raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE)

    def _restart_timers(
        self, group: ModernGroup, before: ConsumerGroupMember, member: ConsumerGroupMember, turn: CoordinatorTurn
    ) -> None:
        self.restart_session(group, member, turn.now_ms)
        self._timers.cancel(ConsumerTimerKey(ConsumerTimerKind.JOIN, group.group_id, member.member_id))
        key = ConsumerTimerKey(ConsumerTimerKind.SYNC, group.group_id, member.member_id)
        rebalance_ms = max(member.subscription.rebalance_timeout_ms, 0)
        if member.is_classic:
            self._timers.schedule(key, turn.now_ms + rebalance_ms)
        else:
            self._timers.cancel(key)
        key = ConsumerTimerKey(ConsumerTimerKind.REVOCATION, group.group_id, member.member_id)
        if member.state is not MemberState.UNREVOKED_PARTITIONS or member.is_classic:
            self._timers.cancel(key)
        elif member.pending_revocation != before.pending_revocation:
            self._timers.schedule(key, turn.now_ms + rebalance_ms)

    def restart_session(self, group: ModernGroup, member: ConsumerGroupMember, now_ms: int) -> None:
        """The member has been heard of: it has a whole session timeout again."""
        classic = member.subscription.classic
        timeout_ms = classic.session_timeout_ms if classic else self._config.session_timeout_ms(group.group_id)
        key = ConsumerTimerKey(ConsumerTimerKind.SESSION, group.group_id, member.member_id)
        self._timers.schedule(key, now_ms + timeout_ms)


def _partitions(owned: Owned) -> dict[UUID, set[int]]:
    return {topic_id: set(epochs) for topic_id, epochs in owned.items()}


def _to_response(owned: Owned) -> HeartbeatAssignment:
    return HeartbeatAssignment(
        topic_partitions=[
            HeartbeatTopicPartitions(topic_id=topic_id, partitions=sorted(epochs)) for topic_id, epochs in owned.items()
        ]
    )
