"""Bounds of a broker that its clients share: which of them one client crowds. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from console.kit.gateway.brokers.interface import BudgetUse

#: A refusal is told of for so long: a client that goes on is refused again.
REFUSAL_TOLD_FOR_MS = 600_000
#: Part of a bound from which it is crowded, though no client has been refused yet: the last quarter is a reserve.
FULL_SHARE = 0.7
#: Bounds of a number of things; the others are of bytes.
_COUNTED = ("transactional ids", "transaction partitions")


@dataclass(frozen=True, slots=True)
class CrowdedBudget:
    """A bound that is nearly full or refused a client lately; with the client that holds the most, if known."""

    name: str
    size: int
    held: int
    principal: str
    host: str
    owner_held: int
    #: When a client was last refused, ms since the epoch; 0: never.
    refused_at_ms: int

    @property
    def is_counted(self) -> bool:
        """Whether the figures are numbers of things and not bytes."""
        return self.name in _COUNTED


def crowded_budgets(uses: Iterable[BudgetUse], at_ms: int) -> Iterator[CrowdedBudget]:
    for use in uses:
        is_refused = use.refused_ms_ago is not None and use.refused_ms_ago <= REFUSAL_TOLD_FOR_MS
        if is_refused or use.held >= FULL_SHARE * use.size:
            refused_at_ms = 0 if use.refused_ms_ago is None else at_ms - use.refused_ms_ago
            yield CrowdedBudget(use.name, use.size, use.held, use.principal, use.host, use.owner_held, refused_at_ms)
