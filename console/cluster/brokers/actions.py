"""Carry out planned changes: a setting of one broker or all, and moves of replicas between log directories."""

from django.contrib.auth.models import User

from console.cluster.brokers.directory_moves import DirectoryPlan
from console.cluster.brokers.doors import opens_a_door
from console.cluster.brokers.plan import ALL
from console.kit.access.rights import Right, require
from console.kit.gateway.connect import cluster_gateway
from console.kit.plans.apply import Refusals, carry_out
from console.kit.plans.inverse import save_inverse
from console.kit.plans.models import KeptInverse
from console.kit.plans.plan import Confirmation
from console.kit.plans.setting import SettingsPlan


def do_change_setting(actor: User, plan: SettingsPlan, confirmation: Confirmation) -> None:
    """Raises NotConfirmedError, GatewayError, and PermissionDenied where only an administrator may. It is audited."""
    if any(opens_a_door(name) for name in plan.wanted):
        require(actor, Right.ADMINISTER)
    broker_id = None if plan.object_name == ALL else int(plan.object_name)
    carry_out(actor, plan, confirmation, lambda: cluster_gateway().brokers.change_settings(broker_id, plan.wanted))


def do_move_replicas(
    actor: User, plan: DirectoryPlan, confirmation: Confirmation
) -> tuple[Refusals, KeptInverse | None]:
    """Move replicas between directories; return what was refused, by name, and the kept inverse of the rest.

    Raises NotConfirmedError, GatewayError.
    """
    kept: list[KeptInverse] = []

    def begin() -> Refusals:
        now = {f"{topic}:{number}": path for (topic, number), path in plan.now.items()}
        kept.append(save_inverse(actor, plan, now))
        refused = cluster_gateway().brokers.move_replicas(plan.broker_id, plan.wanted)
        return {f"{topic}-{partition}": why for (topic, partition), why in refused.items()}

    refused = carry_out(actor, plan, confirmation, begin)
    return refused, kept[0] if kept else None
