"""Whether what is unread grows or shrinks, how fast, and when it is worked off. Pure.

A lag goes up and down with each commit. So what is compared is the least that was unread in either half of the last
minutes, and a change counts that is more than a small part of what arrived meanwhile: an old lag is not steadier than
a young one.
"""

from array import array
from bisect import bisect_left
from dataclasses import dataclass, field
from enum import StrEnum

WINDOW_MS = 300_000
#: Looked at for a shorter time, a lag says nothing of where it goes.
WINDOW_MIN_MS = 30_000
#: What a group has been working off for longer than this is not compared with the time before it came.
BURST_MS = 120_000
SPACING_MS = 10_000
#: A change by less than this part of what arrives is none.
NOISE = 0.05


class Trend(StrEnum):
    UNKNOWN = "–"
    NONE = "none unread"
    GROWING = "growing"
    STEADY = "steady"
    UNCHANGED = "unchanged"
    SHRINKING = "shrinking"

    @property
    def arrow(self) -> str:
        return {"growing": "▲", "shrinking": "▼", "steady": "▶"}.get(self.value, "")

    @property
    def is_hopeless(self) -> bool:
        """Whether the lag never shrinks at this pace."""
        return self in (Trend.GROWING, Trend.STEADY, Trend.UNCHANGED)


@dataclass(slots=True)
class LagHistory:
    """Lag history of a group, all its partitions together: the least unread of each ten seconds, and what had been
    appended.

    `unread` counts from the committed offsets, also what was deleted meanwhile: deleting is no reading.
    """

    _moments: "array[int]" = field(default_factory=lambda: array("q"))
    _unread: "array[int]" = field(default_factory=lambda: array("q"))
    _appended: "array[int]" = field(default_factory=lambda: array("q"))
    _counted: int = 0

    def observe(self, unread: int, appended: int, at_ms: int, counted: int) -> None:
        """Note a lag. `counted` identifies the partitions both numbers are of; others begin a new history, as a reset
        does.
        """
        if counted != self._counted or self._was_reset(unread, appended):
            for values in (self._moments, self._unread, self._appended):
                del values[:]
        self._counted = counted
        if self._moments and at_ms - self._moments[-1] < SPACING_MS:
            self._unread[-1] = min(self._unread[-1], unread)
            return
        if self._is_flat(unread, appended):
            self._moments[-1] = at_ms
        else:
            for values, value in ((self._moments, at_ms), (self._unread, unread), (self._appended, appended)):
                values.append(value)
        while len(self._moments) > 2 and self._moments[1] <= at_ms - WINDOW_MS:
            for values in (self._moments, self._unread, self._appended):
                del values[0]

    def is_still(self, unread: int, appended: int) -> bool:
        """Return whether the figures have been constant as long as remembered."""
        return all(item == unread for item in self._unread) and all(item == appended for item in self._appended)

    def pace(self, unread: int, appended: int, at_ms: int, behind_ms: int = 0) -> tuple[float | None, float | None]:
        """Return the lag's growth, and arriving records, per second; None while it has not been watched for long.

        `behind_ms` is how long the oldest unread record has waited.
        """
        is_burst = BURST_MS < behind_ms < WINDOW_MS
        window_ms = behind_ms - SPACING_MS if is_burst else WINDOW_MS
        begin = bisect_left(self._moments, at_ms - window_ms)
        if not is_burst or at_ms - WINDOW_MIN_MS < self._moments[min(begin, len(self._moments) - 1)]:
            begin = max(0, begin - 1)
        from_ms = max(self._moments[begin], at_ms - window_ms)
        span_ms = at_ms - from_ms
        if span_ms < WINDOW_MIN_MS:
            return None, None
        arrived = appended - self._appended[begin]
        if appended - unread <= self._appended[begin] - self._unread[begin]:
            return (_rate(arrived, span_ms),) * 2
        half = max(begin + 1, bisect_left(self._moments, from_ms + span_ms // 2))
        early, late = min(self._unread[begin:half]), min(self._unread[half:], default=unread)
        return _rate(2 * (late - early), span_ms), _rate(arrived, span_ms)

    def _was_reset(self, unread: int, appended: int) -> bool:
        """Return whether the group was reset: fewer records are read than before, by more than late answers explain."""
        if not self._moments:
            return False
        lost = self._appended[-1] - self._unread[-1] - (appended - unread)
        return lost > 2 * (appended - self._appended[max(-2, -len(self._appended))])

    def _is_flat(self, unread: int, appended: int) -> bool:
        return (
            len(self._moments) > 1
            and self._unread[-1] == self._unread[-2] == unread
            and self._appended[-1] == self._appended[-2] == appended
        )


def trend_of(lag: int | None, per_second: float | None, arriving_per_second: float | None = None) -> Trend:
    """Return the trend of a lag that grows by `per_second`; the more records arrive, the larger a change must be to
    count.
    """
    if lag == 0:
        return Trend.NONE
    if lag is None or per_second is None:
        return Trend.UNKNOWN
    arriving = arriving_per_second or 0.0
    if per_second >= arriving >= 0 and arriving_per_second is not None:
        return Trend.GROWING if per_second > 0 else Trend.UNCHANGED
    one_record = 2_000 / WINDOW_MS
    if abs(per_second) <= max(one_record, NOISE * arriving):
        return Trend.STEADY
    return Trend.GROWING if per_second > 0 else Trend.SHRINKING


def catch_up_seconds(
    lag: int | None, per_second: float | None, arriving_per_second: float | None = None
) -> float | None:
    """Return the seconds until the lag is gone at this pace; None: never, or unknown."""
    if lag == 0:
        return 0.0
    is_shrinking = trend_of(lag, per_second, arriving_per_second) is Trend.SHRINKING
    if not is_shrinking or lag is None or per_second is None:
        return None
    return lag / -per_second


def _rate(count: int, span_ms: int) -> float:
    per_second = count * 1_000 / span_ms
    return round(per_second, 1 if abs(per_second) >= 1 else 4)
