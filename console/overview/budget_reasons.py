"""Bounds of brokers that one client crowds, as sentences. Pure."""

from collections.abc import Iterable

from console.brokers.budgets import CrowdedBudget
from console.common.figures import size
from console.overview.health import Action, BrokerBudget, Level, Reason

#: What a broker keeps, and what it refuses, by the name of the bound.
_WORDS = {
    "members": ("members of consumer groups", "new members"),
    "group offsets": ("offsets of consumer groups", "offsets of further partitions"),
    "simple offsets": ("offsets of groups without members", "new offsets of such groups"),
}


def budget_reasons(crowded: Iterable[BrokerBudget]) -> Iterable[Reason]:
    for broker_id, budget in ((each.broker_id, each.budget) for each in crowded):
        things, refused = _WORDS.get(budget.name, (budget.name, "more of it"))
        if budget.refused_at_ms:
            text = f"Broker {broker_id} refuses {refused} of a client that holds its share of the memory for {things}."
        else:
            text = f"The memory of broker {broker_id} for {things} is nearly full: {refused} will be refused."
        yield Reason(
            Level.WARNING,
            f"Broker {broker_id}",
            text,
            Action("Delete groups that are not needed, or give clients principals of their own", "consumers"),
            _evidence(budget),
            key=f"budget:{broker_id}:{budget.name}",
        )


def _evidence(budget: CrowdedBudget) -> str:
    evidence = f"{size(budget.held)} of {size(budget.size)} held"
    if not budget.owner_held:
        return f"{evidence}; clients unknown: loaded when the broker started"
    principal = budget.principal or "an unknown principal"
    return f"{evidence}; most by {principal} from {budget.host}: {size(budget.owner_held)}"
