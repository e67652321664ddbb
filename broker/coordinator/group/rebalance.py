"""The phases of a rebalance: wait for the members to join, form a generation, wait for them to fetch their assignment.

    EMPTY or STABLE ──prepare──► PREPARING ──complete_join──► COMPLETING ──the leader's SyncGroup, replayed──► STABLE
                                     └──── nobody is left: an empty generation is recorded, replayed ────────► EMPTY

The two waits have a limit, the rebalance timeout of the slowest member (apart from the session timeout, KIP-62). The
first generation of an empty group waits a little longer than it must, so that a fleet that starts together is one.
"""

from collections.abc import Sequence

from broker.common.errors import ErrorCode
from broker.coordinator.group import answers
from broker.coordinator.group.config import EMPTY_GENERATION_RETRY_MS, GroupConfig
from broker.coordinator.group.group import ClassicGroup, GroupProposal, InitialDelay
from broker.coordinator.group.member import ClassicMember
from broker.coordinator.group.records import GroupMetadata, encode_group_key, encode_group_value
from broker.coordinator.group.states import GroupState
from broker.coordinator.group.timers import TimerKey, TimerKind
from broker.coordinator.outcome import CoordinatorTurn
from broker.coordinator.recorded_owners import encode_owners
from broker.coordinator.timers import Timers

#: Of the members that did not rejoin, so many are named in the log.
_ABSENT_NOTED_MAX = 5

_MAY_BE_INTERRUPTED = {GroupState.EMPTY, GroupState.COMPLETING_REBALANCE, GroupState.STABLE}


def propose(
    group: ClassicGroup, metadata: GroupMetadata, turn: CoordinatorTurn, newcomers: Sequence[ClassicMember] = ()
) -> None:
    """Hand out the record; nothing durable changes before it is replayed."""
    key, value = encode_group_key(group.group_id), encode_group_value(metadata)
    group.proposal = GroupProposal(metadata, newcomers)
    known = group.members | {newcomer.member_id: newcomer for newcomer in newcomers}
    turn.append(key, value, encode_owners(group.owners_of(known[m.member_id] for m in metadata.members)))


