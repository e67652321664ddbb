"""What one group holds in memory, and for which clients: each member for the client that joined as it."""

from collections.abc import Iterable

from broker.common.shared_budget import Owner
from broker.coordinator.group.memory import GROUP_BYTES, Account


class Holdings:
    def __init__(self, group_id: str, account: Account):
        self._group_id = group_id
        self._account = account
        self._own_bytes = GROUP_BYTES + len(group_id)
        self._members: dict[Owner, int] = {}
        self._recorded: list[tuple[Owner, int]] = []
        self._owner: Owner | None = None  #: whose the group itself is while it has members
        account.hold_for_offsets(group_id, self._own_bytes)

    def hold(self, owner: Owner, byte_count: int) -> None:
        """Bytes of members, and of ids handed out; fewer if `byte_count` is negative."""
        self._members[owner] = self._members.get(owner, 0) + byte_count
        if not self._members[owner]:
            del self._members[owner]
        self._account.hold_for_members(owner, byte_count)

    def record(self, members: Iterable[tuple[Owner, int]]) -> None:
        """Count the members of the generation that was recorded, instead of those of the one before."""
        for owner, byte_count in self._recorded:
            self.hold(owner, -byte_count)
        self._recorded = list(members)
        for owner, byte_count in self._recorded:
            self.hold(owner, byte_count)
        self._account.note_members(self._group_id)

    def belong_to(self, owner: Owner | None) -> None:
        """Count the group itself as a member's, or, for None, as what its offsets hold."""
        if (owner is None) == (self._owner is None):
            return
        if owner is not None:
            self._account.hold_for_offsets(self._group_id, -self._own_bytes)
            self.hold(owner, self._own_bytes)
        elif self._owner is not None:
            self.hold(self._owner, -self._own_bytes)
            self._account.hold_for_offsets(self._group_id, self._own_bytes, self._owner)
        self._owner = owner

    def let_go(self) -> None:
        """The group is forgotten."""
        self.belong_to(None)
        for owner, byte_count in list(self._members.items()):
            self.hold(owner, -byte_count)
        self._recorded = []
        self._account.hold_for_offsets(self._group_id, -self._own_bytes)
