"""Changing quotas as planned; pages that show them fetch themselves."""

from collections.abc import Mapping

from django.contrib.auth.models import User

from console.cluster.quotas.store import keep_one
from console.kit.common.clock import now_ms
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.quotas.interface import QuotaEntity, Values
from console.kit.live import groups
from console.kit.live.push import push_partial
from console.kit.plans.apply import carry_out
from console.kit.plans.inverse import keep_inverse
from console.kit.plans.plan import Confirmation, Plan


def do_change_quotas(
    actor: User,
    plan: Plan,
    entity: QuotaEntity,
    wanted: Mapping[str, float | None],
    before: Values,
    confirmation: Confirmation,
) -> None:
    """Set what the plan's lines name to what is wanted. Raises NotConfirmedError, GatewayError; all is in the audit."""
    changes = {line.name: wanted[line.name] for line in plan.lines}

    def change() -> None:
        gateway = cluster_gateway().quotas
        keep_inverse(actor, plan, {"path": entity.path, "before": dict(before)})
        gateway.change(entity, changes)
        keep_one(entity, gateway.describe().get(entity, {}))
        push_partial(groups.QUOTAS, "live/resync.html", {"version": now_ms()})

    carry_out(actor, plan, confirmation, change)
