"""What one group holds in memory, and for which clients: each member for the client that joined as it.

A member is counted with its place in the next record from the start, so that a generation never takes more than was
asked for. The group itself is counted with its members, and, from its first offset on, with its offsets, too: then it
is admitted twice, and outlives its members without being asked for again. One that never had an offset is counted for
its last member until it is forgotten.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from broker.common.shared_budget import Owner
from broker.coordinator.group.member import ClassicMember
from broker.coordinator.group.memory import GroupMemoryAccount, group_bytes


class RecordedShare(NamedTuple):
    """The part of a group's record that is counted for one client."""

    owner: Owner
    byte_count: int


class Holdings:
    def __init__(self, group_id: str, account: GroupMemoryAccount):
        self._group_id = group_id
        self._account = account
        self._held: dict[Owner, int] = {}  #: of members and of the group itself, all together
        self._members: dict[str, RecordedShare] = {}  #: by member id, without what the record holds of it already
        self._recorded: dict[str, RecordedShare] = {}  #: by member id, of the generation that was recorded last
        self._assignments: RecordedShare | None = None
        self._changes: dict[Owner, int] | None = None  #: not counted yet, while many things change at once
        self._has_members = False
        self._is_stored = False
        self.owner: Owner | None = None  #: the client that the group itself is counted for, besides its offsets

    def hold(self, owner: Owner, byte_count: int) -> None:
        """Charge bytes of members and of handed-out ids; fewer if `byte_count` is negative."""
        if self._changes is not None:
            self._changes[owner] = self._changes.get(owner, 0) + byte_count
            return
        self._held[owner] = self._held.get(owner, 0) + byte_count
        if not self._held[owner]:
            del self._held[owner]
        self._account.members.hold(owner, byte_count)

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Count what changes within as one change: what is given back and taken again was never missing."""
        self._changes = {}
        try:
            yield
        finally:
            changes, self._changes = self._changes, None
            for owner, byte_count in changes.items():
                self.hold(owner, byte_count)

    # -- members ------------------------------------------------------------------------------------------------------

    def size_of(self, member: ClassicMember) -> int:
        """Return the bytes of the member, without what the recorded generation holds of it."""
        recorded = self._recorded.get(member.member_id)
        return member.size_bytes + max(0, member.record_bytes - (recorded.byte_count if recorded else 0))

    def held_by_member(self, member_id: str) -> int:
        share = self._members.get(member_id)
        return share.byte_count if share else 0

    def hold_member(self, member: ClassicMember) -> None:
        """Count the member as it is now."""
        self.let_go_of_member(member.member_id)
        self._members[member.member_id] = RecordedShare(member.owner, self.size_of(member))
        self.hold(*self._members[member.member_id])

    def let_go_of_member(self, member_id: str) -> None:
        share = self._members.pop(member_id, None)
        if share is not None:
            self.hold(share.owner, -share.byte_count)

    def record(self, members: Mapping[str, RecordedShare], assignments: RecordedShare | None) -> None:
        """Count the generation that was recorded, instead of the one before; its members are counted anew afterwards.

        assignments: of all members together; None for a generation without members.
        """
        for share in self._recorded_shares():
            self.hold(share.owner, -share.byte_count)
        self._recorded, self._assignments = dict(members), assignments
        for share in self._recorded_shares():
            self.hold(*share)
        self._account.note_members(self._group_id)

    def _recorded_shares(self) -> Iterable[RecordedShare]:
        yield from self._recorded.values()
        if self._assignments is not None:
            yield self._assignments

    @property
    def assignments_owner(self) -> Owner | None:
        """The client that the assignments of the recorded generation are counted for; None if there is none."""
        return self._assignments.owner if self._assignments else None

    # -- the group itself ---------------------------------------------------------------------------------------------

    @property
    def bytes_for_a_member(self) -> int:
        """The memory the group itself needs for one more member."""
        return 0 if self.owner is not None else group_bytes(self._group_id)

    def belong_to(self, owner: Owner | None) -> None:
        """Count the group for the client of a member; None: it has none."""
        self._has_members = owner is not None
        if owner is not None and self.owner is None:
            self.owner = owner
            self.hold(owner, group_bytes(self._group_id))
        elif owner is None and self._is_stored:
            self._release_itself()

    def store(self) -> None:
        """Count the group with its offsets from now on."""
        if self._is_stored:
            return
        self._is_stored = True
        self._account.hold_for_offsets(self._group_id, group_bytes(self._group_id))
        if not self._has_members:
            self._release_itself()

    def _release_itself(self) -> None:
        if self.owner is not None:
            self.hold(self.owner, -group_bytes(self._group_id))
            self.owner = None

    def let_go(self) -> None:
        """Forget the group and free its memory."""
        for owner, byte_count in list(self._held.items()):
            self.hold(owner, -byte_count)
        self._members, self._recorded, self._assignments, self.owner = {}, {}, None, None
        if self._is_stored:
            self._is_stored = False
            self._account.hold_for_offsets(self._group_id, -group_bytes(self._group_id))
