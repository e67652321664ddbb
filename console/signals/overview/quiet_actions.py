"""Saying that a reason of health is known, mute or retired, and taking it back: a row with its audit row."""

from django.contrib.auth.models import User
from django.db.models import Q

from console.kit.audit.record import record_event
from console.kit.common.clock import now_ms
from console.kit.common.databases import cluster_atomic
from console.signals.overview.health import HealthReason
from console.signals.overview.quiet import QuietKind, retired_key
from console.state.clusters.models import QUIET_MAX, QuietReason

_VERBS = {QuietKind.ACKNOWLEDGED: "acknowledge", QuietKind.MUTED: "mute", QuietKind.RETIRED: "retire"}
_TEXT_LENGTH_MAX, _AUDIT_NAME_LENGTH_MAX = 500, 255


class TooManyError(Exception):
    """So many reasons are muted that health would say nothing."""


def do_quieten(actor: User, reason: HealthReason, kind: QuietKind, until_ms: int | None, why: str) -> QuietReason:
    """Acknowledge, mute or retire a reason, replacing the earlier one.

    `until_ms` is None only for a retired group. Raises TooManyError.
    """
    key = retired_key(reason.name) if kind is QuietKind.RETIRED else reason.key
    with cluster_atomic():
        _make_room(key)
        row, _ = QuietReason.objects.update_or_create(
            key=key,
            defaults={
                "kind": kind.value,
                "about": reason.about,
                "name": reason.name,
                "text": reason.text[:_TEXT_LENGTH_MAX],
                "level": reason.level.value,
                "weight": reason.weight,
                "parts": list(reason.parts),
                "actor_name": actor.get_username(),
                "why": why,
                "since_ms": now_ms(),
                "until_ms": until_ms,
            },
        )
        _record(actor, f"{_VERBS[kind]} health reason", row, None, _as_audited(row))
    return row


def do_speak_again(actor: User, row: QuietReason) -> None:
    """Take it back: the reason counts again at once. No-op if another person was faster."""
    with cluster_atomic():
        deleted, _ = QuietReason.objects.filter(pk=row.pk).delete()
        if deleted:
            _record(actor, "undo quiet health reason", row, _as_audited(row), None)


def _make_room(key: str) -> None:
    """Delete expired acknowledgements; refuse another one beyond the maximum."""
    QuietReason.objects.filter(until_ms__lte=now_ms()).delete()
    others = QuietReason.objects.filter(~Q(key=key)).select_for_update()
    if len(others) >= QUIET_MAX:
        raise TooManyError(f"{QUIET_MAX} reasons are quiet already: take one back first.")


def _as_audited(row: QuietReason) -> dict[str, object]:
    return {"kind": row.kind, "until_ms": row.until_ms, "why": row.why, "reason": row.text}


def _record(
    actor: User, action: str, row: QuietReason, before: dict[str, object] | None, after: dict[str, object] | None
) -> None:
    record_event(actor, action, "health", row.key[:_AUDIT_NAME_LENGTH_MAX], before, after)
