"""How the cluster is, and why, as JSON can write it."""

from typing import Any

from django.contrib.auth.models import User

from console.kit.access.rights import Right, reach_of, require
from console.signals.overview.health import HealthReason
from console.signals.overview.queries import health_within


def health_of(person: User) -> dict[str, Any]:
    """Return the health as the person sees it. Raises PermissionDenied."""
    require(person, Right.VIEW)
    health = health_within(reach_of(person))
    return {
        "level": str(health.level),
        "reasons": [_as_json(reason) for reason in health.reasons],
        "muted": [_as_json(item) for item in health.muted],
    }


def _as_json(reason: HealthReason) -> dict[str, Any]:
    named = ("subject", "text", "evidence", "since_ms", "key")
    fields = {name: getattr(reason, name) for name in named}
    return {**fields, "level": str(reason.level), "action": reason.action.text}
