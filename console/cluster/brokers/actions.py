"""Changing one setting of a broker, or of all, and where its replicas lie, as planned."""

from django.contrib.auth.models import User

from console.cluster.brokers.doors import opens_a_door
from console.cluster.brokers.plan import ALL
from console.kit.access.rights import Right, require
from console.kit.gateway.connect import cluster_gateway
from console.kit.plans.apply import Refusals, carry_out
from console.kit.plans.inverse import keep_inverse
from console.kit.plans.models import KeptInverse
from console.kit.plans.plan import Confirmation, Plan
from console.kit.plans.setting import DEFAULT


def do_change_setting(actor: User, plan: Plan, confirmation: Confirmation) -> None:
    """Raises NotConfirmedError, GatewayError, and PermissionDenied where only an administrator may. It is audited."""
    if any(opens_a_door(line.name) for line in plan.lines):
        require(actor, Right.ADMINISTER)
    wanted = {line.name: None if line.new == DEFAULT else line.new for line in plan.lines}
    broker_id = None if plan.object_name == ALL else int(plan.object_name)
    carry_out(actor, plan, confirmation, lambda: cluster_gateway().brokers.change_settings(broker_id, wanted))


def do_move_replicas(
    actor: User, broker_id: int, plan: Plan, confirmation: Confirmation
) -> tuple[Refusals, KeptInverse | None]:
    """What was refused, by name, and what puts the rest back. Raises NotConfirmedError, GatewayError."""
    kept: list[KeptInverse] = []

    def begin() -> Refusals:
        places = {line.name: _place_of(line.name) for line in plan.lines}
        kept.append(keep_inverse(actor, plan, {"{}:{}".format(*places[line.name]): line.old for line in plan.lines}))
        wanted = {places[line.name]: str(line.new) for line in plan.lines}
        refused = cluster_gateway().brokers.move_replicas(broker_id, wanted)
        return {f"{topic}-{partition}": why for (topic, partition), why in refused.items()}

    refused = carry_out(actor, plan, confirmation, begin)
    return refused, kept[0] if kept else None


def _place_of(name: str) -> tuple[str, int]:
    topic, _, partition = name.rpartition("-")
    return topic, int(partition)
