"""Giving and taking passwords of Kafka users, as planned. A password passes through here and is kept nowhere."""

import secrets
from collections.abc import Sequence

from django.contrib.auth.models import User

from console.cluster.credentials.feature import LIVE_GROUP
from console.cluster.credentials.store import save_one
from console.kit.common.clock import now_ms
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.credentials.interface import Mechanisms
from console.kit.live.push import push_partial
from console.kit.plans.apply import carry_out
from console.kit.plans.plan import Confirmation, Plan

#: 144 bits, in 24 characters.
PASSWORD_BYTES = 18


def generated_password() -> str:
    return secrets.token_urlsafe(PASSWORD_BYTES)


def do_set_password(actor: User, plan: Plan, wanted: Mechanisms, password: str, confirmation: Confirmation) -> None:
    """Raises NotConfirmedError, GatewayError; all but the password is in the audit."""

    def change() -> None:
        gateway = cluster_gateway().credentials
        gateway.set_password(plan.object_name, password, wanted)
        now = gateway.describe().users.get(plan.object_name, wanted)
        save_one(plan.object_name, now, has_new_password=True)
        _refresh_pages()

    carry_out(actor, plan, confirmation, change)


def do_delete(actor: User, plan: Plan, doomed: Sequence[str], confirmation: Confirmation) -> None:
    """Raises NotConfirmedError, GatewayError; all is in the audit."""

    def delete() -> None:
        gateway = cluster_gateway().credentials
        gateway.delete(plan.object_name, doomed)
        save_one(plan.object_name, gateway.describe().users.get(plan.object_name, {}))
        _refresh_pages()

    carry_out(actor, plan, confirmation, delete)


def _refresh_pages() -> None:
    push_partial(LIVE_GROUP, "live/resync.html", {"version": now_ms()})
