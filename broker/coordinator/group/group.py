"""One group: the generation the log knows, and the next one in the making.

`metadata` is durable and comes from replayed records only (`settle`). Everything else is volatile: it starts as the
record says, is changed by requests during a rebalance, and is gone with the broker. A new coordinator then goes on from
the last recorded generation; members of an unrecorded one are told ILLEGAL_GENERATION and join again.

A change to `metadata` is first a `proposal`; the record's replay turns it into fact, a failed append withdraws it.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from broker.common.errors import ErrorCode, InvariantViolation
from broker.common.shared_budget import UNATTRIBUTED, Owner
from broker.coordinator.group.holdings import Holdings, RecordedShare
from broker.coordinator.group.member import ClassicMember
from broker.coordinator.group.memory import GroupMemoryAccount, pending_id_bytes
from broker.coordinator.group.records import NO_TIMESTAMP, GroupMetadata
from broker.coordinator.group.states import MAY_FOLLOW, REBALANCING, GroupState


class ParkedJoin(NamedTuple):
    """A JoinGroup that waits for the others; its version decides the shape of the answer."""

    token: int
    api_version: int


@dataclass(slots=True)
class InitialDelay:
    """The wait for further members before the first generation of an empty group (group.initial.rebalance.delay.ms)."""

    delay_ms: int  #: the part being waited now
    remaining_ms: int  #: how much longer it may be extended
    has_new_member: bool = False  #: somebody joined meanwhile: extend


class GroupProposal(NamedTuple):
    """A record that has been handed out but not replayed; `newcomers` take their places in the group with it."""

    metadata: GroupMetadata
    newcomers: Sequence[ClassicMember]


class ClassicGroup:
    def __init__(self, group_id: str, account: GroupMemoryAccount):
        self.group_id = group_id
        self.holdings = Holdings(group_id, account)
        self.metadata: GroupMetadata | None = None  #: None: only offsets are known, or no generation was recorded yet
        self.recorded_to = 0  #: where the log ended with the record of `metadata`, or after it
        self.proposal: GroupProposal | None = None
        self.state = GroupState.EMPTY
        self.state_timestamp_ms = NO_TIMESTAMP
        self.generation_id = 0  #: the recorded one, or beyond it while no leader's assignment has been recorded
        self.protocol_type: str | None = None  #: never None while there are members
        self.protocol_name: str | None = None
        self.leader_id: str | None = None  #: a key of `members`, or None when there are none
        self.members: dict[str, ClassicMember] = {}  #: in order of arrival
        self.static_members: dict[str, str] = {}  #: group.instance.id: a key of `members`
        self.assignments: dict[str, bytes] = {}  #: by member id, of the recorded generation
        #: Ids handed out, not yet joined, and the clients they were handed to; disjoint from `members`.
        self.pending_joins: dict[str, Owner] = {}
        self.pending_syncs: set[str] = set()  #: subset of `members`: have not asked for their assignment
        self.awaiting_join: dict[str, ParkedJoin] = {}  #: keys are members
        self.awaiting_sync: dict[str, int] = {}  #: token by member id; keys are members; only while completing
        #: The client that the assignments proposed are counted for; None: as those of the recorded generation.
        self.next_assignments_owner: Owner | None = None
        self.initial_delay: InitialDelay | None = None  #: only while preparing the first generation of an empty group
        self._support: Counter[str] = Counter()  #: protocol name: how many members support it

    # -- memory -------------------------------------------------------------------------------------------------------

    def _hold_itself(self) -> None:
        """Charge a group with members to the client of one of them."""
        members = self.members.values()
        self.holdings.belong_to(next((m.owner for m in members), None) or next(iter(self.pending_joins.values()), None))

    # -- what may happen ----------------------------------------------------------------------------------------------

    def error_of(self, member_id: str, group_instance_id: str | None) -> ErrorCode:
        """Return NONE if this is a member; static members are known by both ids and fenced by the newer holder of
        theirs.
        """
        if group_instance_id is not None:
            holder = self.static_members.get(group_instance_id)
            if holder is not None and holder != member_id:
                return ErrorCode.FENCED_INSTANCE_ID
            if holder is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
        return ErrorCode.NONE if member_id in self.members else ErrorCode.UNKNOWN_MEMBER_ID

    @property
    def chosen_protocol(self) -> str:
        """The protocol of the current generation; empty if there is none."""
        return self.protocol_name or ""

    def static_member(self, group_instance_id: str | None) -> str:
        """Return the id of the member that stands for it, empty if none does."""
        return "" if group_instance_id is None else self.static_members.get(group_instance_id, "")

    def supports(self, protocol_type: str, protocols: Collection[str], instead_of: ClassicMember | None = None) -> bool:
        """Return whether a member of this type with these protocols would leave the group one that all have in common.

        instead_of: the member as it is now, if it joins again or comes back; what it used to support does not count.
        """
        if not self.members:
            return bool(protocol_type) and bool(protocols)
        former = instead_of.protocols.keys() if instead_of else ()
        others = len(self.members) - (instead_of is not None)
        in_common = any(self._support[name] - (name in former) == others for name in protocols)
        return protocol_type == self.protocol_type and in_common

    @property
    def have_all_joined(self) -> bool:
        return len(self.awaiting_join) == len(self.members) and not self.pending_joins

    @property
    def is_void(self) -> bool:
        """Whether the group can be forgotten: no record, no members; committed offsets would still keep it."""
        return not (self.metadata or self.proposal or self.members or self.pending_joins) and (
            self.state is GroupState.EMPTY
        )

    @property
    def work(self) -> int:
        """How many single members the group counts as when its timer fires."""
        return 1 + len(self.members) // 10

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest rebalance timeout among the members."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    @property
    def is_there(self) -> bool:
        """Whether the recorded generation has members."""
        return self.metadata is not None and bool(self.metadata.members)

    @property
    def is_leaderless(self) -> bool:
        """Whether the group is in a recorded generation that has no leader, so that it needs another."""
        return self.state is GroupState.STABLE and self.metadata is not None and self.metadata.leader_id is None

    @property
    def assignment_bytes(self) -> int:
        """The size of the recorded generation's assignments."""
        return sum(map(len, self.assignments.values()))

    # -- members ------------------------------------------------------------------------------------------------------

    def add(self, member: ClassicMember, protocol_type: str) -> None:
        if not self.members:
            self.protocol_type = protocol_type
        self.forget_pending(member.member_id)
        self.members[member.member_id] = member
        self.holdings.hold_member(member)
        self._hold_itself()
        self._support.update(member.protocols.keys())
        if member.group_instance_id is not None:
            self.static_members[member.group_instance_id] = member.member_id
        if self.leader_id is None:
            self.leader_id = member.member_id

    def hand_out(self, member_id: str, owner: Owner) -> None:
        """Charge the client for a member id it was given and has to join with."""
        self.pending_joins[member_id] = owner
        self.holdings.hold(owner, pending_id_bytes(member_id))
        self._hold_itself()

    def forget_pending(self, member_id: str) -> None:
        if member_id in self.pending_joins:
            owner = self.pending_joins.pop(member_id)
            self.holdings.hold(owner, -pending_id_bytes(member_id))
            self._hold_itself()

    def remove(self, member_id: str) -> None:
        """Forget the member and whatever it waits for; answer its parked requests before."""
        member = self.members.pop(member_id)
        self.holdings.let_go_of_member(member_id)
        self._hold_itself()
        self._lose_support(member)
        if member.group_instance_id is not None:
            del self.static_members[member.group_instance_id]
        self.pending_syncs.discard(member_id)
        self.awaiting_join.pop(member_id, None)
        self.awaiting_sync.pop(member_id, None)
        if self.leader_id == member_id:
            self.leader_id = next(iter(self.members), None)

    def replace(self, old_id: str, newcomer: ClassicMember) -> None:
        """Put a static member's new id where the old one was; answer the old one's parked requests before."""
        was_leader, was_pending = self.leader_id == old_id, old_id in self.pending_syncs
        members = self.members_after(old_id, newcomer)
        with self.holdings.at_once():
            self.remove(old_id)
            self.add(newcomer, self.protocol_type or "")
        self.members = {member.member_id: member for member in members}
        if was_leader:
            self.leader_id = newcomer.member_id
        if was_pending:
            self.pending_syncs.add(newcomer.member_id)

    def members_after(self, old_id: str, newcomer: ClassicMember) -> list[ClassicMember]:
        """Return the members, in order, with the newcomer in the old one's place."""
        return [newcomer if member.member_id == old_id else member for member in self.members.values()]

    def set_protocols(self, member: ClassicMember, protocols: dict[str, bytes], owner: Owner) -> None:
        """Set the member's protocols from its new join request. owner: the client whose memory share they count for."""
        self._lose_support(member)
        member.protocols, member.owner = protocols, owner
        with self.holdings.at_once():
            self.holdings.hold_member(member)
        self._support.update(protocols.keys())

    def _lose_support(self, member: ClassicMember) -> None:
        """Forget protocols that no member supports: clients choose their names, so they must not add up."""
        self._support.subtract(member.protocols.keys())
        for name in member.protocols:
            if not self._support[name]:
                del self._support[name]

    def unpark(self, token: int) -> ClassicMember | None:
        """Forget the parked request of this token and return its member."""
        for member_id, parked in self.awaiting_join.items():
            if parked.token == token:
                del self.awaiting_join[member_id]
                return self.members[member_id]
        for member_id, parked_token in self.awaiting_sync.items():
            if parked_token == token:
                del self.awaiting_sync[member_id]
                return self.members[member_id]
        return None

    # -- generations --------------------------------------------------------------------------------------------------

    def transition_to(self, state: GroupState, wall_ms: int) -> None:
        if self.state not in MAY_FOLLOW[state]:
            raise InvariantViolation(f"group {self.group_id}: {state.value} may not follow {self.state.value}")
        self.state = state
        self.state_timestamp_ms = wall_ms

    def elect_joined_leader(self) -> bool:
        """Keep the leader if it has joined, else take the first member that has; False if nobody has."""
        if self.leader_id not in self.awaiting_join:
            joined = next((member_id for member_id in self.members if member_id in self.awaiting_join), None)
            if joined is None:
                return False
            self.leader_id = joined
        return True

    def select_protocol(self) -> str:
        """Return the protocol most members like best among those all support; a tie goes to the earliest voter's."""
        return choose_protocol(self.members.values())

    def begin_generation(self, wall_ms: int) -> None:
        """Number the generation, choose its protocol, wait for the assignment.

        Static members that are away belong to it but are not expected to ask: only silence for a whole session ends
        their membership.
        """
        self.transition_to(GroupState.COMPLETING_REBALANCE, wall_ms)
        self.generation_id += 1
        self.protocol_name = self.select_protocol()
        self.pending_syncs = set(self.awaiting_join)

    def settle(self, metadata: GroupMetadata, owners: Sequence[Owner] = ()) -> None:
        """Become what a replayed record says: our own proposal, or an earlier one while the partition is loaded.

        owners: as the record names them, see `owners_of`; members that are known have their own.
        """
        state = GroupState.STABLE if metadata.members else GroupState.EMPTY
        if self.state in REBALANCING and self.state not in MAY_FOLLOW[state]:
            raise InvariantViolation(f"group {self.group_id}: a record of {state.value} during {self.state.value}")
        known = self._members_of(self.proposal, metadata) if self.proposal else {}
        self.metadata, self.proposal, self.initial_delay = metadata, None, None
        self.state, self.state_timestamp_ms = state, metadata.state_timestamp_ms
        self.generation_id, self.protocol_name = metadata.generation_id, metadata.protocol_name
        self.assignments = {member.member_id: member.assignment for member in metadata.members}
        of_record = owners if len(owners) == len(metadata.members) + 1 else (None,) * (len(metadata.members) + 1)
        members = [
            known.get(recorded.member_id) or ClassicMember.from_record(recorded, metadata, owner)
            for recorded, owner in zip(metadata.members, of_record, strict=False)
        ]
        with self.holdings.at_once():
            self._settle_members(members, metadata, of_record[-1])

    def owners_of(self, members: Iterable[ClassicMember]) -> list[Owner]:
        """Return the clients that a record of these members is counted for.

        They are those of the members in order, and last the one of the assignments, or, of an empty group, of the
        group itself.
        """
        owners = [member.owner for member in members]
        last = (self.next_assignments_owner or self.holdings.assignments_owner) if owners else self.holdings.owner
        return [*owners, last or UNATTRIBUTED]

    def _members_of(self, proposal: GroupProposal, metadata: GroupMetadata) -> dict[str, ClassicMember]:
        """Return the current members, of which more is known than a record has."""
        proposed, newcomers = proposal
        if proposed != metadata:
            raise InvariantViolation(f"group {self.group_id}: the record replayed is not the one proposed")
        return self.members | {newcomer.member_id: newcomer for newcomer in newcomers}

    def _settle_members(self, members: list[ClassicMember], metadata: GroupMetadata, last_owner: Owner | None) -> None:
        """Settle the members' memory. last_owner: see `owners_of`; None if the record names none."""
        for member_id in self.members:
            self.holdings.let_go_of_member(member_id)
        recorded = {
            member.member_id: RecordedShare(member.owner, of_record.size_bytes)
            for member, of_record in zip(members, metadata.members, strict=True)
        }
        payer = last_owner or self.holdings.assignments_owner or UNATTRIBUTED
        self.next_assignments_owner = None
        self.holdings.record(recorded, RecordedShare(payer, self.assignment_bytes) if members else None)
        if not members and last_owner is not None and last_owner != UNATTRIBUTED and self.holdings.owner is None:
            self.holdings.belong_to(last_owner)
        self.members, self.static_members, self.leader_id = {}, {}, metadata.leader_id
        self._support.clear()
        for member in members:
            self.add(member, metadata.protocol_type)
        self._hold_itself()
        self.protocol_type = metadata.protocol_type or None
        self.pending_syncs &= self.members.keys()


def choose_protocol(members: Iterable[ClassicMember]) -> str:
    """See `ClassicGroup.select_protocol`; there must be members, and a protocol they have in common."""
    voters = list(members)
    candidates = set.intersection(*(set(member.protocols) for member in voters))
    votes = Counter(member.vote(candidates) for member in voters)
    return votes.most_common(1)[0][0]
