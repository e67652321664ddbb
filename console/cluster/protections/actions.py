"""Ending a topic's protection, as planned."""

from django.contrib.auth.models import User

from console.cluster.protections.models import TopicProtection
from console.kit.access.internal_topics import forget
from console.kit.common.clock import now_ms
from console.kit.live import groups
from console.kit.live.push import push_partial
from console.kit.plans.apply import carry_out
from console.kit.plans.plan import Confirmation, Plan


def do_remove(actor: User, plan: Plan, row: TopicProtection, confirmation: Confirmation) -> None:
    """Raises NotConfirmedError; all is in the audit. Other processes of the console know it within seconds."""

    def remove() -> None:
        row.delete()
        forget()
        push_partial(groups.topic(plan.object_name), "live/resync.html", {"version": now_ms()})

    carry_out(actor, plan, confirmation, remove)
