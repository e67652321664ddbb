"""What the groups of all coordinators of one broker hold in memory, in bytes, as it stands in memory.

A member's metadata outlives its connection, a committed offset outlives its client: neither may fill a broker. What is
counted is what clients decide on (names, metadata, assignments, offsets) with about what Python takes for each besides.

There are three budgets, each with a share for each client (`common/shared_budget.py`). Members are measured by their
own: stored offsets never refuse a join. Offsets of groups that have or had members are apart from those of groups that
only consist of offsets, which a client makes up as fast as it can send. An acknowledged offset is never dropped to make
room: new ones of the client that holds too much are refused.

What a client holds becomes another client's only where that one has room for it; otherwise two clients would pass on
to each other what neither of them may hold. The records name the clients (`coordinator/recorded_owners.py`), so that
each holds after a restart what it held before.
"""

from dataclasses import dataclass

from broker.common.limits import (
    GROUP_MEMBERS_BYTES_MAX,
    GROUP_NEWCOMER_BYTES,
    GROUP_OFFSETS_BYTES_MAX,
    SIMPLE_OFFSETS_BYTES_MAX,
)
from broker.common.shared_budget import UNATTRIBUTED, HeldPart, Owner, SharedBudget, SharedBudgets
from broker.coordinator.fields import text_bytes
from broker.coordinator.recorded_owners import Committer, Headers, decode_committer

#: A group; a member, as much again for its place in a record; a protocol of a member; a member id handed out; a
#: committed offset.
GROUP_BYTES = 2_048
MEMBER_BYTES = 1_280
PROTOCOL_BYTES = 320
PENDING_ID_BYTES = 512
OFFSET_BYTES = 320


def group_bytes(group_id: str) -> int:
    return GROUP_BYTES + text_bytes(group_id)


def pending_id_bytes(member_id: str) -> int:
    return PENDING_ID_BYTES + text_bytes(member_id)


class GroupMemory(SharedBudgets):
    """The budgets of one broker, asked before more is taken."""

    def __init__(
        self,
        members_bytes_max: int = GROUP_MEMBERS_BYTES_MAX,
        group_offsets_bytes_max: int = GROUP_OFFSETS_BYTES_MAX,
        simple_offsets_bytes_max: int = SIMPLE_OFFSETS_BYTES_MAX,
    ):
        self.members = SharedBudget(members_bytes_max, GROUP_NEWCOMER_BYTES)
        self.group_offsets = SharedBudget(group_offsets_bytes_max, GROUP_NEWCOMER_BYTES)
        self.simple_offsets = SharedBudget(simple_offsets_bytes_max, GROUP_NEWCOMER_BYTES)
        super().__init__(
            "delete groups that are not needed, or give clients principals of their own",
            {"members": self.members, "group offsets": self.group_offsets, "simple offsets": self.simple_offsets},
        )

    @property
    def bytes_held(self) -> int:
        return sum(budget.held for _, budget in self.budgets())

    def may_join(self, owner: Owner, byte_count: int, *, is_group_there: bool) -> bool:
        """Return whether members may take so much more; those of a group that is there are doubled if need be."""
        if self.members.has_room_for(owner, byte_count):
            return True
        return is_group_there and self.members.may_double(owner, byte_count)

    def account(self) -> "GroupMemoryAccount":
        return GroupMemoryAccount(self)


@dataclass(slots=True)
class _StoredOffsets:
    """The memory that the offsets of one group take: in which budget, and for which client."""

    part: HeldPart
    owner: Owner
    byte_count: int = 0

    def move(self, part: HeldPart, owner: Owner) -> None:
        self.part.hold(self.owner, -self.byte_count)
        self.part, self.owner = part, owner
        self.part.hold(self.owner, self.byte_count)


class GroupMemoryAccount:
    """What one coordinator's groups hold."""

    def __init__(self, memory: GroupMemory):
        self.members = HeldPart(memory.members)
        self._group_offsets = HeldPart(memory.group_offsets)
        self._simple_offsets = HeldPart(memory.simple_offsets)
        self.is_loading = True  #: what is replayed was admitted before
        self._stored: dict[str, _StoredOffsets] = {}  #: by group id
        #: Of the records that are replayed next: the group, and where its offsets are counted from now on.
        self._committer: tuple[str, HeldPart, Owner] | None = None

    def hold_for_offsets(self, group_id: str, byte_count: int) -> None:
        """Charge bytes of the group's offsets, and of the group itself."""
        stored = self._stored.get(group_id)
        if stored is None:
            stored = self._stored[group_id] = _StoredOffsets(self._simple_offsets, UNATTRIBUTED)
        if self._committer is not None and self._committer[0] == group_id:
            _, part, owner = self._committer
            if stored.owner != owner or stored.part is not part:
                stored.move(part, owner)
        if not byte_count:
            return
        stored.byte_count += byte_count
        stored.part.hold(stored.owner, byte_count)
        if not stored.byte_count:
            del self._stored[group_id]

    def has_stored(self, group_id: str) -> bool:
        return group_id in self._stored

    def begin_commit(self, group_id: str, owner: Owner, growth: int, *, has_had_members: bool) -> bool:
        """Return whether there is memory for the commit's growth in bytes, which may be negative.

        What is replayed next is counted for the client if it has room for all offsets of the group, else for the
        client that holds them, which needs room as well.
        """
        part = self._group_offsets if has_had_members else self._simple_offsets
        stored = self._stored.get(group_id) or _StoredOffsets(part, owner)
        is_same = stored.part is part and stored.owner == owner
        if is_same and growth <= 0:
            self._committer = group_id, part, owner
            return True
        takes_over = growth > 0 or stored.owner == UNATTRIBUTED
        self._committer = None
        if not is_same and takes_over and part.budget.has_room_for(owner, stored.byte_count + growth):
            self._committer = group_id, part, owner
            return True
        has_room = part.budget.has_room_for(owner, growth) and stored.part.budget.has_room_for(stored.owner, growth)
        if has_room:
            self._committer = group_id, stored.part, stored.owner
        return has_room

    def _part(self, of_members: bool) -> HeldPart:
        return self._group_offsets if of_members else self._simple_offsets

    def load_commit(self, group_id: str, headers: Headers) -> None:
        """Count the offset that is loaded next for the client its record names."""
        self._committer, committer = None, decode_committer(headers)
        if committer is not None:
            self._committer = group_id, self._part(committer.of_members), committer.owner

    def end_commit(self) -> None:
        """Note that the records replayed from now on have no known client."""
        self._committer = None

    def end_load(self) -> None:
        self.is_loading = False
        for part in self._parts():
            part.is_loading = False

    def _parts(self) -> tuple[HeldPart, ...]:
        return self.members, self._group_offsets, self._simple_offsets

    @property
    def committer(self) -> Committer:
        """The client that the commit in this turn is counted for, as its records name it."""
        if self._committer is None:
            return Committer(UNATTRIBUTED, False)
        _, part, owner = self._committer
        return Committer(owner, part is self._group_offsets)

    def note_members(self, group_id: str) -> None:
        """Mark the group's offsets as those of a group with members, if their client's memory has room."""
        stored = self._stored.get(group_id)
        if stored is None or stored.part is not self._simple_offsets:
            return
        is_free = self.is_loading and stored.owner == UNATTRIBUTED
        if is_free or self._group_offsets.budget.has_room_for(stored.owner, stored.byte_count):
            stored.move(self._group_offsets, stored.owner)

    def close(self) -> None:
        """Free the memory of the coordinator, loaded or not."""
        for part in self._parts():
            part.close()
        self._stored = {}
