"""Aborting a transaction as planned: the answer of the cluster is in the audit."""

from django.contrib.auth.models import User

from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.producers.interface import ProducerView
from console.kit.plans.apply import carry_out
from console.kit.plans.plan import Confirmation, Plan


def do_abort(actor: User, plan: Plan, producer: ProducerView, confirmation: Confirmation) -> None:
    """Raises NotConfirmedError, GatewayError; it is all in the audit."""
    carry_out(actor, plan, confirmation, lambda: cluster_gateway().producers.abort(plan.object_name, producer))