class Rebalance:
    def __init__(self, config: GroupConfig, timers: Timers[TimerKey]):
        self._config = config
        self._timers = timers

    # -- joining ------------------------------------------------------------------------------------------------------

    def prepare_or_complete(self, group: ClassicGroup, turn: CoordinatorTurn, reason: str) -> None:
        """Start a rebalance, or check whether the running one can complete, after members changed."""
        if group.state in _MAY_BE_INTERRUPTED:
            self.prepare(group, turn, reason)
        else:
            self.maybe_complete_join(group, turn)

    def prepare(self, group: ClassicGroup, turn: CoordinatorTurn, reason: str) -> None:
        """Start a rebalance: every member must rejoin, and pending SyncGroups of the generation fail."""
        turn.note("group rebalances", group_id=group.group_id, generation_id=group.generation_id, reason=reason)
        for member_id, token in group.awaiting_sync.items():
            turn.answer_at_once(token, answers.sync_refused(ErrorCode.REBALANCE_IN_PROGRESS))
            self.restart_session(group, group.members[member_id], turn)
        group.awaiting_sync.clear()
        group.pending_syncs.clear()
        self._timers.cancel(TimerKey(TimerKind.SYNC, group.group_id))
        was_empty = group.state is GroupState.EMPTY
        group.transition_to(GroupState.PREPARING_REBALANCE, turn.wall_ms)
        if was_empty:
            self._start_initial_delay(group, turn)
            return
        self._schedule(TimerKind.JOIN, group, turn, group.rebalance_timeout_ms)
        self.maybe_complete_join(group, turn)

    def maybe_complete_join(self, group: ClassicGroup, turn: CoordinatorTurn) -> None:
        """Form the generation if all members have joined and the initial delay is over."""
        is_waiting = group.state is GroupState.PREPARING_REBALANCE and group.initial_delay is None
        if is_waiting and group.have_all_joined:
            self._complete_join(group, turn)

    def join_time_is_up(self, group: ClassicGroup, turn: CoordinatorTurn) -> None:
        delay = group.initial_delay
        if delay is not None and delay.has_new_member and delay.remaining_ms > 0:
            self._extend_initial_delay(group, delay, turn)
        elif group.state is GroupState.PREPARING_REBALANCE:
            self._complete_join(group, turn)
        elif group.is_leaderless:
            self.prepare(group, turn, "it was a consumer group")

    def _start_initial_delay(self, group: ClassicGroup, turn: CoordinatorTurn) -> None:
        delay_ms = self._config.group_initial_rebalance_delay_ms
        remaining_ms = max(group.rebalance_timeout_ms - delay_ms, 0)
        group.initial_delay = InitialDelay(delay_ms, remaining_ms)
        self._schedule(TimerKind.JOIN, group, turn, delay_ms)

    def _extend_initial_delay(self, group: ClassicGroup, delay: InitialDelay, turn: CoordinatorTurn) -> None:
        delay_ms = min(self._config.group_initial_rebalance_delay_ms, delay.remaining_ms)
        group.initial_delay = InitialDelay(delay_ms, delay.remaining_ms - delay_ms)
        self._schedule(TimerKind.JOIN, group, turn, delay_ms)

    def _complete_join(self, group: ClassicGroup, turn: CoordinatorTurn) -> None:
        """Complete the join with the members that joined; static members keep their place without joining."""
        group.initial_delay = None
        self._timers.cancel(TimerKey(TimerKind.JOIN, group.group_id))
        self._remove_absent(group, turn)
        if not group.members:
            self._propose_empty(group, turn)
        elif group.elect_joined_leader():
            self._begin_generation(group, turn)
        else:  # only static members, all of them away: their sessions will tell
            self._schedule(TimerKind.JOIN, group, turn, group.rebalance_timeout_ms)

    def _remove_absent(self, group: ClassicGroup, turn: CoordinatorTurn) -> None:
        absent = [m for m in group.members.values() if m.member_id not in group.awaiting_join and not m.is_static]
        for member in absent[:_ABSENT_NOTED_MAX]:
            turn.note("member did not rejoin", group_id=group.group_id, member_id=member.member_id)
        if len(absent) > _ABSENT_NOTED_MAX:
            turn.note("more did not rejoin", group_id=group.group_id, member_count=len(absent) - _ABSENT_NOTED_MAX)
        for member in reversed(absent):  # the leader, who is first, last: each leader that goes has to be replaced
            group.remove(member.member_id)
            self._timers.cancel(TimerKey(TimerKind.SESSION, group.group_id, member.member_id))

    def _propose_empty(self, group: ClassicGroup, turn: CoordinatorTurn) -> None:
        empty = GroupMetadata(group.protocol_type or "", group.generation_id + 1, None, None, turn.wall_ms)
        propose(group, empty, turn)
        turn.note("group is empty", group_id=group.group_id, generation_id=empty.generation_id)

    def _begin_generation(self, group: ClassicGroup, turn: CoordinatorTurn) -> None:
        group.begin_generation(turn.wall_ms)
        for member_id, parked in group.awaiting_join.items():
            member = group.members[member_id]
            member.is_new = False
            turn.answer_at_once(parked.token, answers.joined(group, member_id))
            self.restart_session(group, member, turn)
        group.awaiting_join.clear()
        self._schedule(TimerKind.SYNC, group, turn, group.rebalance_timeout_ms)
        turn.note(
            "generation formed",
            group_id=group.group_id,
            generation_id=group.generation_id,
            leader_id=group.leader_id,
            member_count=len(group.members),
        )

    # -- the assignment -----------------------------------------------------------------------------------------------

    def propose_assignment(self, group: ClassicGroup, assignments: dict[str, bytes], turn: CoordinatorTurn) -> None:
        """Propose the leader's assignment; a member it left out gets an empty one. Waiting members are answered with
        the record.
        """
        group_members = group.members.values()
        recorded = (m.recorded(group.chosen_protocol, assignments.get(m.member_id, b"")) for m in group_members)
        metadata = GroupMetadata(
            protocol_type=group.protocol_type or "",
            generation_id=group.generation_id,
            protocol_name=group.protocol_name,
            leader_id=group.leader_id,
            state_timestamp_ms=turn.wall_ms,
            members=tuple(recorded),
        )
        propose(group, metadata, turn)
        for member_id, token in group.awaiting_sync.items():
            turn.answer(token, answers.synced(group, assignments.get(member_id, b"")))
            self.restart_session(group, group.members[member_id], turn)
        group.awaiting_sync.clear()

    def asked_for_assignment(self, group: ClassicGroup, member_id: str) -> None:
        group.pending_syncs.discard(member_id)
        if not group.pending_syncs:
            self._timers.cancel(TimerKey(TimerKind.SYNC, group.group_id))

    def sync_time_is_up(self, group: ClassicGroup, turn: CoordinatorTurn) -> None:
        """Remove members that joined and never asked for their assignment."""
        silent = [member_id for member_id in group.members if member_id in group.pending_syncs]
        for member_id in silent:
            group.remove(member_id)
            self._timers.cancel(TimerKey(TimerKind.SESSION, group.group_id, member_id))
        if silent:
            self.prepare(group, turn, f"no SyncGroup from {', '.join(silent)}")

    # -- both ---------------------------------------------------------------------------------------------------------

    def withdraw(self, group: ClassicGroup, turn: CoordinatorTurn) -> None:
        """Withdraw a record that could not be appended: restore the former state, or retry as soon as possible."""
        newcomers = group.proposal.newcomers if group.proposal else ()
        group.proposal = None
        if group.state is GroupState.COMPLETING_REBALANCE:
            self.prepare(group, turn, "the assignment could not be written")
        elif not newcomers:
            self._schedule(TimerKind.JOIN, group, turn, EMPTY_GENERATION_RETRY_MS)
        for newcomer in newcomers:
            self._timers.cancel(TimerKey(TimerKind.SESSION, group.group_id, newcomer.member_id))

    def downgraded(self, group: ClassicGroup, members: Sequence[ClassicMember], turn: CoordinatorTurn) -> None:
        """The group is about to be one of these members: it rebalances as soon as its record is replayed."""
        for member in members:
            self.restart_session(group, member, turn)
        self._schedule(TimerKind.JOIN, group, turn, 0)

    def forget(self, group: ClassicGroup) -> None:
        """Cancel what the group waits for: another of its name is not to be held to it."""
        for kind in (TimerKind.JOIN, TimerKind.SYNC):
            self._timers.cancel(TimerKey(kind, group.group_id))
        for member_id in (*group.members, *group.pending_joins):
            self._timers.cancel(TimerKey(TimerKind.SESSION, group.group_id, member_id))

    def restart_session(self, group: ClassicGroup, member: ClassicMember, turn: CoordinatorTurn) -> None:
        """Restart the member's session timeout after a sign of life."""
        key = TimerKey(TimerKind.SESSION, group.group_id, member.member_id)
        self._timers.schedule(key, turn.now_ms + member.session_timeout_ms)

    def _schedule(self, kind: TimerKind, group: ClassicGroup, turn: CoordinatorTurn, delay_ms: int) -> None:
        self._timers.schedule(TimerKey(kind, group.group_id), turn.now_ms + delay_ms)
