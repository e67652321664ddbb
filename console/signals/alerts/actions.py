"""What people do about alerts: each with its audit row."""

from collections.abc import Mapping

from django.conf import settings as django_settings
from django.contrib.auth.models import User

from console.kit.audit.record import record_event
from console.kit.common.clock import now_ms
from console.kit.common.databases import cluster_atomic
from console.kit.live.push import push_partial
from console.kit.plans.apply import carry_out
from console.kit.plans.inverse import save_inverse
from console.kit.plans.plan import Confirmation, Plan
from console.signals.alerts.channel_file import add_channel
from console.signals.alerts.evaluation import AlertEvent
from console.signals.alerts.feature import LIVE_GROUP
from console.signals.alerts.messages import MessageObject, message_of
from console.signals.alerts.models import Alert, Delivery, KeptRule, RuleSilence
from console.signals.alerts.page_channels import MADE_ON_PAGE
from console.signals.alerts.store import cluster_text_of, key_of

#: Of what waits for a channel only so much is a test.
TESTS_MAX = 3


class TooManyTestsError(Exception):
    """Its text is one sentence for the user."""


def do_acknowledge(actor: User, alert: Alert, until_ms: int) -> None:
    """Acknowledge the alert: no message until then, except for its end."""
    with cluster_atomic():
        before = {"acknowledged_until_ms": alert.acknowledged_until_ms}
        alert.acknowledged_by, alert.acknowledged_until_ms = actor.get_username(), until_ms
        alert.save(update_fields=["acknowledged_by", "acknowledged_until_ms"])
        name = f"{alert.rule}: {alert.object_name}"[:255]
        record_event(actor, "acknowledge alert", "alert", name, before, {"acknowledged_until_ms": until_ms})
        _refresh_pages()


def do_silence(actor: User, rule: str, until_ms: int | None, why: str) -> None:
    """Send no message of the rule until `until_ms`; None ends the silence."""
    with cluster_atomic():
        row = RuleSilence.objects.filter(rule=rule).first()
        before = {"until_ms": row.until_ms, "why": row.why} if row else None
        after = None
        if until_ms is None:
            RuleSilence.objects.filter(rule=rule).delete()
        else:
            after = {"until_ms": until_ms, "why": why}
            RuleSilence.objects.update_or_create(rule=rule, defaults={**after, "actor_name": actor.get_username()})
        if before != after:
            record_event(
                actor, "silence alert rule" if after else "end silence of alert rule", "alert", rule, before, after
            )
        _refresh_pages()


def do_save_rule(actor: User, plan: Plan, rule_values: Mapping[str, object], confirmation: Confirmation) -> None:
    """Store the rule; with no values it is removed. Raises NotConfirmedError."""

    def keep() -> None:
        if rule_values:
            values = {"definition": rule_values, "actor_name": actor.get_username(), "changed_ms": now_ms()}
            KeptRule.objects.update_or_create(name=plan.object_name, defaults=values)
        else:
            for row in KeptRule.objects.filter(name=plan.object_name):
                save_inverse(actor, plan, row.definition)
                row.delete()

    with cluster_atomic():
        carry_out(actor, plan, confirmation, keep)
    _refresh_pages()


def do_add_channel(actor: User, name: str, kind: str, settings: Mapping[str, str]) -> None:
    """Add the channel to the file of the rules; the audit keeps its kind alone. Raises ChannelError."""
    add_channel(django_settings.ALERTS_FILE, name, {"kind": kind, **settings, MADE_ON_PAGE: True})
    record_event(actor, "add alert channel", "alert", name, None, {"kind": kind})
    _refresh_pages()


def do_test(actor: User, channel: str) -> None:
    """Send a test message through the same code as all others. Raises TooManyTestsError."""
    waiting = Delivery.objects.filter(channel=channel, event=AlertEvent.TEST, result=Delivery.Result.WAITING)
    if waiting.count() >= TESTS_MAX:
        raise TooManyTestsError(f"{TESTS_MAX} tests wait for {channel} already.")
    at_ms = now_ms()
    objects = [
        MessageObject(channel, f"A test of this channel, requested by {actor.get_username()}. Nothing is wrong.", at_ms)
    ]
    message = message_of(
        "test",
        AlertEvent.TEST,
        "warning",
        cluster_text_of(),
        at_ms,
        objects,
        key=key_of(f"test-{channel}"),
        is_open=False,
    )
    with cluster_atomic():
        Delivery.objects.create(
            channel=channel,
            rule="test",
            event=AlertEvent.TEST,
            message=message.as_json(),
            created_ms=at_ms,
            due_ms=at_ms,
        )
        record_event(actor, "test alert channel", "alert", channel)
        _refresh_pages()


def _refresh_pages() -> None:
    push_partial(LIVE_GROUP, "live/resync.html", {"version": now_ms()})
