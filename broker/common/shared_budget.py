"""Bounds that many clients share, with a share for each client: no client can take what the others need.

The last quarter of a bound is a reserve for clients that hold next to nothing: from it a client may fill up to a small
`floor`, so that only thousands of addresses together could close the door for the next one. Of the rest a client may
take more as long as it then holds at most `SHARE` times what is left, the dynamic threshold of Choudhury and Hahne for
buffers of switches. Alone it comes to hold three quarters of that; of several the first hold more than the last.

A client that only goes on may hold up to twice what it was admitted for a while (`may_double`): a member that is
started again joins before its former self is forgotten. So a budget never holds more than twice its size.

Clients are told apart by principal and address, so that neither a service account with one bad host nor an address
with one bad principal closes the door for the others. All addresses of one principal together have twice such a share,
and eight floors. Without a login every client is User:ANONYMOUS: then the address alone counts.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple, TypeVar

from broker.common.hosts import counted_address
from broker.common.limits import REFUSALS_LOGGED_EVERY_S

K = TypeVar("K")

#: Kafka's principal of a connection without a login.
ANONYMOUS = "User:ANONYMOUS"

#: How many times what is left one principal may hold from one address, and from all its addresses together.
SHARE = 3
PRINCIPAL_SHARE = 2 * SHARE
#: How many floors all addresses of one principal have together.
PRINCIPAL_FLOORS = 8
#: The part of a bound that only clients below their floor may take.
RESERVE = 4

_REMEMBERED = 1_000

#: The event that is logged of refusals.
REFUSED = "a client holds its share of what all clients share: what would take more is refused"


class Owner(NamedTuple):
    """The client that takes from a budget: Kafka's principal, and the address of its connection after a slash."""

    principal: str
    host: str


#: Of records whose client is unknown, such as those of other brokers. It counts against no client's share.
UNATTRIBUTED = Owner("", "")


@lru_cache(_REMEMBERED)
def owner_of(principal: str, host: str) -> Owner:
    """Return the owner for a principal and an address as Kafka writes it, after a slash."""
    return Owner(principal, f"/{counted_address(host[1:])}" if host else "")


class SharedBudget:
    """What all clients together hold of one bound, in bytes or in things, and how much each of them holds."""

    def __init__(self, size: int, floor: int):
        """floor: what a client that holds nothing else gets from the reserve."""
        self.size = size
        self.floor = floor
        self.held = 0
        self.refused = 0
        self.refused_at_ms: int | None = None  #: by the wall clock, the last refusal
        self._by_owner: dict[Owner, int] = {}
        self._by_principal: dict[str, int] = {}
        #: Of what owners hold the part beyond what they were admitted: see `may_double`.
        self._doubled: dict[Owner, int] = {}
        self._doubled_by_all = 0

    def hold(self, owner: Owner, amount: int, *, is_loaded: bool = False) -> None:
        """Count `amount` more for the owner, or, if it is negative, fewer.

        is_loaded: it is read back from a log, in another order than it was admitted: shares tell nothing of it.
        """
        if not amount:
            return
        if owner != UNATTRIBUTED:
            self._note_doubled(owner, amount, UNATTRIBUTED if is_loaded else owner)
            _add(self._by_owner, owner, amount)
            _add(self._by_principal, owner.principal, amount)
        self.held += amount

    def _note_doubled(self, owner: Owner, amount: int, admitted_as: Owner) -> None:
        if amount > 0:
            doubled = 0 if self.has_room_for(admitted_as, amount) or not self.may_double(owner, amount) else amount
        else:
            doubled = -min(self._doubled.get(owner, 0), -amount)
        if doubled:
            _add(self._doubled, owner, doubled)
            self._doubled_by_all += doubled

    def held_by(self, owner: Owner) -> int:
        return self._by_owner.get(owner, 0)

    def has_room_for(self, owner: Owner, amount: int = 1) -> bool:
        """Return whether the owner may take so much more. What is unattributed may grow outside of the reserve."""
        if amount <= 0:
            return True
        left = self.size - (self.held - self._doubled_by_all) - amount
        outside_reserve = left - self.size // RESERVE
        if owner == UNATTRIBUTED:
            return outside_reserve >= 0
        held = self._by_owner.get(owner, 0) + amount
        by_principal = 0 if owner.principal == ANONYMOUS else self._by_principal.get(owner.principal, 0) + amount
        if held <= SHARE * outside_reserve and by_principal <= PRINCIPAL_SHARE * outside_reserve:
            return True
        return left >= 0 and held <= self.floor and by_principal <= PRINCIPAL_FLOORS * self.floor

    def may_double(self, owner: Owner, amount: int) -> bool:
        """Return whether the owner may take as much again as it already has, whatever others hold.

        It may come to hold twice what it was admitted. What it takes so is missing to no other client.
        """
        doubled = self._doubled.get(owner, 0)
        return doubled + amount <= self._by_owner.get(owner, 0) - doubled

    def refuse(self, wall_ms: int) -> None:
        self.refused += 1
        self.refused_at_ms = wall_ms

    def largest(self) -> tuple[Owner, int] | None:
        """Return the owner that holds the most and how much that is; None while no client holds anything."""
        return max(self._by_owner.items(), key=lambda entry: entry[1], default=None)


