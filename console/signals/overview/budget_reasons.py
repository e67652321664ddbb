"""Bounds of brokers that one client crowds, as sentences. Pure.

Reasons are shown, pushed and sent to everybody who sees the cluster, so none names a principal or a client's address:
operators see both on the broker's page.
"""

from collections.abc import Iterable

from console.cluster.brokers.budgets import CrowdedBudget
from console.kit.common.figures import grouped, size
from console.signals.overview.health import BrokerBudget, HealthLevel, HealthReason
from console.signals.overview.next_action import NextAction

#: What a broker keeps, and what it refuses, by the name of the bound.
_WORDS = {
    "members": ("memory for members of consumer groups", "new members"),
    "group offsets": ("memory for offsets of consumer groups", "offsets of further partitions"),
    "simple offsets": ("memory for offsets of groups without members", "new offsets of such groups"),
    "transactional ids": ("number of transactional ids", "new transactional ids"),
    "transaction partitions": ("number of partitions in open transactions", "further partitions in transactions"),
}
_STEPS = {
    "transactional ids": "Have producers keep their transactional ids, not make one up for each run",
    "transaction partitions": "End the transactions that are open, or shorten their timeouts",
}
_OF_GROUPS = "Delete groups that are not needed, or give clients principals of their own"


def budget_reasons(crowded: Iterable[BrokerBudget]) -> Iterable[HealthReason]:
    for broker_id, budget in ((budget.broker_id, budget.budget) for budget in crowded):
        things, refused = _WORDS.get(budget.name, (budget.name, "more of it"))
        if budget.refused_at_ms:
            text = f"Broker {broker_id} refuses {refused} of a client that holds its share of the {things}."
        else:
            text = f"Broker {broker_id} has little left of the {things}: {refused} will be refused."
        yield HealthReason(
            HealthLevel.WARNING,
            f"Broker {broker_id}",
            text,
            NextAction(
                f"See on the broker's page which client it is. {_STEPS.get(budget.name, _OF_GROUPS)}",
                "broker",
                str(broker_id),
            ),
            _evidence(budget),
            key=f"budget:{broker_id}:{budget.name}",
        )


def _evidence(budget: CrowdedBudget) -> str:
    in_figures = grouped if budget.is_counted else size
    evidence = f"{in_figures(budget.held)} of {in_figures(budget.size)} held"
    if not budget.owner_held:
        return f"{evidence}; clients unknown: their records name none"
    return f"{evidence}; one client holds {in_figures(budget.owner_held)}"
