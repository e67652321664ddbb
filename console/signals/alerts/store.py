"""The tables of alerts: what is open, what is silenced, what is to be sent."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields

from django.conf import settings

from console.kit.access.clusters import cluster_called
from console.kit.common.current_cluster import current_cluster, is_main
from console.signals.alerts.evaluation import AlertEvent, AlertPhase, AlertState
from console.signals.alerts.messages import MessageObject, message_of
from console.signals.alerts.models import HISTORY_MAX, SENTENCE_LENGTH_MAX, Alert, Delivery, RuleSilence
from console.signals.alerts.rules import AlertRule, Ruleset
from console.state.clusters.queries import cluster_state

_STATE_FIELDS = [field.name for field in fields(AlertState)]
_WRITTEN = [*_STATE_FIELDS, "severity", "sentence", "link"]


@dataclass(frozen=True, slots=True)
class AlertRow:
    alert_state: AlertState
    severity: str
    sentence: str
    link: str

    def columns(self) -> dict[str, object]:
        shown = {"severity": self.severity, "sentence": self.sentence[:SENTENCE_LENGTH_MAX], "link": self.link[:2_000]}
        return {name: getattr(self.alert_state, name) for name in _STATE_FIELDS} | shown


def open_alerts() -> dict[tuple[str, str], AlertRow]:
    """Return the open alerts by rule and object."""
    alerts = {}
    for alert in Alert.objects.exclude(state=AlertPhase.RESOLVED):
        values = {name: getattr(alert, name) for name in _STATE_FIELDS}
        alert_state = AlertState(**{**values, "state": AlertPhase(alert.state)})
        alerts[alert.rule, alert.object_name] = AlertRow(alert_state, alert.severity, alert.sentence, alert.link)
    return alerts


def keep(before: Mapping[tuple[str, str], AlertRow], after: Mapping[tuple[str, str], AlertRow]) -> None:
    """Store the changed alerts, without overwriting acknowledgements."""
    numbers = {
        (rule, name): pk
        for pk, rule, name in Alert.objects.exclude(state=AlertPhase.RESOLVED).values_list("pk", "rule", "object_name")
    }
    Alert.objects.filter(pk__in=[numbers[key] for key in before.keys() - after.keys() if key in numbers]).delete()
    written = [name for name in _WRITTEN if name != "acknowledged_until_ms"]
    changed = [key for key, row in after.items() if key in before and row != before[key]]
    Alert.objects.bulk_update([Alert(pk=numbers[key], **after[key].columns()) for key in changed], written, 200)
    new = [Alert(rule=key[0], object_name=key[1], **row.columns()) for key, row in after.items() if key not in before]
    Alert.objects.bulk_create(new, 200)


def cluster_text_of() -> str:
    """Return the cluster's name for messages: Kafka's id, or its name here if there are several."""
    return cluster_called(current_cluster()).words if settings.CLUSTERS else cluster_state().cluster_id


def key_of(about: str) -> str:
    """Return the key that all messages about `about` share; different for each cluster."""
    own = "" if is_main() else f"{current_cluster()}-"
    return f"barnabas-{cluster_state().cluster_id}-{own}{about}"


def silenced(now_ms: int) -> set[str]:
    return set(RuleSilence.objects.filter(until_ms__gt=now_ms).values_list("rule", flat=True))


def enqueue(
    ruleset: Ruleset,
    objects_by_channel: Mapping[tuple[str, AlertEvent], Sequence[MessageObject]],
    open_rules: Collection[str],
    now_ms: int,
) -> None:
    """Queue a message to each channel of the rule."""
    rows = []
    for (name, event), objects in objects_by_channel.items():
        rule = ruleset.rules[name]
        is_open = event is not AlertEvent.RESOLVED or _fires(name)
        for channel in _channels_of(rule, event):
            message = message_of(
                name, event, rule.severity, cluster_text_of(), now_ms, objects, key=key_of(name), is_open=is_open
            )
            rows.append(
                Delivery(
                    channel=channel, rule=name, event=event.value, message=message.as_json(),
                    created_ms=now_ms, due_ms=now_ms,
                )
            )  # fmt: skip
    Delivery.objects.bulk_create(rows)


def _fires(rule: str) -> bool:
    return Alert.objects.filter(rule=rule, state=AlertPhase.FIRING, notified_ms__isnull=False).exists()


def _channels_of(rule: AlertRule, event: AlertEvent) -> tuple[str, ...]:
    """Return the rule's channels; those that were told of the beginning, or of an escalation, are told of the end."""
    match event:
        case AlertEvent.ESCALATED:
            return rule.escalate_to
        case AlertEvent.RESOLVED:
            return tuple(dict.fromkeys((*rule.channels, *rule.escalate_to)))
    return rule.channels


def forget_old() -> None:
    for model, done in (
        (Alert, Alert.objects.filter(state=AlertPhase.RESOLVED)),
        (Delivery, Delivery.objects.exclude(result=Delivery.Result.WAITING)),
    ):
        last = done.order_by("-pk").values_list("pk", flat=True)[HISTORY_MAX : HISTORY_MAX + 1].first()
        if last is not None:
            model.objects.filter(pk__in=done.filter(pk__lte=last).values_list("pk", flat=True)).delete()
