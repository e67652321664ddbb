"""What the page of alerts shows."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import QuerySet

from console.cluster.charts.measures import MEASURES
from console.kit.access.reach import Reach
from console.kit.common.clock import now_ms
from console.kit.common.figures import duration
from console.kit.common.kept_statements import kept_rows
from console.signals.alerts.channels import CHANNEL_KINDS, Channel
from console.signals.alerts.evaluation import AlertPhase
from console.signals.alerts.file import RulesFile
from console.signals.alerts.kept import with_kept
from console.signals.alerts.models import Alert, Delivery, KeptRule, RuleSilence
from console.signals.alerts.rules import AlertRule
from console.signals.alerts.templates import RULE_TEMPLATES

SHOWN_MAX, OVER_SHOWN, DELIVERIES_SHOWN = 200, 20, 20
TITLES = ("rule", "object", "state", "severity", "since", "fired", "sentence")

EXAMPLE = f"""[channels.ops]
kind = "slack"                 # {", ".join(CHANNEL_KINDS)}
url = "https://hooks.slack.com/services/…"

[rules.health]
health = "critical"            # every critical reason of health
for = "1 min"
channels = ["ops"]

[rules.orders-lag]
measure = "group.lag"          # and group.behind, topic.records, api.p99 …
objects = "orders-*"
above = 100_000
recover = 10_000
for = "5 min"
repeat = "4 h"
channels = ["ops"]
"""


@dataclass(frozen=True, slots=True)
class ShownRule:
    rule: AlertRule
    firing_count: int
    pending_count: int
    silence: RuleSilence | None
    #: It was made on the page, and may be changed there.
    is_kept: bool

    @property
    def words(self) -> str:
        return rule_text_of(self.rule)


@dataclass(frozen=True, slots=True)
class ShownChannel:
    channel: Channel
    last: Delivery | None
    waiting_count: int


def alerts_page() -> dict[str, object]:
    file, at_ms = RulesFile(), now_ms()
    ruleset, useless = with_kept(file.read())
    kept = set(KeptRule.objects.values_list("name", flat=True))
    open_alerts = Alert.objects.exclude(state=AlertPhase.RESOLVED)
    firing = open_alerts.filter(state=AlertPhase.FIRING).order_by("severity", "-since_ms")
    silences = {silence.rule: silence for silence in RuleSilence.objects.filter(until_ms__gt=at_ms)}
    return {
        "file_error": file.error,
        "has_rules": file.exists,
        "example": EXAMPLE,
        "templates": RULE_TEMPLATES,
        "firing": firing[:SHOWN_MAX],
        "firing_count": firing.count(),
        "rules": [_shown(rule, silences, rule.name in kept - useless.keys()) for rule in ruleset.rules.values()],
        "useless": useless,
        "channels": [_channel(channel) for channel in ruleset.channels.values()],
        "over": Alert.objects.filter(state=AlertPhase.RESOLVED).order_by("-fine_since_ms")[:OVER_SHOWN],
        "deliveries": Delivery.objects.all()[:DELIVERIES_SHOWN],
        "now_ms": at_ms,
    }


def firing_count(reach: Reach) -> int:
    """Count the alerts that fire; 0 for who does not see all names, since alerts name objects of every kind."""
    return len(kept_rows(_firing)) if reach.sees_all_names else 0


def _firing() -> QuerySet[Alert]:
    return Alert.objects.filter(state=AlertPhase.FIRING).only("pk")


def alert_rows() -> Iterator[tuple[object, ...]]:
    """Yield the rows, with the columns TITLES."""
    for alert in Alert.objects.all().iterator():
        yield (
            alert.rule,
            alert.object_name,
            alert.state,
            alert.severity,
            alert.since_ms,
            alert.fired_ms,
            alert.sentence,
        )


def _shown(rule: AlertRule, silences: dict[str, RuleSilence], is_kept: bool) -> ShownRule:
    counted = Alert.objects.filter(rule=rule.name)
    return ShownRule(
        rule,
        counted.filter(state=AlertPhase.FIRING).count(),
        counted.filter(state=AlertPhase.PENDING).count(),
        silences.get(rule.name),
        is_kept,
    )


def _channel(channel: Channel) -> ShownChannel:
    deliveries = Delivery.objects.filter(channel=channel.name)
    waiting = deliveries.filter(result=Delivery.Result.WAITING).count()
    return ShownChannel(channel, deliveries.exclude(tries=0).first(), waiting)


def rule_text_of(rule: AlertRule) -> str:
    """Return the rule in plain words."""
    if rule.health is not None:
        what = f"a reason of health that is {rule.health.value}{' or worse' if rule.health.value == 'warning' else ''}"
    else:
        of = "" if rule.objects == "*" else f" of {rule.objects}"
        limit = MEASURES[rule.measure].amount(rule.threshold)
        what = f"{rule.kind}.{rule.measure}{of} {'above' if rule.is_above else 'below'} {limit}"
    pending_text = f" for {duration(rule.for_ms)}" if rule.for_ms else ""
    return f"{what}{pending_text} → {', '.join(rule.channels) or 'this page'}"
