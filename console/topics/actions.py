"""Changing topics as planned: every answer of the cluster is in the audit. The collector pushes the result."""

from console.gateway.connect import cluster_gateway
from console.gateway.errors import RefusedError
from console.plans.apply import carry_out
from console.plans.inverse import keep_inverse
from console.plans.models import KeptInverse
from console.plans.plan import Confirmation, Plan
from console.plans.setting import DEFAULT


def do_create_topic(actor, plan: Plan, confirmation: Confirmation) -> KeptInverse | None:
    """Create a topic as planned; what takes it back. Raises NotConfirmedError, GatewayError; it is all in the audit."""
    kept: list[KeptInverse] = []
    partitions, replicas = (line.new for line in plan.lines[:2])
    configs = {line.name: line.new for line in plan.lines[2:]}

    def create() -> None:
        kept.append(keep_inverse(actor, plan, {}))
        try:
            cluster_gateway().create_topic(plan.object_name, partitions, replicas, configs)
        except RefusedError:
            kept.pop().delete()
            raise

    carry_out(actor, plan, confirmation, create)
    return kept[0] if kept else None


def do_delete_topic(actor, plan: Plan, confirmation: Confirmation) -> None:
    """Delete a topic and its records. Raises NotConfirmedError, GatewayError; it is all in the audit."""
    carry_out(actor, plan, confirmation, lambda: cluster_gateway().delete_topic(plan.object_name))


def do_add_partitions(actor, plan: Plan, confirmation: Confirmation) -> None:
    """Raise the number of partitions. Raises NotConfirmedError, GatewayError; it is all in the audit."""
    (line,) = plan.lines
    carry_out(actor, plan, confirmation, lambda: cluster_gateway().add_partitions(plan.object_name, line.new))


def do_change_settings(actor, plan: Plan, confirmation: Confirmation) -> None:
    """Change settings. Raises NotConfirmedError, GatewayError; whatever happens is in the audit."""
    wanted = {line.name: None if line.new == DEFAULT else line.new for line in plan.lines}
    carry_out(actor, plan, confirmation, lambda: cluster_gateway().change_topic_settings(plan.object_name, wanted))
