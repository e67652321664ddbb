"""What the header of an alert rule's pages tells of it."""

from console.kit.access.reach import Reach
from console.kit.common.clock import now_ms
from console.kit.common.figures import grouped, short_moment
from console.kit.features.headers import HeaderFacts, KeyFigure
from console.signals.alerts.evaluation import AlertPhase
from console.signals.alerts.models import Alert, KeptRule, RuleSilence


def facts(rule: KeptRule, _reach: Reach) -> HeaderFacts:
    """Return the facts of the rule: how many objects break it, and whether it is silenced."""
    alerts = Alert.objects.filter(rule=rule.name)
    firing = alerts.filter(state=AlertPhase.FIRING).count()
    pending = alerts.filter(state=AlertPhase.PENDING).count()
    silence = RuleSilence.objects.filter(rule=rule.name, until_ms__gt=now_ms()).first()
    severity = str(rule.definition.get("severity", "warning"))
    word, tone = ("firing", severity) if firing else ("pending", "warning") if pending else ("OK", "ok")
    return HeaderFacts(
        name=rule.name,
        word=word,
        tone=tone,
        figures=(
            KeyFigure("Firing", grouped(firing), "firing", "Objects that break the rule", severity if firing else ""),
            KeyFigure("Pending", grouped(pending), "pending", "Objects that break it, but not for long enough yet"),
            KeyFigure("Silenced until", short_moment(silence.until_ms) if silence else "–", "silence"),
        ),
        main="Change…",
    )
