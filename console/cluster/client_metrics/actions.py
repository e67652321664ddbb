"""Changing and deleting subscriptions to client metrics as planned."""

from django.contrib.auth.models import User

from console.cluster.client_metrics.plan import ClientMetricsPlan
from console.kit.gateway.connect import cluster_gateway
from console.kit.plans.apply import carry_out
from console.kit.plans.plan import Confirmation


def do_change(actor: User, plan: ClientMetricsPlan, confirmation: Confirmation) -> None:
    """Set what the plan changes. Raises NotConfirmedError, GatewayError; all is in the audit."""

    def change() -> None:
        cluster_gateway().client_metrics.change(plan.object_name, plan.changes)

    carry_out(actor, plan, confirmation, change)
