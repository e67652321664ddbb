"""Electing preferred leaders: one request to the controller, one audit row, whatever the answer."""

from console.gateway.connect import cluster_gateway
from console.placement.election import ElectionPlan
from console.plans.apply import Refusals, carry_out
from console.plans.plan import Confirmation, Plan


def do_elect_preferred_leaders(actor, plan: Plan, election: ElectionPlan, confirmation: Confirmation) -> Refusals:
    """Elect as planned; what was refused, with why. Raises NotConfirmedError, GatewayError."""

    def elect() -> Refusals:
        wanted = [(each.topic, each.partition) for each in election.moves]
        refused = cluster_gateway().elect_preferred_leaders(wanted)
        return {f"{topic}-{partition}": why for (topic, partition), why in refused.items()}

    return carry_out(actor, plan, confirmation, elect)
