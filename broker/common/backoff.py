"""Pauses between attempts: each twice as long as the one before, up to the longest. Pure."""

import math
import random

#: More doublings than any pause needs; the number stays small however many attempts fail.
_DOUBLINGS_MAX = 40


def pause_after(failures: int, first: float, longest: float) -> float:
    """Return the pause after the last of `failures` failed attempts in a row, of which there is at least one."""
    return min(first * float(2 ** min(failures - 1, _DOUBLINGS_MAX)), longest)


class Backoff:
    """The failed attempts at one thing; pauses are in the unit of `first` and `longest`."""

    def __init__(self, first: float, longest: float, *, spreads: bool = False):
        """With `spreads` a pause that would be longer than the longest is random up to that, as Kafka Connect's."""
        self.failures = 0
        self._first, self._longest, self._spreads = first, longest, spreads

    def fail(self) -> float:
        """Count a failed attempt and return the pause before the next one."""
        self.failures += 1
        pause = pause_after(self.failures, self._first, math.inf)
        if self._spreads and pause > self._longest:
            return random.uniform(0, self._longest)
        return min(pause, self._longest)

    def succeed(self) -> None:
        """Begin with the first pause again."""
        self.failures = 0
