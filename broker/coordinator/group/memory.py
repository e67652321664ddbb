"""What the groups of all coordinators of one broker hold in memory, in bytes, as it stands in memory.

A member's metadata outlives its connection, a committed offset outlives its client: neither may fill a broker. What is
counted is what clients decide on (names, metadata, assignments, offsets) with about what Python takes for each besides.

There are three budgets, each with a share for each client (`common/shared_budget.py`). Members are measured by their
own: stored offsets never refuse a join. Offsets of groups that have or had members are apart from those of groups that
only consist of offsets, which a client makes up as fast as it can send. An acknowledged offset is never dropped to make
room: new ones of the client that holds too much are refused.

Offsets are counted for the client that last made its group's grow. The records of `__consumer_offsets` do not name
clients, so what a coordinator has loaded is unattributed until the group grows again.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from broker.common.limits import (
    GROUP_MEMBERS_BYTES_MAX,
    GROUP_OFFSETS_BYTES_MAX,
    REFUSALS_LOGGED_EVERY_S,
    SIMPLE_OFFSETS_BYTES_MAX,
)
from broker.common.shared_budget import UNATTRIBUTED, Owner, SharedBudget

#: A group without members; a member or its place in a record; a member id handed out; a committed offset.
GROUP_BYTES = 2_048
MEMBER_BYTES = 1_024
PENDING_ID_BYTES = 512
OFFSET_BYTES = 256

#: Shares a client has for a group that is there already: its rebalances go on when the client may not add groups.
_SHARES_FOR_A_GROUP_THERE_IS = 2


class GroupMemory:
    """The budgets of one broker, asked before more is taken."""

    def __init__(
        self,
        members_bytes_max: int = GROUP_MEMBERS_BYTES_MAX,
        group_offsets_bytes_max: int = GROUP_OFFSETS_BYTES_MAX,
        simple_offsets_bytes_max: int = SIMPLE_OFFSETS_BYTES_MAX,
    ):
        self.members = SharedBudget(members_bytes_max)
        self.group_offsets = SharedBudget(group_offsets_bytes_max)
        self.simple_offsets = SharedBudget(simple_offsets_bytes_max)
        self._refusals_logged_at_ms: int | None = None
        self._refused_when_logged = 0
        self._last_refused: tuple[SharedBudget, Owner] | None = None  #: not logged yet

    def budgets(self) -> Iterator[tuple[str, SharedBudget]]:
        yield "members", self.members
        yield "group offsets", self.group_offsets
        yield "simple offsets", self.simple_offsets

    @property
    def bytes_held(self) -> int:
        return sum(budget.held for _, budget in self.budgets())

    def may_join(self, owner: Owner) -> bool:
        return self.members.has_room_for(owner)

    def may_assign(self, owner: Owner) -> bool:
        """Whether a leader's assignment may take more than the one before."""
        return self.members.has_room_for(owner, _SHARES_FOR_A_GROUP_THERE_IS)

    def refuse(self, budget: SharedBudget, owner: Owner, wall_ms: int) -> None:
        budget.refuse(owner, wall_ms)
        self._last_refused = budget, owner

    def refusals_to_log(self, now_ms: int) -> dict[str, object]:
        """The facts of one log line about the refusals since the last line; empty while there is nothing to log."""
        refused = sum(budget.refused for _, budget in self.budgets())
        logged_at_ms = self._refusals_logged_at_ms
        is_too_soon = logged_at_ms is not None and now_ms - logged_at_ms < REFUSALS_LOGGED_EVERY_S * 1_000
        if self._last_refused is None or is_too_soon:
            return {}
        (budget, owner), new = self._last_refused, refused - self._refused_when_logged
        self._refusals_logged_at_ms, self._refused_when_logged, self._last_refused = now_ms, refused, None
        return {
            "memory": next(name for name, each in self.budgets() if each is budget),
            "principal": owner.principal or "unknown (loaded from the log)",
            "address": owner.host,
            "bytes": budget.held_by(owner),
            "bytes_of_all": budget.held,
            "bytes_max": budget.size,
            "refused": new,
            "hint": "delete groups that are not needed, or give clients principals of their own",
        }

    def account(self) -> "Account":
        return Account(self)


@dataclass(slots=True)
class _StoredOffsets:
    """What the offsets of one group hold: of which budget, and for whom."""

    budget: SharedBudget
    owner: Owner
    byte_count: int = 0

    def move(self, budget: SharedBudget, owner: Owner) -> None:
        self.budget.hold(self.owner, -self.byte_count)
        self.budget, self.owner = budget, owner
        self.budget.hold(self.owner, self.byte_count)


class Account:
    """What one coordinator's groups hold."""

    def __init__(self, memory: GroupMemory):
        self.memory = memory
        self._members: dict[Owner, int] = {}
        self._stored: dict[str, _StoredOffsets] = {}  #: by group id
        #: Who writes the records that are replayed next: the group, and where its offsets are counted from now on.
        self._committer: tuple[str, SharedBudget, Owner] | None = None

    def hold_for_members(self, owner: Owner, byte_count: int) -> None:
        self._members[owner] = self._members.get(owner, 0) + byte_count
        if not self._members[owner]:
            del self._members[owner]
        self.memory.members.hold(owner, byte_count)

    def hold_for_offsets(self, group_id: str, byte_count: int, owner: Owner = UNATTRIBUTED) -> None:
        """Bytes of the group's offsets, and of the group itself while it has no members.

        owner: whose they are if the group holds none yet, and it is not being committed for.
        """
        stored = self._stored.get(group_id)
        if stored is None:
            stored = self._stored[group_id] = _StoredOffsets(self.memory.simple_offsets, owner)
        if byte_count > 0 and self._committer is not None and self._committer[0] == group_id:
            _, budget, committer = self._committer
            if stored.owner != committer or stored.budget is not budget:
                stored.move(budget, committer)
        stored.byte_count += byte_count
        stored.budget.hold(stored.owner, byte_count)
        if not stored.byte_count:
            del self._stored[group_id]

    def begin_commit(self, group_id: str, budget: SharedBudget, owner: Owner) -> None:
        """The offsets of the group that are replayed next are this client's."""
        self._committer = group_id, budget, owner

    def end_commit(self) -> None:
        """What is replayed from now on was written by no client that is known."""
        self._committer = None

    def note_members(self, group_id: str) -> None:
        """The group's offsets are not those of a simple group, whoever commits the next."""
        stored = self._stored.get(group_id)
        if stored is not None and stored.budget is self.memory.simple_offsets:
            stored.move(self.memory.group_offsets, stored.owner)

    def close(self) -> None:
        """The coordinator is gone, loaded or not."""
        for owner, byte_count in self._members.items():
            self.memory.members.hold(owner, -byte_count)
        for stored in self._stored.values():
            stored.budget.hold(stored.owner, -stored.byte_count)
        self._members, self._stored = {}, {}
