"""Changing topics as planned: every answer of the cluster is in the audit. The collector pushes the result."""

from collections.abc import Callable

from django.contrib.auth.models import User

from console.cluster.topics.grace_actions import was_deleted
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import ClusterUnreachableError, GatewayError, RefusedError
from console.kit.plans.apply import Refusals, carry_out
from console.kit.plans.inverse import keep_inverse
from console.kit.plans.models import KeptInverse
from console.kit.plans.plan import Confirmation, Line, Plan
from console.kit.plans.setting import DEFAULT


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
    was_deleted([plan.object_name], actor.get_username())


def do_add_partitions(actor, plan: Plan, confirmation: Confirmation) -> None:
    """Raise the number of partitions. Raises NotConfirmedError, GatewayError; it is all in the audit."""
    (line,) = plan.lines
    carry_out(actor, plan, confirmation, lambda: cluster_gateway().add_partitions(plan.object_name, line.new))


def do_change_settings(actor, plan: Plan, confirmation: Confirmation) -> None:
    """Change settings. Raises NotConfirmedError, GatewayError; whatever happens is in the audit."""
    wanted = {line.name: None if line.new == DEFAULT else line.new for line in plan.lines}
    carry_out(actor, plan, confirmation, lambda: cluster_gateway().change_topic_settings(plan.object_name, wanted))


def do_delete_many(actor: User, plan: Plan, confirmation: Confirmation) -> Refusals:
    """Delete each of the topics; what was refused, by name. Raises NotConfirmedError; it is all in the audit."""
    refused = carry_out(actor, plan, confirmation, lambda: _each(plan, lambda line: _delete(line.name)))
    was_deleted([line.name for line in plan.lines if line.name not in refused], actor.get_username())
    return refused


def do_set_many(actor: User, plan: Plan, confirmation: Confirmation) -> tuple[Refusals, KeptInverse | None]:
    """Change the setting of each; what was refused, by name, and what takes the rest back."""
    kept: list[KeptInverse] = []

    def change() -> Refusals:
        kept.append(keep_inverse(actor, plan, {line.name: line.old for line in plan.lines}))
        return _each(plan, lambda line: _set(line, plan.object_name))

    refused = carry_out(actor, plan, confirmation, change)
    return refused, kept[0] if kept else None


def _each(plan: Plan, do: Callable[[Line], None]) -> Refusals:
    """One that fails keeps no other from its change; a cluster that is away is not asked for each."""
    refused: dict[str, str] = {}
    for line in plan.lines:
        try:
            do(line)
        except ClusterUnreachableError as error:
            left = plan.lines[plan.lines.index(line) :]
            return refused | {each.name: str(error) for each in left}
        except GatewayError as error:
            refused[line.name] = str(error)
    return refused


def _delete(topic: str) -> None:
    cluster_gateway().delete_topic(topic)


def _set(line: Line, setting: str) -> None:
    value = None if line.new == DEFAULT else str(line.new)
    cluster_gateway().change_topic_settings(line.name, {setting: value})
