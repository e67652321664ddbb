"""Changing a topic's retention as planned."""

from collections.abc import Sequence

from console.gateway.connect import cluster_gateway
from console.plans.apply import carry_out
from console.plans.plan import Confirmation, Plan
from console.retention.plan import Difference


def do_change_retention(actor, plan: Plan, changes: Sequence[Difference], confirmation: Confirmation) -> None:
    """Change what differs. Raises NotConfirmedError, GatewayError; whatever happens is in the audit."""
    wanted = {each.name: each.new for each in changes}
    carry_out(actor, plan, confirmation, lambda: cluster_gateway().change_topic_settings(plan.object_name, wanted))
