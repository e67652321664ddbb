"""Changing a topic's retention, and deleting its records, as planned."""

from collections.abc import Mapping

from django.contrib.auth.models import User

from console.cluster.retention.purge import PurgePlan
from console.kit.gateway.connect import cluster_gateway
from console.kit.plans.apply import carry_out
from console.kit.plans.plan import Confirmation
from console.kit.plans.setting import SettingsPlan


def do_change_retention(actor: User, plan: SettingsPlan, confirmation: Confirmation) -> None:
    """Change what differs. Raises NotConfirmedError, GatewayError; whatever happens is in the audit."""
    carry_out(actor, plan, confirmation, lambda: cluster_gateway().change_topic_settings(plan.object_name, plan.wanted))


def do_purge(actor: User, plan: PurgePlan, confirmation: Confirmation) -> Mapping[int, str]:
    """Delete what lies before the cuts; what was refused, by partition. Raises NotConfirmedError, GatewayError."""
    refused: dict[int, str] = {}

    def delete() -> dict[str, str]:
        refused.update(cluster_gateway().delete_records(plan.object_name, plan.starts))
        return {f"partition {partition}": why for partition, why in refused.items()}

    carry_out(actor, plan, confirmation, delete)
    return refused