class HeldPart:
    """What one coordinator holds of a budget, to be given back all at once when the coordinator is gone."""

    def __init__(self, budget: SharedBudget):
        self.budget = budget
        self.is_loading = True  #: the coordinator reads its log back
        self._by_owner: dict[Owner, int] = {}

    def hold(self, owner: Owner, amount: int) -> None:
        _add(self._by_owner, owner, amount)
        self.budget.hold(owner, amount, is_loaded=self.is_loading)

    def close(self) -> None:
        for owner, amount in self._by_owner.items():
            self.budget.hold(owner, -amount)
        self._by_owner = {}


class SharedBudgets:
    """Budgets by name, with what is logged of their refusals: one line in so many seconds for all of them."""

    def __init__(self, hint: str, budgets: dict[str, SharedBudget]):
        """hint: the operator's next step."""
        self._hint = hint
        self._budgets = budgets
        self._logged_at_ms: int | None = None
        self._refused_when_logged = 0
        self._last_refused: tuple[SharedBudget, Owner] | None = None  #: not logged yet

    def budgets(self) -> Iterator[tuple[str, SharedBudget]]:
        yield from self._budgets.items()

    def refuse(self, budget: SharedBudget, owner: Owner, wall_ms: int) -> None:
        budget.refuse(wall_ms)
        self._last_refused = budget, owner

    def refusals_to_log(self, now_ms: int) -> dict[str, object]:
        """Return the facts of one log line about the refusals since the last line; empty while there is no line due."""
        logged_at_ms = self._logged_at_ms
        is_too_soon = logged_at_ms is not None and now_ms - logged_at_ms < REFUSALS_LOGGED_EVERY_S * 1_000
        if self._last_refused is None or is_too_soon:
            return {}
        refused = sum(budget.refused for budget in self._budgets.values())
        (last, owner), new = self._last_refused, refused - self._refused_when_logged
        self._logged_at_ms, self._refused_when_logged, self._last_refused = now_ms, refused, None
        return {
            "of": next(name for name, budget in self._budgets.items() if budget is last),
            "principal": owner.principal or "unknown (loaded from the log)",
            "address": owner.host,
            "held": last.held_by(owner),
            "held_by_all": last.held,
            "max": last.size,
            "refused": new,
            "hint": self._hint,
        }


def _add(counts: dict[K, int], key: K, amount: int) -> None:
    left = counts.get(key, 0) + amount
    if left:
        counts[key] = left
    else:
        counts.pop(key, None)
