"""Whether a reader works in batches: short stretches of reading between long pauses, as a nightly job does. Pure.

Such a reader is not dead in its pause. What tells it from a service that broke down is that the pauses are the rule:
between any two of them it read for much less time than it paused. One outage makes nobody a nightly job.
"""

from dataclasses import dataclass, field

#: Less is no pause.
PAUSE_MIN_MS = 600_000
#: Pauses remembered, and how many make a habit.
PAUSES_MAX, PAUSES_MIN = 4, 2
#: A pause may last this much longer than the longest before, until the reader is late.
PATIENCE = 1.5


@dataclass(slots=True)
class Rhythm:
    """Of one group in one partition."""

    _last_ms: int | None = None
    #: (from, to) of the last pauses, oldest first.
    _pauses: list[tuple[int, int]] = field(default_factory=list)

    def note(self, at_ms: int) -> None:
        """It committed then. One that comes out of order says nothing."""
        last_ms = at_ms if self._last_ms is None else self._last_ms
        if at_ms - last_ms >= PAUSE_MIN_MS:
            self._pauses.append((last_ms, at_ms))
            del self._pauses[:-PAUSES_MAX]
        self._last_ms = max(at_ms, last_ms)

    def rests_until_ms(self) -> int | None:
        """Until when its silence is a pause like those before; None for a reader that does not work in batches."""
        if self._last_ms is None or len(self._pauses) < PAUSES_MIN:
            return None
        ends = [came_ms for _, came_ms in self._pauses]
        begins = [*(left_ms for left_ms, _ in self._pauses[1:]), self._last_ms]
        longest_stretch = max(left_ms - came_ms for came_ms, left_ms in zip(ends, begins, strict=True))
        lengths = [came_ms - left_ms for left_ms, came_ms in self._pauses]
        if 2 * longest_stretch > min(lengths):
            return None
        return self._last_ms + round(PATIENCE * max(lengths))
