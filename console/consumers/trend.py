"""Whether what is unread grows or shrinks, how fast, and when it is worked off. Pure."""

from dataclasses import dataclass, field
from enum import StrEnum

from console.live.rates import RecentValues

WINDOW_MS = 60_000
#: Looked at for a shorter time, a lag says nothing of where it goes.
WINDOW_MIN_MS = 8_000
#: A change within a minute by less than this part of the lag is none.
STEADY_SHARE = 0.02


class Trend(StrEnum):
    UNKNOWN = "–"
    NONE = "none unread"
    GROWING = "growing"
    STEADY = "steady"
    SHRINKING = "shrinking"

    @property
    def arrow(self) -> str:
        return {"growing": "▲", "shrinking": "▼", "steady": "▶"}.get(self.value, "")


@dataclass(slots=True)
class LagWindow:
    """The lags of the last minute."""

    _seen: RecentValues = field(default_factory=RecentValues)

    def observe(self, lag: int, at_ms: int) -> float | None:
        """Records gained per second; below zero they are worked off; None while it has not been watched for long."""
        last = self._seen.last
        if last is not None and at_ms <= last[0]:
            return None
        from_ms, before = self._seen.add(lag, at_ms, WINDOW_MS)
        if at_ms - from_ms < WINDOW_MIN_MS:
            return None
        return round((lag - before) * 1_000 / (at_ms - from_ms), 1)


def trend_of(lag: int | None, per_second: float | None) -> Trend:
    if lag == 0:
        return Trend.NONE
    if lag is None or per_second is None:
        return Trend.UNKNOWN
    if abs(per_second) * 60 <= max(1.0, STEADY_SHARE * lag):
        return Trend.STEADY
    return Trend.GROWING if per_second > 0 else Trend.SHRINKING


def catch_up_seconds(lag: int | None, per_second: float | None) -> float | None:
    """Until nothing is unread at this pace; None: never, or nobody knows."""
    if lag == 0:
        return 0.0
    if trend_of(lag, per_second) is not Trend.SHRINKING:
        return None
    return lag / -per_second
