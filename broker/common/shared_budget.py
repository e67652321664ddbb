"""A bound that many clients share, with a share for each of them: one client cannot take what the others need.

The share is no fixed part. A client may take more as long as it holds less than `SHARE` times what is left, the dynamic
threshold of Choudhury and Hahne for buffers of switches: one alone comes to hold three quarters, two of them
hold three sevenths each, and what is left is there for a client that holds nothing yet.

Clients are told apart by principal and address, so that neither a service account with one bad host nor an address
with one bad principal closes the door for the others. All addresses of one principal together have twice such a share.
Without a login every client is User:ANONYMOUS: then the address alone counts.
"""

from collections.abc import Iterator
from typing import NamedTuple, TypeVar

from broker.common.limits import BUDGET_OWNERS_COUNTED_MAX

K = TypeVar("K")

#: Kafka's principal of a connection without a login.
ANONYMOUS = "User:ANONYMOUS"

#: How many times what is left one principal may hold from one address, and from all its addresses together.
SHARE = 3
PRINCIPAL_SHARE = 2 * SHARE


class Owner(NamedTuple):
    """Who takes from a budget: Kafka's principal, and the address of its connection."""

    principal: str
    host: str


#: Of what was read back from a log: the records do not name the client. It counts against no client's share.
UNATTRIBUTED = Owner("", "")


class Refusals(NamedTuple):
    """How often one client was refused, and when it was last, by the wall clock."""

    times: int
    last_at_ms: int


def may_take(owner: Owner, held: int, held_by_principal: int, left: int) -> bool:
    """Whether a client that holds so much may take more of what is left."""
    if held >= SHARE * left:
        return False
    return owner.principal == ANONYMOUS or held_by_principal < PRINCIPAL_SHARE * left


class SharedBudget:
    """What all clients together hold of one bound, in bytes or in things, and how much each of them holds."""

    def __init__(self, size: int):
        self.size = size
        self.held = 0
        self.refusals: dict[Owner, Refusals] = {}  #: of the clients refused last; the total is `refused`
        self.refused = 0
        self._by_owner: dict[Owner, int] = {}
        self._by_principal: dict[str, int] = {}

    def hold(self, owner: Owner, amount: int) -> None:
        """Count `amount` more for the owner, or, if it is negative, fewer."""
        self.held += amount
        if owner is UNATTRIBUTED:
            return
        _add(self._by_owner, owner, amount)
        _add(self._by_principal, owner.principal, amount)

    def held_by(self, owner: Owner) -> int:
        return self._by_owner.get(owner, 0)

    def has_room_for(self, owner: Owner, times: int = 1) -> bool:
        """Whether the owner may take more. times: how many shares it has for this."""
        return may_take(
            owner, self.held_by(owner), self._by_principal.get(owner.principal, 0), times * (self.size - self.held)
        )

    def refuse(self, owner: Owner, wall_ms: int) -> None:
        """Count a refusal, for metrics and for whoever describes the broker."""
        self.refused += 1
        before = self.refusals.pop(owner, None)
        self.refusals[owner] = Refusals(before.times + 1 if before else 1, wall_ms)
        if len(self.refusals) > BUDGET_OWNERS_COUNTED_MAX:
            del self.refusals[next(iter(self.refusals))]

    def refusals_of(self, owner: Owner) -> int:
        refusals = self.refusals.get(owner)
        return refusals.times if refusals else 0

    def largest(self, count: int) -> Iterator[tuple[Owner, int]]:
        """The owners that hold the most, largest first."""
        yield from sorted(self._by_owner.items(), key=lambda entry: entry[1], reverse=True)[:count]


def _add(counts: dict[K, int], key: K, amount: int) -> None:
    left = counts.get(key, 0) + amount
    if left:
        counts[key] = left
    else:
        counts.pop(key, None)
