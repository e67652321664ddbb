"""Looks that cost somebody else more the more there is: after each comes a rest many times as long as it took."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: At most a twentieth of the time is spent looking.
REST_FACTOR = 20


class IdleTimers:
    """Not thread-safe: one thread uses it."""

    def __init__(self, clock_ms: Callable[[], int]):
        self._now_ms = clock_ms
        self._until_ms = 0

    @property
    def is_over(self) -> bool:
        return self._now_ms() >= self._until_ms

    @contextmanager
    def after(self) -> Iterator[None]:
        """Measure a look in this block; after a failed one there is no idle pause."""
        began_ms = self._now_ms()
        yield
        now_ms = self._now_ms()
        self._until_ms = now_ms + REST_FACTOR * (now_ms - began_ms)
