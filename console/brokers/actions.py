"""Changing one setting of a broker, or of all, as planned."""

from django.contrib.auth.models import User

from console.brokers.plan import ALL
from console.gateway.connect import cluster_gateway
from console.plans.apply import carry_out
from console.plans.plan import Confirmation, Plan
from console.plans.setting import DEFAULT


def do_change_setting(actor: User, plan: Plan, confirmation: Confirmation) -> None:
    """Raises NotConfirmedError, GatewayError; whatever happens is in the audit."""
    wanted = {line.name: None if line.new == DEFAULT else line.new for line in plan.lines}
    broker_id = None if plan.object_name == ALL else int(plan.object_name)
    carry_out(actor, plan, confirmation, lambda: cluster_gateway().brokers.change_settings(broker_id, wanted))
