"""Changing quotas as planned; pages that show them fetch themselves."""

from django.contrib.auth.models import User

from console.cluster.quotas.feature import LIVE_GROUP
from console.cluster.quotas.plan import QuotaPlan
from console.cluster.quotas.store import save_one
from console.kit.common.clock import now_ms
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.quotas.interface import Values
from console.kit.live.push import push_partial
from console.kit.plans.apply import carry_out
from console.kit.plans.inverse import save_inverse
from console.kit.plans.plan import Confirmation


def do_change_quotas(actor: User, plan: QuotaPlan, before: Values, confirmation: Confirmation) -> None:
    """Set the quotas that the plan changes. Raises NotConfirmedError, GatewayError; all is in the audit."""
    entity = plan.entity

    def change() -> None:
        gateway = cluster_gateway().quotas
        save_inverse(actor, plan, {"path": entity.path, "before": dict(before)})
        gateway.change(entity, plan.changes)
        save_one(entity, gateway.describe().get(entity, {}))
        push_partial(LIVE_GROUP, "live/resync.html", {"version": now_ms()})

    carry_out(actor, plan, confirmation, change)
