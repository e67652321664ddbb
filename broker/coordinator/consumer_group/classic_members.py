"""JoinGroup, SyncGroup, Heartbeat and LeaveGroup of consumer groups' members of the classic protocol (KIP-848).

To such a member the group looks as one that a leader assigns for: its generation is its member epoch, JoinGroup is the
heartbeat that says what it owns, SyncGroup fetches what it may use, and a heartbeat tells it to join again when there
is another step to take. Nothing is parked.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from uuid import UUID

from broker.common.errors import ApiError, ErrorCode, InvariantViolation
from broker.common.limits import CLIENT_ID_LENGTH_MAX, REBALANCE_TIMEOUT_MS_MAX
from broker.coordinator.consumer_group.assignors import Partitions
from broker.coordinator.consumer_group.config import ConsumerGroupConfig, MigrationPolicy
from broker.coordinator.consumer_group.draft import GroupDraft
from broker.coordinator.consumer_group.embedded import (
    PROTOCOL_TYPE,
    EmbeddedSubscription,
    PartitionsByName,
    decode_subscription,
    encode_assignment,
)
from broker.coordinator.consumer_group.group import ModernGroup
from broker.coordinator.consumer_group.heartbeat import ConsumerHeartbeats
from broker.coordinator.consumer_group.member import ClassicMembership, ConsumerGroupMember, MemberState
from broker.coordinator.consumer_group.timers import ConsumerTimerKey, ConsumerTimerKind
from broker.coordinator.consumer_group.topics import TopicDirectory
from broker.coordinator.group.client import GroupClientInfo
from broker.coordinator.outcome import CoordinatorTurn
from broker.coordinator.timers import Timers
from broker.protocol.messages.heartbeat import HeartbeatRequest
from broker.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from broker.protocol.messages.leave_group import MemberIdentity
from broker.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse

#: JoinGroup from this version on makes a new dynamic member join a second time, with its id (KIP-394).
_MEMBER_ID_REQUIRED_VERSION = 4
#: Characters of the client id, or of the instance id, that begin a member id.
_MEMBER_ID_PREFIX_MAX = 255


class ClassicMembers:
    def __init__(
        self,
        config: ConsumerGroupConfig,
        topics: TopicDirectory,
        timers: Timers[ConsumerTimerKey],
        heartbeats: ConsumerHeartbeats,
        new_member_id: Callable[[str], str],
    ):
        self._config = config
        self._topics = topics
        self._timers = timers
        self._heartbeats = heartbeats
        self._new_member_id = new_member_id

    # -- joining ------------------------------------------------------------------------------------------------------

    def join(
        self, group: ModernGroup, request: JoinGroupRequest, client: GroupClientInfo, turn: CoordinatorTurn
    ) -> JoinGroupResponse:
        """Return the response, for when the records are committed. Raises ApiError; then nothing is changed."""
        if self._config.group_consumer_migration_policy is MigrationPolicy.DISABLED:
            raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        prefix = (request.group_instance_id or client.client_id)[:_MEMBER_ID_PREFIX_MAX]
        member_id = request.member_id or self._new_member_id(prefix)
        self._heartbeats.check_room(group, member_id)
        protocols = {protocol.name: bytes(protocol.metadata) for protocol in request.protocols}
        if not _supports(group, request.protocol_type, protocols, group.members.get(member_id)):
            raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        is_dynamic = not request.member_id and request.group_instance_id is None
        if is_dynamic and client.api_version >= _MEMBER_ID_REQUIRED_VERSION:
            return JoinGroupResponse(
                error_code=ErrorCode.MEMBER_ID_REQUIRED,
                member_id=member_id,
                protocol_name=None if client.api_version >= 7 else "",
            )
        embedded = _subscription_of(next(iter(protocols.values())))
        draft = GroupDraft(group, self._topics, client.owner)
        before = self._present(draft, request, member_id)
        member = _described(before, request, client, embedded, protocols)
        member = self._heartbeats.advance(draft, before, member, self._with_ids(embedded.owned), client, turn)
        return JoinGroupResponse(
            generation_id=member.epoch,
            protocol_type=PROTOCOL_TYPE,
            protocol_name=next(iter(protocols)),
            member_id=member.member_id,
        )

    def _present(self, draft: GroupDraft, request: JoinGroupRequest, member_id: str) -> ConsumerGroupMember:
        """Return the member as it is now, or as it begins. Raises ApiError for an instance id of another member."""
        group, instance_id = draft.group, request.group_instance_id
        if instance_id is None:
            return group.members.get(member_id) or ConsumerGroupMember(member_id)
        if request.member_id:
            return _member_of(group, member_id, instance_id)
        former_id = group.static_members.get(instance_id)
        if former_id is None:
            return ConsumerGroupMember(member_id)
        return draft.replaced(group.members[former_id], member_id)

    def _with_ids(self, partitions: PartitionsByName) -> Partitions:
        named = ((self._topics.named(topic), indexes) for topic, indexes in partitions.items())
        return {topic.topic_id: indexes for topic, indexes in named if topic is not None}

    # -- what members do between two joins ----------------------------------------------------------------------------

    def sync(self, group: ModernGroup, request: SyncGroupRequest, turn: CoordinatorTurn) -> SyncGroupResponse:
        """Return what the member may use. Raises ApiError."""
        member = _member_of(group, request.member_id, request.group_instance_id)
        classic = _membership(member, request.generation_id)
        name, metadata = classic.protocols[0]
        if request.protocol_type not in (None, PROTOCOL_TYPE) or request.protocol_name not in (None, name):
            raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        if member.epoch < group.assignment_epoch and member.state is not MemberState.UNREVOKED_PARTITIONS:
            self._expect_join(group, member, turn)
            raise ApiError(ErrorCode.REBALANCE_IN_PROGRESS)
        self._timers.cancel(ConsumerTimerKey(ConsumerTimerKind.SYNC, group.group_id, member.member_id))
        self._heartbeats.restart_session(group, member, turn.now_ms)
        named = ((self._topics.name_of(topic_id), epochs) for topic_id, epochs in member.assigned.items())
        assigned = {topic: frozenset(epochs) for topic, epochs in named if topic is not None}
        return SyncGroupResponse(
            protocol_type=PROTOCOL_TYPE,
            protocol_name=name,
            assignment=encode_assignment(assigned, _subscription_of(metadata).version),
        )

    def heartbeat(self, group: ModernGroup, request: HeartbeatRequest, turn: CoordinatorTurn) -> ErrorCode:
        """Return REBALANCE_IN_PROGRESS if the member is to join again, else NONE. Raises ApiError."""
        member = _member_of(group, request.member_id, request.group_instance_id)
        _membership(member, request.generation_id)
        self._heartbeats.restart_session(group, member, turn.now_ms)
        self._heartbeats.look_at_topics(group, turn)
        if member.is_reconciled_to(group.assignment_epoch) or not _has_next_step(group, member):
            return ErrorCode.NONE
        self._expect_join(group, member, turn)
        return ErrorCode.REBALANCE_IN_PROGRESS

    def leave(self, group: ModernGroup, identities: Sequence[MemberIdentity], turn: CoordinatorTurn) -> list[ErrorCode]:
        """Remove the members, of either protocol; an administrator names static ones by instance id alone."""
        leaving: dict[str, ConsumerGroupMember] = {}
        errors = []
        for identity in identities:
            instance_id = identity.group_instance_id
            member_id = identity.member_id or group.static_members.get(instance_id or "", "")
            try:
                leaving[member_id] = _member_of(group, member_id, instance_id)
                errors.append(ErrorCode.NONE)
            except ApiError as error:
                errors.append(error.code)
        if leaving:
            self._heartbeats.remove(group, list(leaving.values()), "left", turn)
        return errors

    def _expect_join(self, group: ModernGroup, member: ConsumerGroupMember, turn: CoordinatorTurn) -> None:
        key = ConsumerTimerKey(ConsumerTimerKind.JOIN, group.group_id, member.member_id)
        self._timers.schedule_once(key, turn.now_ms + max(member.subscription.rebalance_timeout_ms, 0))


def _described(
    before: ConsumerGroupMember,
    request: JoinGroupRequest,
    client: GroupClientInfo,
    embedded: EmbeddedSubscription,
    protocols: dict[str, bytes],
) -> ConsumerGroupMember:
    """Return the member as its JoinGroup describes it."""
    timeout_ms = request.rebalance_timeout_ms if request.rebalance_timeout_ms >= 0 else request.session_timeout_ms
    subscription = replace(
        before.subscription,
        instance_id=before.subscription.instance_id if request.group_instance_id is None else request.group_instance_id,
        rack_id=before.subscription.rack_id if embedded.rack_id is None else embedded.rack_id,
        client_id=client.client_id[:CLIENT_ID_LENGTH_MAX],
        client_host=client.client_host,
        topic_names=embedded.topics,
        topic_regex=None,
        rebalance_timeout_ms=min(timeout_ms, REBALANCE_TIMEOUT_MS_MAX),
        classic=ClassicMembership(request.session_timeout_ms, tuple(protocols.items())),
    )
    return replace(before, subscription=subscription)


def _supports(
    group: ModernGroup, protocol_type: str, protocols: dict[str, bytes], instead_of: ConsumerGroupMember | None
) -> bool:
    """Return whether the group's members of the classic protocol would still have a protocol in common.

    instead_of: the member as it is now; what it used to support does not count.
    """
    former = instead_of.subscription.classic if instead_of is not None else None
    names = {name for name, _ in former.protocols} if former else set()
    others = group.classic_count - (former is not None)
    in_common = any(group.classic_support[name] - (name in names) == others for name in protocols)
    return protocol_type == PROTOCOL_TYPE and in_common


def _subscription_of(metadata: bytes) -> EmbeddedSubscription:
    try:
        return decode_subscription(metadata)
    except InvariantViolation:
        raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL) from None


def _member_of(group: ModernGroup, member_id: str, instance_id: str | None) -> ConsumerGroupMember:
    """Return the member. Raises ApiError UNKNOWN_MEMBER_ID or FENCED_INSTANCE_ID."""
    holder = member_id if instance_id is None else group.static_members.get(instance_id)
    member = group.members.get(holder or "")
    if member is None:
        raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
    if holder != member_id:
        raise ApiError(ErrorCode.FENCED_INSTANCE_ID)
    return member


def _membership(member: ConsumerGroupMember, generation_id: int) -> ClassicMembership:
    """Raises ApiError for a member of the consumer protocol, and for another generation."""
    classic = member.subscription.classic
    if classic is None:
        raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
    if generation_id != member.epoch:
        raise ApiError(ErrorCode.ILLEGAL_GENERATION)
    return classic


def _has_next_step(group: ModernGroup, member: ConsumerGroupMember) -> bool:
    """Return whether joining again would bring the member nearer to its target."""
    if member.epoch < group.assignment_epoch or member.state is MemberState.UNREVOKED_PARTITIONS:
        return True
    return member.state is MemberState.UNRELEASED_PARTITIONS and not _awaited(group, member)


def _awaited(group: ModernGroup, member: ConsumerGroupMember) -> Sequence[tuple[UUID, int]]:
    """Return the partitions of the member's target that other members have not given up."""
    return [
        (topic_id, index)
        for topic_id, indexes in group.target_of(member.member_id).items()
        for index in indexes - member.assigned.get(topic_id, {}).keys()
        if group.owner_of(topic_id, index) is not None
    ]
