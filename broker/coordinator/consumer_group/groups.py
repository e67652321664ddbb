"""The consumer groups of one coordinator: what they are asked, what time does to them, and how their records are read.

`coordinator/group/coordinator.py` embeds it: it keeps one group id from being of two types, and gives each call the
turn that it answers into.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from broker.common.errors import ApiError, ErrorCode
from broker.coordinator.consumer_group import records
from broker.coordinator.consumer_group.classic_members import ClassicMembers
from broker.coordinator.consumer_group.config import ConsumerGroupConfig
from broker.coordinator.consumer_group.group import NEVER, ModernGroup
from broker.coordinator.consumer_group.heartbeat import ConsumerHeartbeats
from broker.coordinator.consumer_group.member import ConsumerGroupMember, MemberState
from broker.coordinator.consumer_group.records import (
    ConsumerGroupKey,
    CurrentMemberValue,
    GroupEpochValue,
    MemberValue,
    PatternValue,
    TargetEpochValue,
    TargetMemberValue,
    decode_value,
    encode_key,
)
from broker.coordinator.consumer_group.requests import check_heartbeat, is_leaving
from broker.coordinator.consumer_group.timers import OF_MEMBERS, ConsumerTimerKey, ConsumerTimerKind
from broker.coordinator.consumer_group.topics import NoTopics, TopicDirectory
from broker.coordinator.group.client import GroupClientInfo
from broker.coordinator.group.config import TIMER_RETRY_MS
from broker.coordinator.group.memory import GroupMemory, GroupMemoryAccount
from broker.coordinator.outcome import CoordinatorRecord, CoordinatorTurn, Remains
from broker.coordinator.recorded_owners import Headers, decode_owner
from broker.coordinator.timers import Timers
from broker.protocol.messages.consumer_group_heartbeat import (
    JOIN_EPOCH,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)


class ConsumerGroups:
    def __init__(
        self,
        config: ConsumerGroupConfig,
        memory: GroupMemory,
        account: GroupMemoryAccount,
        new_member_id: Callable[[str], str],
        topics: TopicDirectory | None = None,
    ):
        self.topics: TopicDirectory = topics or NoTopics()
        self.config = config
        self._account = account
        self._groups: dict[str, ModernGroup] = {}
        self._timers: Timers[ConsumerTimerKey] = Timers()
        self._heartbeats = ConsumerHeartbeats(config, self.topics, self._timers, memory, new_member_id)
        self.classic = ClassicMembers(config, self.topics, self._timers, self._heartbeats, new_member_id)

    def get(self, group_id: str) -> ModernGroup | None:
        return self._groups.get(group_id)

    def __iter__(self) -> Iterator[ModernGroup]:
        return iter(self._groups.values())

    def __contains__(self, group_id: str) -> bool:
        return group_id in self._groups

    def with_members(self, group_id: str) -> ModernGroup | None:
        """Return the group if it has members."""
        group = self._groups.get(group_id)
        return group if group is not None and group.members else None

    # -- requests -----------------------------------------------------------------------------------------------------

    def heartbeat(
        self,
        request: ConsumerGroupHeartbeatRequest,
        client: GroupClientInfo,
        turn: CoordinatorTurn,
        begin: Callable[[], Sequence[CoordinatorRecord]],
        sees_topic: Callable[[str], bool],
    ) -> ConsumerGroupHeartbeatResponse:
        """Return the response, for when the records are committed. Raises ApiError for one to be sent at once.

        begin: called before a group that there is not gets its first records, for those that a classic group becomes
        it by; it may refuse. sees_topic: whether the client may describe a topic.
        """
        check_heartbeat(request, client.api_version, self.config.group_consumer_assignors)
        group = self._groups.get(request.group_id)
        if is_leaving(request) or request.member_epoch != JOIN_EPOCH:
            if group is None:
                raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Consumer group {request.group_id} not found.")
            if is_leaving(request):
                return self._heartbeats.leave(group, request, turn)
        if group is not None:
            return self._heartbeats.stay(group, request, client, turn, sees_topic)
        group, migrated = ModernGroup(request.group_id, GroupMemory().account()), begin()
        for record in migrated:
            turn.append(*record)
            if (key := records.decode_key(record.key)) is not None and record.value is not None:
                _replay_value(group, key, record.value, record.headers)
        response = self._heartbeats.stay(group, request, client, turn, sees_topic)
        for member in group.members.values():
            if member.member_id != response.member_id:
                self._heartbeats.restart_session(group, member, turn.now_ms)
        turn.outcome.is_divisible &= not migrated
        return response

    def delete(self, group: ModernGroup, turn: CoordinatorTurn) -> None:
        """Propose the tombstones of a group."""
        for member_id in group.members:
            for kind in (records.CURRENT_MEMBER, records.MEMBER):
                _append_tombstone(turn, ConsumerGroupKey(kind, group.group_id, member_id))
        for pattern in group.patterns:
            _append_tombstone(turn, ConsumerGroupKey(records.PATTERN, group.group_id, pattern))
        for member_id in group.targets:
            _append_tombstone(turn, ConsumerGroupKey(records.TARGET_MEMBER, group.group_id, member_id))
        for kind in (records.TARGET_EPOCH, records.PARTITION_METADATA, records.GROUP_EPOCH):
            _append_tombstone(turn, ConsumerGroupKey(kind, group.group_id))

    # -- time ---------------------------------------------------------------------------------------------------------

    def next_deadline_ms(self) -> int | None:
        return self._timers.next_deadline_ms()

    def tick(self, turn: CoordinatorTurn, downgrade: Callable[[ModernGroup, CoordinatorTurn], None]) -> None:
        """Do what the deadlines that have come ask for; what is done for one group at a time is done at once.

        downgrade: proposes the records by which a group becomes a classic one.
        """
        silent: dict[str, dict[str, str]] = {}  #: by group: of each member that is removed, why
        to_assign: dict[str, None] = {}
        to_downgrade: list[ConsumerTimerKey] = []
        while not turn.is_full and (key := self._timers.take_expired(turn.now_ms)) is not None:
            turn.things_left -= 1
            group = self._groups.get(key.group_id)
            member = group.members.get(key.member_id) if group else None
            if group is not None and key.kind is ConsumerTimerKind.ASSIGNMENT:
                to_assign[group.group_id] = None
            elif key.kind is ConsumerTimerKind.DOWNGRADE:
                to_downgrade.append(key)
            elif member is not None and (reason := _removal(member, key.kind)):
                silent.setdefault(key.group_id, {})[member.member_id] = reason
                # The replayed tombstone makes this one stand for nothing; if there is none, it is tried again.
                self._timers.schedule(key, turn.now_ms + TIMER_RETRY_MS)
        for group_id, reasons in silent.items():
            group = self._groups[group_id]
            members = [group.members[member_id] for member_id in reasons]
            self._heartbeats.remove(group, members, next(iter(reasons.values())), turn)
            to_assign.pop(group_id, None)
        for group_id in to_assign:
            if (group := self._groups[group_id]).members:
                self._heartbeats.assign(group, turn)
        for key in to_downgrade:
            self._downgrade(key, downgrade, turn)

    def _downgrade(
        self,
        key: ConsumerTimerKey,
        downgrade: Callable[[ModernGroup, CoordinatorTurn], None],
        turn: CoordinatorTurn,
    ) -> None:
        """The records of one group are to be in one batch, so a turn with others leaves it to the next."""
        group = self._groups.get(key.group_id)
        if group is None or not self._heartbeats.may_downgrade(len(group.members), group.classic_count):
            return
        if turn.outcome.records:
            self._timers.schedule(key, turn.now_ms)
            return
        downgrade(group, turn)
        turn.outcome.is_divisible = False
        self._timers.schedule(key, turn.now_ms + TIMER_RETRY_MS)

    def after_load(self, now_ms: int) -> None:
        """Every member gets a fresh session timeout, and as long as before to give partitions up."""
        for group in self._groups.values():
            if group.is_all_classic:
                self._timers.schedule(ConsumerTimerKey(ConsumerTimerKind.DOWNGRADE, group.group_id), now_ms)
            for member in group.members.values():
                self._heartbeats.restart_session(group, member, now_ms)
                if member.state is MemberState.UNREVOKED_PARTITIONS and not member.is_classic:
                    key = ConsumerTimerKey(ConsumerTimerKind.REVOCATION, group.group_id, member.member_id)
                    self._timers.schedule(key, now_ms + max(member.subscription.rebalance_timeout_ms, 0))

    # -- records ------------------------------------------------------------------------------------------------------

    def replay(self, key: ConsumerGroupKey, value: bytes | None, headers: Headers) -> None:
        """Apply one record. Raises InvariantViolation for bytes that are no such record."""
        group = self._groups.get(key.group_id)
        if key.kind == records.PARTITION_METADATA:
            return
        if value is None:
            if group is not None:
                self._replay_tombstone(group, key)
            return
        if group is None:
            group = self._groups[key.group_id] = ModernGroup(key.group_id, self._account)
        _replay_value(group, key, value, headers)

    def _replay_tombstone(self, group: ModernGroup, key: ConsumerGroupKey) -> None:
        match key.kind:
            case records.GROUP_EPOCH:
                self._forget(group)
            case records.MEMBER:
                group.remove_member(key.name)
                for kind in OF_MEMBERS:
                    self._timers.cancel(ConsumerTimerKey(kind, group.group_id, key.name))
            case records.TARGET_EPOCH:
                group.replay_target_epoch(None)
            case records.TARGET_MEMBER:
                group.replay_target(key.name, None)
            case records.CURRENT_MEMBER:
                group.replay_current(key.name, None)
            case records.PATTERN:
                group.remove_pattern(key.name)

    def abort(self, aborted: Iterable[CoordinatorRecord]) -> None:
        """Records could not be appended: what they were to say of the topics is to be said again."""
        for record in aborted:
            key = records.decode_key(record.key)
            if key is not None and (group := self._groups.get(key.group_id)) is not None:
                group.topics_version = NEVER

    def unload(self) -> list[Remains]:
        """Forget all groups, and return what was removed."""
        remains: list[Remains] = [self._groups, *self._timers.forget()]
        self._groups = {}
        return remains

    def _forget(self, group: ModernGroup) -> None:
        for member_id in group.members:
            for kind in OF_MEMBERS:
                self._timers.cancel(ConsumerTimerKey(kind, group.group_id, member_id))
        for kind in (ConsumerTimerKind.ASSIGNMENT, ConsumerTimerKind.DOWNGRADE):
            self._timers.cancel(ConsumerTimerKey(kind, group.group_id))
        self._groups.pop(group.group_id, None)
        group.let_go()


#: Why a member is removed when its time is up.
_REMOVALS = {
    ConsumerTimerKind.SESSION: "its session expired",
    ConsumerTimerKind.JOIN: "it did not join again within the rebalance timeout",
    ConsumerTimerKind.SYNC: "it did not ask for its assignment within the rebalance timeout",
}


def _removal(member: ConsumerGroupMember, kind: ConsumerTimerKind) -> str:
    """Return why the member is removed now that this time is up; empty if it is not."""
    if kind in _REMOVALS:
        return _REMOVALS[kind]
    if member.state is MemberState.UNREVOKED_PARTITIONS:
        return "it did not give up its partitions within the rebalance timeout"
    return ""


def _replay_value(group: ModernGroup, key: ConsumerGroupKey, value: bytes, headers: Headers) -> None:
    owner = decode_owner(headers)
    match key.kind:
        case records.GROUP_EPOCH:
            group.replay_epoch(decode_value(GroupEpochValue, value), owner)
        case records.MEMBER:
            group.replay_member(key.name, decode_value(MemberValue, value), owner)
        case records.TARGET_EPOCH:
            group.replay_target_epoch(decode_value(TargetEpochValue, value))
        case records.TARGET_MEMBER:
            group.replay_target(key.name, decode_value(TargetMemberValue, value))
        case records.CURRENT_MEMBER:
            group.replay_current(key.name, decode_value(CurrentMemberValue, value))
        case records.PATTERN:
            group.replay_pattern(key.name, decode_value(PatternValue, value), owner)


def _append_tombstone(turn: CoordinatorTurn, key: ConsumerGroupKey) -> None:
    turn.append(encode_key(key), None)
