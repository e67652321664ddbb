"""Changing topics as planned: every answer of the cluster is in the audit. The collector pushes the result."""

from collections.abc import Callable, Iterable
from functools import partial

from django.contrib.auth.models import User

from console.cluster.topics.bulk import TopicChange
from console.cluster.topics.creation import CreationPlan
from console.cluster.topics.enlargement import EnlargementPlan
from console.cluster.topics.grace_actions import was_deleted
from console.cluster.topics.many import DeletionOfMany, SettingOfMany
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import ClusterUnreachableError, GatewayError, RefusedError
from console.kit.plans.apply import Refusals, carry_out
from console.kit.plans.inverse import save_inverse
from console.kit.plans.many import PlanOfMany
from console.kit.plans.models import KeptInverse
from console.kit.plans.plan import Confirmation, Plan
from console.kit.plans.setting import SettingsPlan


def do_create_topic(actor: User, plan: CreationPlan, confirmation: Confirmation) -> KeptInverse | None:
    """Create a topic as planned; what takes it back. Raises NotConfirmedError, GatewayError; it is all in the audit."""
    kept: list[KeptInverse] = []
    wish = plan.wish

    def create() -> None:
        kept.append(save_inverse(actor, plan, {}))
        try:
            cluster_gateway().create_topic(
                wish.name, wish.partition_count, wish.replication_factor, dict(sorted(wish.configs.items()))
            )
        except RefusedError:
            kept.pop().delete()
            raise

    carry_out(actor, plan, confirmation, create)
    return kept[0] if kept else None


def do_delete_topic(actor: User, plan: Plan, confirmation: Confirmation) -> None:
    """Delete a topic and its records. Raises NotConfirmedError, GatewayError; it is all in the audit."""
    carry_out(actor, plan, confirmation, partial(_delete, plan.object_name))
    was_deleted([plan.object_name], actor.get_username())


def do_add_partitions(actor: User, plan: EnlargementPlan, confirmation: Confirmation) -> None:
    """Raise the number of partitions. Raises NotConfirmedError, GatewayError; it is all in the audit."""
    carry_out(
        actor, plan, confirmation, lambda: cluster_gateway().add_partitions(plan.object_name, plan.partition_count)
    )


def do_change_settings(actor: User, plan: SettingsPlan, confirmation: Confirmation) -> None:
    """Change settings. Raises NotConfirmedError, GatewayError; whatever happens is in the audit."""
    carry_out(actor, plan, confirmation, lambda: cluster_gateway().change_topic_settings(plan.object_name, plan.wanted))


def do_delete_many(actor: User, plan: DeletionOfMany, confirmation: Confirmation) -> Refusals:
    """Delete each of the topics; what was refused, by name. Raises NotConfirmedError; it is all in the audit."""
    refused = carry_out(actor, plan, confirmation, lambda: _each(plan.topics, _delete))
    was_deleted([topic for topic in plan.topics if topic not in refused], actor.get_username())
    return refused


def do_set_many(actor: User, plan: SettingOfMany, confirmation: Confirmation) -> tuple[Refusals, KeptInverse | None]:
    """Change the setting of each; what was refused, by name, and what takes the rest back."""
    kept: list[KeptInverse] = []

    def set_one(topic: str) -> None:
        cluster_gateway().change_topic_settings(topic, {plan.setting: plan.wanted[topic]})

    def change() -> Refusals:
        kept.append(save_inverse(actor, plan, dict(plan.now)))
        return _each(plan.wanted, set_one)

    refused = carry_out(actor, plan, confirmation, change)
    return refused, kept[0] if kept else None


def do_change_many(
    actor: User, change: TopicChange, plan: PlanOfMany, confirmation: Confirmation
) -> tuple[Refusals, KeptInverse | None]:
    """Make a change of each topic; what was refused, by name, and what takes the rest back."""
    parts = {part.object_name: part for part in plan.parts}
    kept: list[KeptInverse] = []

    def make() -> Refusals:
        old = {topic: value for topic, part in parts.items() if (value := change.old_value(part)) is not None}
        if old:
            kept.append(save_inverse(actor, plan, old))
        return _each(parts, lambda topic: change.apply(parts[topic]))

    refused = carry_out(actor, plan, confirmation, make)
    return refused, kept[0] if kept else None


def _each(topics: Iterable[str], change: Callable[[str], None]) -> Refusals:
    """Change each topic and return refusals: one failure does not stop others; an unreachable cluster is asked once."""
    refused: dict[str, str] = {}
    left = list(topics)
    for place, topic in enumerate(left):
        try:
            change(topic)
        except ClusterUnreachableError as error:
            return refused | dict.fromkeys(left[place:], str(error))
        except GatewayError as error:
            refused[topic] = str(error)
    return refused


def _delete(topic: str) -> None:
    cluster_gateway().delete_topic(topic)
