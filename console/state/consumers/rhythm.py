"""Whether a reader works in batches: short stretches of reading between long pauses, as a nightly job does. Pure.

Such a reader is not dead in its pause. What tells it from a service that broke down is that the pauses are the rule:
between any two of them it read for much less time than it paused, and each time it read to the log's end before it
left. One outage makes nobody a nightly job, and neither do two with records unread.
"""

from dataclasses import dataclass, field

#: Less is no pause.
PAUSE_MIN_MS = 600_000
#: Pauses remembered, and how many make a habit.
PAUSES_MAX, PAUSES_MIN = 4, 2
#: A reader has come to the log's end with so small a part left of what it read since its pause: records go on arriving.
LEFT_SHARE_MAX = 0.01
#: A pause may last this much longer than the longest before, until the reader is late.
PATIENCE = 1.5


@dataclass(slots=True)
class Rhythm:
    """Rhythm of one group in one partition."""

    _last_ms: int | None = None
    #: (from, to) of the last pauses, oldest first.
    _pauses: list[tuple[int, int]] = field(default_factory=list)
    #: Of these, whether the reader had come to the log's end before it.
    _came_to_end: list[bool] = field(default_factory=list)
    #: Where the stretch began, and the last commit; whether that was at the end.
    _begin_offset: int | None = None
    _last_offset: int | None = None
    _is_at_end: bool = False

    def note(self, at_ms: int, offset: int, lag: int | None) -> None:
        """Note a commit with `lag` records unread, None if unknown. One out of order is ignored."""
        last_ms = at_ms if self._last_ms is None else self._last_ms
        if at_ms < last_ms:
            return
        if at_ms - last_ms >= PAUSE_MIN_MS:
            self._pauses.append((last_ms, at_ms))
            self._came_to_end.append(self._is_at_end)
            del self._pauses[:-PAUSES_MAX], self._came_to_end[:-PAUSES_MAX]
            self._begin_offset = self._last_offset
        self._last_ms, self._last_offset = at_ms, offset
        read = 0 if self._begin_offset is None else max(0, offset - self._begin_offset)
        self._is_at_end = lag is not None and lag <= LEFT_SHARE_MAX * read

    def rests_until_ms(self) -> int | None:
        """Return until when its silence is a usual pause; None for a reader that does not work in batches."""
        if self._last_ms is None or len(self._pauses) < PAUSES_MIN:
            return None
        if not (self._is_at_end and all(self._came_to_end)):
            return None
        ends = [came_ms for _, came_ms in self._pauses]
        begins = [*(left_ms for left_ms, _ in self._pauses[1:]), self._last_ms]
        longest_stretch = max(left_ms - came_ms for came_ms, left_ms in zip(ends, begins, strict=True))
        lengths = [came_ms - left_ms for left_ms, came_ms in self._pauses]
        if 2 * longest_stretch > min(lengths):
            return None
        return self._last_ms + round(PATIENCE * max(lengths))
