"""How fast a number of bytes changes over a long window, so that one deletion does not look like a trend. Pure."""

from collections import deque
from collections.abc import Hashable

WINDOW_MS = 1_800_000
#: Deletions by retention come once a segment: over this window they show, and no growth between two of them is a trend.
LONG_WINDOW_MS, LONG_SPAN_MIN_MS = 6 * 3_600_000, 600_000
#: A shorter time says nothing about a day.
SPAN_MIN_MS = 60_000
#: Values remembered of each number.
SAMPLES_MAX = 60


class GrowthWindow:
    def __init__(self, window_ms: int = WINDOW_MS, span_min_ms: int = SPAN_MIN_MS):
        self._window_ms, self._span_min_ms = window_ms, span_min_ms
        self._samples: dict[Hashable, deque[tuple[int, int]]] = {}

    def observe(self, key: Hashable, value: int, at_ms: int) -> float | None:
        """Change of `key` per second over the window, below 0 if it became less; None until it was watched enough."""
        samples = self._samples.setdefault(key, deque())
        if samples and at_ms < samples[-1][0]:
            samples.clear()
        while samples and samples[0][0] < at_ms - self._window_ms:
            samples.popleft()
        oldest_ms, oldest = samples[0] if samples else (at_ms, value)
        if not samples or at_ms - samples[-1][0] >= self._window_ms // SAMPLES_MAX:
            samples.append((at_ms, value))
        span_ms = at_ms - oldest_ms
        return None if span_ms < self._span_min_ms else round(1_000 * (value - oldest) / span_ms, 1)

    def forget_all_but(self, keys: set[Hashable]) -> None:
        for key in self._samples.keys() - keys:
            del self._samples[key]


def full_in_ms(usable_bytes: int | None, filling_per_second: float | None) -> int | None:
    """Return when the directory is full at this pace; None: never, or unknown."""
    if usable_bytes is None or not filling_per_second or filling_per_second <= 0:
        return None
    return round(1_000 * usable_bytes / filling_per_second)
