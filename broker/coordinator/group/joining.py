"""JoinGroup: who may become a member, who takes whose place, and when that starts a rebalance."""

from collections.abc import Callable

from broker.common.errors import ErrorCode
from broker.common.limits import (
    CLIENT_ID_LENGTH_MAX,
    GROUP_NAME_LENGTH_MAX,
    MEMBER_METADATA_BYTES_MAX,
    REBALANCE_TIMEOUT_MS_MAX,
)
from broker.coordinator.group import answers
from broker.coordinator.group.client import GroupClientInfo
from broker.coordinator.group.config import NEW_MEMBER_JOIN_TIMEOUT_MS, PENDING_MEMBERS_MAX, GroupConfig
from broker.coordinator.group.group import ClassicGroup, ParkedJoin, choose_protocol
from broker.coordinator.group.member import ClassicMember
from broker.coordinator.group.memory import PROTOCOL_BYTES, GroupMemory, pending_id_bytes
from broker.coordinator.group.rebalance import Rebalance, propose
from broker.coordinator.group.records import GroupMetadata
from broker.coordinator.group.states import GroupState
from broker.coordinator.group.timers import TimerKey, TimerKind
from broker.coordinator.outcome import CoordinatorTurn
from broker.coordinator.timers import Timers
from broker.protocol.messages.join_group import JoinGroupRequest

#: From this version on a new dynamic member is first told its id and joins with it (KIP-394), so that a client that
#: lost the answer does not leave a second self behind.
_MEMBER_ID_REQUIRED_VERSION = 4

#: Characters of the client id (or group.instance.id) that begin a member id; the rest would only be in the way.
_MEMBER_ID_PREFIX_MAX = 255
#: Characters that make a member id unique: a hyphen and a UUID.
_UNIQUE_LENGTH = 37


class Join:
    """One JoinGroup request: what it says, in our terms, and how to answer it."""

    def __init__(self, request: JoinGroupRequest, client: GroupClientInfo, token: int, turn: CoordinatorTurn):
        self.request = request
        self.client = client
        self.token = token
        self.turn = turn
        self.owner = client.owner  #: the client that the member is counted for
        #: What a member id that is made for it begins with.
        self.id_prefix = (request.group_instance_id or client.client_id)[:_MEMBER_ID_PREFIX_MAX]
        #: The metadata is kept for as long as the member lives, the frame it came in is not.
        self.protocols = {protocol.name: bytes(protocol.metadata) for protocol in request.protocols}
        self.rebalance_timeout_ms = min(request.rebalance_timeout_ms, REBALANCE_TIMEOUT_MS_MAX)
        if self.rebalance_timeout_ms < 0:  # version 0 has one timeout for both
            self.rebalance_timeout_ms = request.session_timeout_ms

    def refuse(self, error: ErrorCode, member_id: str) -> None:
        self.turn.answer_at_once(self.token, answers.join_refused(error, member_id, self.client.api_version))

    def new_member(self, member_id: str) -> ClassicMember:
        return ClassicMember(
            member_id=member_id,
            group_instance_id=self.request.group_instance_id,
            client_id=self.client.client_id[:CLIENT_ID_LENGTH_MAX],
            client_host=self.client.client_host,
            session_timeout_ms=self.request.session_timeout_ms,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            protocols=self.protocols,
            joined_at_ms=self.turn.now_ms,
            owner=self.owner,
        )

    @property
    def reason(self) -> str:
        return f" ({self.request.reason})" if self.request.reason else ""


