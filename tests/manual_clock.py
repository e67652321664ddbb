"""A clock that tests move."""


class ManualClock:
    """A clock that stands still until told; all readings move together."""

    def __init__(self, now_ms: int = 1_700_000_000_000):
        self._now_ms = now_ms
        self._monotonic_ms = 0

    def now_ms(self) -> int:
        return self._now_ms

    def monotonic_ms(self) -> int:
        return self._monotonic_ms

    def advance(self, by_ms: int) -> None:
        self._now_ms += by_ms
        self._monotonic_ms += by_ms

    def set_wall(self, ahead_ms: int) -> None:
        """Put the wall clock ahead by so much, or back; the monotonic one does not know of it."""
        self._now_ms += ahead_ms
