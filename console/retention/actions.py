"""Changing a topic's retention as planned."""

from django.contrib.auth.models import User

from console.gateway.connect import cluster_gateway
from console.plans.apply import carry_out
from console.plans.plan import Confirmation, Plan
from console.plans.setting import DEFAULT


def do_change_retention(actor: User, plan: Plan, confirmation: Confirmation) -> None:
    """Change what differs. Raises NotConfirmedError, GatewayError; whatever happens is in the audit."""
    wanted = {line.name: None if line.new == DEFAULT else line.new for line in plan.lines}
    carry_out(actor, plan, confirmation, lambda: cluster_gateway().change_topic_settings(plan.object_name, wanted))