class Joining:
    def __init__(
        self,
        config: GroupConfig,
        timers: Timers[TimerKey],
        rebalance: Rebalance,
        new_member_id: Callable[[str], str],
        memory: GroupMemory,
    ):
        self._config = config
        self._memory = memory
        self._timers = timers
        self._rebalance = rebalance
        self._new_member_id = new_member_id

    def error_of(self, request: JoinGroupRequest) -> ErrorCode:
        """Return the error of the request independent of the group's state; NONE if there is none."""
        if not request.group_id or len(request.group_id) > GROUP_NAME_LENGTH_MAX:
            return ErrorCode.INVALID_GROUP_ID
        shortest, longest = self._config.group_min_session_timeout_ms, self._config.group_max_session_timeout_ms
        if not shortest <= request.session_timeout_ms <= longest:
            return ErrorCode.INVALID_SESSION_TIMEOUT
        stored = [request.protocol_type, request.group_instance_id or "", *(p.name for p in request.protocols)]
        are_too_long = any(len(name) > GROUP_NAME_LENGTH_MAX for name in stored)
        metadata_bytes = sum(len(protocol.metadata) for protocol in request.protocols)
        is_too_much = max(metadata_bytes, len(request.protocols) * PROTOCOL_BYTES) > MEMBER_METADATA_BYTES_MAX
        return ErrorCode.INVALID_REQUEST if are_too_long or is_too_much else ErrorCode.NONE

    def join(self, group: ClassicGroup, join: Join) -> None:
        request = join.request
        if not self._has_room(group, request):
            self._turn_away(group, join)
        elif not self._admit(group, join):
            self._memory.refuse(self._memory.members, join.client.owner, join.turn.wall_ms)
            join.refuse(ErrorCode.COORDINATOR_NOT_AVAILABLE, request.member_id)
        elif not group.supports(request.protocol_type, join.protocols, instead_of=_present_self(group, request)):
            join.refuse(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, request.member_id)
        elif not request.member_id:
            self._join_without_id(group, join)
        elif request.member_id in group.pending_joins and request.group_instance_id is None:
            self._add(group, join, request.member_id)
        else:
            self._join_again(group, join)

    def _admit(self, group: ClassicGroup, join: Join) -> bool:
        """Return whether the request may make the broker hold what it does, and decide for which client that is.

        A member that comes back as another client is that client's if it has room for the whole of it, else, if it
        takes no more than before, still the former client's.
        """
        present, owner = _present_self(group, join.request), join.client.owner
        if present is None and self._is_to_get_id(join):
            taken = pending_id_bytes(join.id_prefix) + _UNIQUE_LENGTH
        else:
            taken = group.holdings.size_of(join.new_member(join.request.member_id))
        held = group.holdings.held_by_member(present.member_id) if present is not None else 0
        own = held if present is not None and present.owner == owner else 0
        growth = taken - own + (group.holdings.bytes_for_a_member if present is None else 0)
        if self._memory.may_join(owner, growth, is_group_there=group.is_there):
            return True
        if present is not None and taken <= held:
            join.owner = present.owner
            return True
        return False

    def _is_to_get_id(self, join: Join) -> bool:
        request = join.request
        is_dynamic = not request.member_id and request.group_instance_id is None
        return is_dynamic and join.client.api_version >= _MEMBER_ID_REQUIRED_VERSION

    def _has_room(self, group: ClassicGroup, request: JoinGroupRequest) -> bool:
        """Return whether the member may join: existing and returning static ones always, others up to the maximum.

        While a group prepares, those who have joined are counted: of a group that is too large the last ones go.
        """
        if group.state is GroupState.EMPTY:
            return True
        if group.state is GroupState.PREPARING_REBALANCE:
            return request.member_id in group.awaiting_join or len(group.awaiting_join) < self._config.group_max_size
        is_known = request.member_id in group.members or request.group_instance_id in group.static_members
        return is_known or len(group.members) < self._config.group_max_size

    def _turn_away(self, group: ClassicGroup, join: Join) -> None:
        member_id = join.request.member_id
        group.forget_pending(member_id)
        if member_id in group.members:
            group.remove(member_id)
        self._timers.cancel(TimerKey(TimerKind.SESSION, group.group_id, member_id))
        join.refuse(ErrorCode.GROUP_MAX_SIZE_REACHED, "")
        self._rebalance.maybe_complete_join(group, join.turn)

    # -- members without an id ----------------------------------------------------------------------------------------

    def _join_without_id(self, group: ClassicGroup, join: Join) -> None:
        instance_id = join.request.group_instance_id
        new_id = self._new_member_id(join.id_prefix)
        if instance_id in group.static_members:
            self._return(group, join, group.static_members[instance_id], new_id)
        elif self._is_to_get_id(join):
            self._hand_out_id(group, join, new_id)
        else:
            self._add(group, join, new_id)

    def _hand_out_id(self, group: ClassicGroup, join: Join, new_id: str) -> None:
        if len(group.pending_joins) >= PENDING_MEMBERS_MAX:
            join.refuse(ErrorCode.GROUP_MAX_SIZE_REACHED, "")
            return
        group.hand_out(new_id, join.owner)
        key = TimerKey(TimerKind.SESSION, group.group_id, new_id)
        self._timers.schedule(key, join.turn.now_ms + join.request.session_timeout_ms)
        join.refuse(ErrorCode.MEMBER_ID_REQUIRED, new_id)

    def _add(self, group: ClassicGroup, join: Join, member_id: str) -> None:
        member = join.new_member(member_id)
        member.is_new = True
        if group.initial_delay is not None:
            group.initial_delay.has_new_member = True
        group.add(member, join.request.protocol_type)
        self._park(group, join, member)
        self._rebalance.prepare_or_complete(group, join.turn, f"{member_id} joined{join.reason}")

    # -- static members that come back under a new id -----------------------------------------------------------------

    def _return(self, group: ClassicGroup, join: Join, old_id: str, new_id: str) -> None:
        """Let a restarted process of a group.instance.id take its member over; the old member id is fenced."""
        newcomer = join.new_member(new_id)
        if group.state is GroupState.STABLE:
            members = group.members_after(old_id, newcomer)
            if choose_protocol(members) == group.protocol_name:
                self._return_quietly(group, join, old_id, newcomer, members)
                return
        self._fence(group, join.turn, old_id)
        group.replace(old_id, newcomer)
        self._park(group, join, newcomer)
        self._rebalance.prepare_or_complete(group, join.turn, f"{new_id} takes the place of {old_id}{join.reason}")

    def _return_quietly(
        self, group: ClassicGroup, join: Join, old_id: str, newcomer: ClassicMember, members: list[ClassicMember]
    ) -> None:
        """Replace a static member's id without a rebalance: record the generation with the new one (KIP-345)."""
        new_ids = {old_id: newcomer.member_id}
        assignments = {new_ids.get(member_id, member_id): a for member_id, a in group.assignments.items()}
        recorded = (m.recorded(group.chosen_protocol, assignments.get(m.member_id, b"")) for m in members)
        metadata = GroupMetadata(
            protocol_type=group.protocol_type or "",
            generation_id=group.generation_id,
            protocol_name=group.protocol_name,
            leader_id=new_ids.get(group.leader_id or "", group.leader_id),
            state_timestamp_ms=group.state_timestamp_ms,
            members=tuple(recorded),
        )
        propose(group, metadata, join.turn, [newcomer])
        self._rebalance.restart_session(group, newcomer, join.turn)
        answer = answers.returned(group, old_id, newcomer.member_id, join.client.api_version)
        join.turn.answer(join.token, answer)

    def _fence(self, group: ClassicGroup, turn: CoordinatorTurn, old_id: str) -> None:
        parked = group.awaiting_join.pop(old_id, None)
        if parked is not None:
            refusal = answers.join_refused(ErrorCode.FENCED_INSTANCE_ID, old_id, parked.api_version)
            turn.answer_at_once(parked.token, refusal)
        if (token := group.awaiting_sync.pop(old_id, None)) is not None:
            turn.answer_at_once(token, answers.sync_refused(ErrorCode.FENCED_INSTANCE_ID))
        self._timers.cancel(TimerKey(TimerKind.SESSION, group.group_id, old_id))

    # -- members there are --------------------------------------------------------------------------------------------

    def _join_again(self, group: ClassicGroup, join: Join) -> None:
        request = join.request
        error = group.error_of(request.member_id, request.group_instance_id)
        if error is not ErrorCode.NONE:
            join.refuse(error, request.member_id)
        elif self._changes_nothing(group, join):
            self._rebalance.restart_session(group, group.members[request.member_id], join.turn)
            join.turn.answer_at_once(join.token, answers.joined(group, request.member_id))
        else:
            self._update(group, join, group.members[request.member_id])

    def _changes_nothing(self, group: ClassicGroup, join: Join) -> bool:
        """Return whether the join changes nothing: its answer got lost, or a follower asks again, and the current
        generation is sent.

        A leader that joins a stable group wants a new assignment, for reasons it need not put in its metadata.
        """
        member_id = join.request.member_id
        if not group.members[member_id].matches(join.protocols):
            return False
        if group.state is GroupState.STABLE:
            return member_id != group.leader_id
        return group.state is GroupState.COMPLETING_REBALANCE

    def _update(self, group: ClassicGroup, join: Join, member: ClassicMember) -> None:
        group.set_protocols(member, join.protocols, join.owner)
        member.session_timeout_ms = join.request.session_timeout_ms
        member.rebalance_timeout_ms = join.rebalance_timeout_ms
        self._park(group, join, member)
        self._rebalance.prepare_or_complete(group, join.turn, f"{member.member_id} joined again{join.reason}")

    def _park(self, group: ClassicGroup, join: Join, member: ClassicMember) -> None:
        """Park the JoinGroup until the others have joined; an earlier one of the same member is answered now."""
        earlier = group.awaiting_join.get(member.member_id)
        if earlier is not None:
            error = ErrorCode.REBALANCE_IN_PROGRESS
            refusal = answers.join_refused(error, member.member_id, earlier.api_version)
            join.turn.answer_at_once(earlier.token, refusal)
        group.awaiting_join[member.member_id] = ParkedJoin(join.token, join.client.api_version)
        patience_ms = NEW_MEMBER_JOIN_TIMEOUT_MS if member.is_new else member.session_timeout_ms
        key = TimerKey(TimerKind.SESSION, group.group_id, member.member_id)
        self._timers.schedule(key, join.turn.now_ms + patience_ms)


def _present_self(group: ClassicGroup, request: JoinGroupRequest) -> ClassicMember | None:
    """Return the member this request comes from, or whose place it wants."""
    member_id = request.member_id or group.static_member(request.group_instance_id)
    return group.members.get(member_id)
