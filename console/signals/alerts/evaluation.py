"""When an alert begins, is told, told again, handed on, and over. Pure.

It is pending until it has been bad for the rule's time, and over when it has been well for the rule's time. What nobody
knows changes nothing; a time in which nobody looked counts for nothing.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from console.signals.alerts.rules import AlertRule

#: Between two looks more may lie, when nobody is at a page and all is well; longer than this nobody looked.
LOOKS_APART_MS = 150_000


class AlertPhase(StrEnum):
    PENDING = "pending"
    FIRING = "firing"
    RESOLVED = "resolved"


class AlertEvent(StrEnum):
    """The event of a message; its word stands in messages."""

    FIRED = "fired"
    REPEATED = "still firing"
    ESCALATED = "escalated"
    RESOLVED = "resolved"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class AlertState:
    """Moments in ms, None where it has not come to that."""

    state: AlertPhase
    since_ms: int
    seen_ms: int
    fired_ms: int | None = None
    fine_since_ms: int | None = None
    #: When it was last told of; None while it fires and nobody was told, because the rule was silenced.
    notified_ms: int | None = None
    is_escalated: bool = False
    acknowledged_until_ms: int | None = None


@dataclass(frozen=True, slots=True)
class AlertVerdict:
    """The verdict on an alert; None if unknown."""

    is_bad: bool | None


def advance(
    before: AlertState | None, verdict: AlertVerdict, rule: AlertRule, now_ms: int, *, is_silenced: bool = False
) -> tuple[AlertState | None, AlertEvent | None]:
    """Return the alert's new state, None without one, and the event to send."""
    if before is None or before.state is AlertPhase.RESOLVED:
        before = AlertState(AlertPhase.PENDING, now_ms, now_ms) if verdict.is_bad else None
        if before is None:
            return None, None
    if before.state is AlertPhase.PENDING:
        before = _pending(before, verdict, rule, now_ms)
        if before is None or before.state is AlertPhase.PENDING:
            return before, None
    return _firing(replace(before, seen_ms=now_ms), verdict, rule, now_ms, is_silenced)


def _pending(before: AlertState, verdict: AlertVerdict, rule: AlertRule, now_ms: int) -> AlertState | None:
    if verdict.is_bad is None:
        return before
    if not verdict.is_bad:
        return None
    note_unobserved = not 0 <= now_ms - before.seen_ms <= LOOKS_APART_MS
    since_ms = now_ms if note_unobserved else before.since_ms
    if now_ms - since_ms >= rule.for_ms:
        return replace(before, state=AlertPhase.FIRING, since_ms=since_ms, seen_ms=now_ms, fired_ms=now_ms)
    return replace(before, since_ms=since_ms, seen_ms=now_ms)


def _firing(
    before: AlertState, verdict: AlertVerdict, rule: AlertRule, now_ms: int, is_silenced: bool
) -> tuple[AlertState, AlertEvent | None]:
    if verdict.is_bad is False:
        fine_since_ms = min(now_ms, before.fine_since_ms if before.fine_since_ms is not None else now_ms)
        if now_ms - fine_since_ms >= rule.clear_ms:
            event = AlertEvent.RESOLVED if before.notified_ms is not None else None
            return replace(before, state=AlertPhase.RESOLVED, fine_since_ms=fine_since_ms), event
        return replace(before, fine_since_ms=fine_since_ms), None
    alert_state = replace(before, fine_since_ms=None) if verdict.is_bad else before
    if is_silenced or _is_acknowledged(alert_state, now_ms):
        return alert_state, None
    if alert_state.notified_ms is None:
        return replace(alert_state, notified_ms=now_ms), AlertEvent.FIRED
    fired_for_ms = 0 if alert_state.fired_ms is None else now_ms - alert_state.fired_ms
    if rule.escalate_to and not alert_state.is_escalated and fired_for_ms >= rule.escalate_after_ms:
        return replace(alert_state, is_escalated=True), AlertEvent.ESCALATED
    if rule.repeat_ms and now_ms - alert_state.notified_ms >= rule.repeat_ms:
        return replace(alert_state, notified_ms=now_ms), AlertEvent.REPEATED
    return alert_state, None


def _is_acknowledged(alert_state: AlertState, now_ms: int) -> bool:
    return alert_state.acknowledged_until_ms is not None and now_ms < alert_state.acknowledged_until_ms
