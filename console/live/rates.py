"""Records per second from how far offsets moved over a short window. Pure: the moment is an argument."""

from collections import deque
from collections.abc import Hashable

WINDOW_MS = 10_000


class RateWindow:
    """Remembers recent values of growing numbers; a number that went back has started anew, and so has a clock."""

    def __init__(self, window_ms: int = WINDOW_MS):
        self._window_ms = window_ms
        self._samples: dict[Hashable, deque[tuple[int, int]]] = {}

    def observe(self, key: Hashable, value: int, at_ms: int) -> float | None:
        """Growth of `key` per second since the oldest value still in the window; None for its first value."""
        samples = self._samples.setdefault(key, deque())
        if samples and (value < samples[-1][1] or at_ms < samples[-1][0]):
            samples.clear()
        samples.append((at_ms, value))
        while len(samples) > 2 and samples[1][0] <= at_ms - self._window_ms:
            samples.popleft()
        oldest_ms, oldest = samples[0]
        if at_ms <= oldest_ms:
            return None
        return round((value - oldest) * 1000 / (at_ms - oldest_ms), 1)

    def forget_all_but(self, keys: set[Hashable]) -> None:
        for key in self._samples.keys() - keys:
            del self._samples[key]
