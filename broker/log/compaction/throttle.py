"""Limits the cleaner's share of the disk (log.cleaner.io.max.bytes.per.second)."""

from collections.abc import Callable

from broker.common.clock import Clock

#: Pauses shorter than this are saved up: the system would not keep them anyway.
_PAUSE_SECONDS_MIN = 0.01
#: A long pause is made in pieces, so that `sleep` can notice a stop.
_PAUSE_SECONDS_MAX = 0.5


class Throttle:
    """`spend` bytes read or written; it sleeps so that no more than `bytes_per_second` are spent on average."""

    def __init__(self, bytes_per_second: float, clock: Clock, sleep: Callable[[float], None]):
        """Use `clock` and `sleep` for waiting; what `sleep` raises comes out of `spend`."""
        self._bytes_per_second = bytes_per_second
        self._clock = clock
        self._sleep = sleep
        self._owed_seconds = 0.0
        self._seen_ms = clock.monotonic_ms()

    def spend(self, count: int) -> None:
        """Time that passed without work is not saved up for later."""
        self._owed_seconds = max(0.0, self._owed_seconds - self._passed_seconds()) + count / self._bytes_per_second
        while self._owed_seconds >= _PAUSE_SECONDS_MIN:
            pause = min(self._owed_seconds, _PAUSE_SECONDS_MAX)
            self._sleep(pause)
            self._owed_seconds -= max(pause, self._passed_seconds())

    def _passed_seconds(self) -> float:
        before, self._seen_ms = self._seen_ms, self._clock.monotonic_ms()
        return (self._seen_ms - before) / 1000
