"""Switching read-only mode as planned. Every open page fetches itself anew."""

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.template.loader import render_to_string

from console.kit.access.models import ReadOnlyMode
from console.kit.common.clock import now_ms
from console.kit.gateway.errors import RefusedError
from console.kit.live import groups
from console.kit.live.push import send_now
from console.kit.plans.apply import carry_out
from console.kit.plans.plan import Confirmation
from console.people.readonly.plan import SwitchPlan


def do_switch_read_only(actor: User, plan: SwitchPlan, reason: str, confirmation: Confirmation) -> None:
    """Raises NotConfirmedError, RefusedError."""

    def switch() -> None:
        try:
            with transaction.atomic():
                if plan.begins:
                    ReadOnlyMode.objects.create(scope=plan.scope, by_name=actor.get_username(), reason=reason)
                else:
                    ReadOnlyMode.objects.filter(scope=plan.scope).delete()
        except IntegrityError as error:
            raise RefusedError("READ_ONLY", "Another user was quicker.") from error
        html = render_to_string("live/resync.html", {"version": now_ms()})
        transaction.on_commit(lambda: send_now([(groups.HEARTBEAT, html)]))

    carry_out(actor, plan, confirmation, switch)
