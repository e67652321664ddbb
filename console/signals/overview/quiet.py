"""What people have said of reasons of health: seen, mute until then, retired; and whether it still holds. Pure.

It holds for the reason as it was: one that has become worse, or speaks of something else, is heard again by itself.
"""

from collections.abc import Mapping
from enum import StrEnum

from console.signals.overview.health import HealthLevel, HealthReason, Quiet


class QuietKind(StrEnum):
    """ACKNOWLEDGED: an operator works on it; it counts as before, unless it is past. MUTED: it does not count. RETIRED:
    a group that nobody will read for any more; it does not count as long as it has no member.
    """

    ACKNOWLEDGED = "acknowledged"
    MUTED = "muted"
    RETIRED = "retired"

    @property
    def is_silent(self) -> bool:
        return self is not QuietKind.ACKNOWLEDGED


def is_silent(reason: HealthReason) -> bool:
    """Return whether the reason is muted or retired."""
    return reason.quiet is not None and (reason.is_past or QuietKind(reason.quiet.kind).is_silent)


def retired_key(group: str) -> str:
    return f"retired:{group}"


def quiet_of(reason: HealthReason, quiets: Mapping[str, Quiet], now_ms: int) -> Quiet | None:
    """Return what applies to `reason` of the acknowledgements and mutes; None if nothing."""
    if reason.may_retire and (retired := quiets.get(retired_key(reason.name))):
        return retired
    quiet = quiets.get(reason.key)
    return quiet if quiet is not None and holds(quiet, reason, now_ms) else None


def holds(quiet: Quiet, reason: HealthReason, now_ms: int) -> bool:
    is_over = quiet.until_ms is not None and quiet.until_ms <= now_ms
    return not is_over and not is_worse(reason, quiet)


def is_worse(reason: HealthReason, quiet: Quiet) -> bool:
    """Return whether the reason is worse than when it was muted: a higher level, a larger extent, or other
    partitions.
    """
    levels = list(HealthLevel)
    return (
        levels.index(reason.level) > levels.index(quiet.level)
        or reason.weight > quiet.weight
        or not set(reason.parts) <= set(quiet.parts)
    )
