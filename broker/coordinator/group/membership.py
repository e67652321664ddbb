"""SyncGroup, Heartbeat and LeaveGroup: what members do between two joins, and what becomes of those who fall silent."""

from broker.common.errors import ErrorCode, InvariantViolation
from broker.coordinator.group import answers
from broker.coordinator.group.group import ClassicGroup
from broker.coordinator.group.rebalance import Rebalance
from broker.coordinator.group.states import GroupState
from broker.coordinator.group.timers import TimerKey, TimerKind
from broker.coordinator.outcome import CoordinatorTurn
from broker.coordinator.progress import LogProgress
from broker.coordinator.timers import Timers
from broker.protocol.messages.heartbeat import HeartbeatRequest
from broker.protocol.messages.leave_group import MemberIdentity
from broker.protocol.messages.sync_group import SyncGroupRequest


class GroupMembership:
    def __init__(self, timers: Timers[TimerKey], rebalance: Rebalance, progress: LogProgress):
        self._timers = timers
        self._rebalance = rebalance
        self._progress = progress

    # -- SyncGroup ----------------------------------------------------------------------------------------------------

    def sync(self, group: ClassicGroup, request: SyncGroupRequest, token: int, turn: CoordinatorTurn) -> None:
        error = self._sync_error(group, request)
        if error is not ErrorCode.NONE:
            turn.answer_at_once(token, answers.sync_refused(error))
        elif group.state is GroupState.STABLE:
            self._rebalance.asked_for_assignment(group, request.member_id)
            answer = turn.answer_at_once if self._progress.is_committed(group.recorded_to) else turn.answer
            answer(token, answers.synced(group, group.assignments[request.member_id]))
            self._rebalance.restart_session(group, group.members[request.member_id], turn)
        elif group.state is GroupState.COMPLETING_REBALANCE:
            self._sync_generation(group, request, token, turn)
        else:
            raise InvariantViolation(f"group {group.group_id} has a member to sync and is {group.state.value}")

    def _sync_error(self, group: ClassicGroup, request: SyncGroupRequest) -> ErrorCode:
        error = group.error_of(request.member_id, request.group_instance_id)
        if error is not ErrorCode.NONE:
            return error
        if request.generation_id != group.generation_id:
            return ErrorCode.ILLEGAL_GENERATION
        if request.protocol_type not in (None, group.protocol_type):
            return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        if request.protocol_name not in (None, group.protocol_name):
            return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        preparing = group.state is GroupState.PREPARING_REBALANCE
        return ErrorCode.REBALANCE_IN_PROGRESS if preparing else ErrorCode.NONE

    def _sync_generation(
        self, group: ClassicGroup, request: SyncGroupRequest, token: int, turn: CoordinatorTurn
    ) -> None:
        earlier = group.awaiting_sync.get(request.member_id)
        if earlier is not None:
            turn.answer_at_once(earlier, answers.sync_refused(ErrorCode.REBALANCE_IN_PROGRESS))
        group.awaiting_sync[request.member_id] = token
        self._rebalance.asked_for_assignment(group, request.member_id)
        if request.member_id == group.leader_id:
            assignments = {assignment.member_id: bytes(assignment.assignment) for assignment in request.assignments}
            self._rebalance.propose_assignment(group, assignments, turn)

    # -- Heartbeat ----------------------------------------------------------------------------------------------------

    def heartbeat(self, group: ClassicGroup, request: HeartbeatRequest, turn: CoordinatorTurn) -> ErrorCode:
        error = group.error_of(request.member_id, request.group_instance_id)
        if error is not ErrorCode.NONE:
            return error
        if request.generation_id != group.generation_id:
            return ErrorCode.ILLEGAL_GENERATION
        self._rebalance.restart_session(group, group.members[request.member_id], turn)
        preparing = group.state is GroupState.PREPARING_REBALANCE
        return ErrorCode.REBALANCE_IN_PROGRESS if preparing else ErrorCode.NONE

    # -- leaving, by word or by silence -------------------------------------------------------------------------------

    def leave(self, group: ClassicGroup, identities: list[MemberIdentity], turn: CoordinatorTurn) -> list[ErrorCode]:
        """Remove them all, then start one rebalance; an administrator names static members by instance id alone."""
        member_count = len(group.members)
        errors = [self._leave_one(group, identity, turn) for identity in identities]
        if len(group.members) < member_count:
            names = [identity.member_id or identity.group_instance_id or "" for identity in identities]
            left = [name for name, error in zip(names, errors, strict=True) if error is ErrorCode.NONE]
            self._rebalance.prepare_or_complete(group, turn, f"{', '.join(left)} left")
        else:  # nobody who takes part in the generation; but a rebalance may have waited for an id handed out
            self._rebalance.maybe_complete_join(group, turn)
        return errors

    def _leave_one(self, group: ClassicGroup, identity: MemberIdentity, turn: CoordinatorTurn) -> ErrorCode:
        member_id = identity.member_id or group.static_member(identity.group_instance_id)
        if member_id in group.pending_joins:
            self._forget_pending(group, member_id)
            return ErrorCode.NONE
        error = group.error_of(member_id, identity.group_instance_id)
        if error is ErrorCode.NONE:
            self._remove(group, member_id, turn)
        return error

    def session_is_over(self, group: ClassicGroup, member_id: str, turn: CoordinatorTurn) -> None:
        """Handle a member's session timeout. Waiting for us does not count as silence, nor does
        it while the group's record is not committed: the answers that wait for that tell members who they are.
        """
        if member_id in group.pending_joins:
            self._forget_pending(group, member_id)
            self._rebalance.maybe_complete_join(group, turn)
            return
        member = group.members.get(member_id)
        if member is None:
            return
        is_waiting = member_id in group.awaiting_sync or (member_id in group.awaiting_join and not member.is_new)
        if is_waiting or not self._progress.is_committed(group.recorded_to):
            self._rebalance.restart_session(group, member, turn)
            return
        self._remove(group, member_id, turn)
        self._rebalance.prepare_or_complete(group, turn, f"session of {member_id} has expired")

    def hang_up(self, group: ClassicGroup, token: int) -> None:
        """Handle a closed connection of a pending request: the member keeps the rest of its session timeout.

        A new member is held to the timeout it asked for: it need not know its id, so nothing else would remove it
        soon.
        """
        member = group.unpark(token)
        if member is not None and member.is_new:
            key = TimerKey(TimerKind.SESSION, group.group_id, member.member_id)
            self._timers.schedule(key, member.joined_at_ms + member.session_timeout_ms)

    def call_to_rejoin(self, group: ClassicGroup, turn: CoordinatorTurn) -> None:
        """Answer all pending requests of a group that becomes a consumer group."""
        error = ErrorCode.REBALANCE_IN_PROGRESS
        for member_id, (token, api_version) in group.awaiting_join.items():
            turn.answer_at_once(token, answers.join_refused(error, member_id, api_version))
        for token in group.awaiting_sync.values():
            turn.answer_at_once(token, answers.sync_refused(error))
        group.awaiting_join.clear()
        group.awaiting_sync.clear()

    def dismiss(self, group: ClassicGroup, error: ErrorCode, turn: CoordinatorTurn) -> None:
        """Fail all pending requests of a group that moved to another coordinator."""
        if not (group.awaiting_join or group.awaiting_sync):
            return
        for member_id, (token, api_version) in group.awaiting_join.items():
            turn.answer_at_once(token, answers.join_refused(error, member_id, api_version))
        for token in group.awaiting_sync.values():
            turn.answer_at_once(token, answers.sync_refused(error))
        group.transition_to(GroupState.DEAD, turn.wall_ms)

    def _remove(self, group: ClassicGroup, member_id: str, turn: CoordinatorTurn) -> None:
        parked = group.awaiting_join.get(member_id)
        if parked is not None:  # should the client still be there, it joins as somebody new
            turn.answer_at_once(parked.token, answers.join_refused(ErrorCode.UNKNOWN_MEMBER_ID, "", parked.api_version))
        token = group.awaiting_sync.get(member_id)
        if token is not None:
            turn.answer_at_once(token, answers.sync_refused(ErrorCode.UNKNOWN_MEMBER_ID))
        group.remove(member_id)
        self._timers.cancel(TimerKey(TimerKind.SESSION, group.group_id, member_id))

    def _forget_pending(self, group: ClassicGroup, member_id: str) -> None:
        group.forget_pending(member_id)
        self._timers.cancel(TimerKey(TimerKind.SESSION, group.group_id, member_id))
