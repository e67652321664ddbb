"""How often something may happen: a bucket that refills steadily, with at most a second's worth in it.

Kafka averages over its quota windows, eleven seconds, and lets through as much more after a silence.
"""

from broker.common.limits import UNLIMITED_RATE


class CreationRate:
    """Rate of new connections (KIP-612). Takes the time in seconds, which never goes back."""

    def __init__(self, per_second: int = UNLIMITED_RATE):
        self.per_second = per_second
        self._left = float(per_second)
        self._counted_at_s = float("-inf")

    def change(self, per_second: int) -> None:
        self.per_second = per_second
        self._left = min(self._left, float(per_second))

    def wait_s(self, now_s: float) -> float:
        """Return the delay until one more connection is allowed; infinite if never."""
        if self.per_second == UNLIMITED_RATE:
            return 0.0
        if not self.per_second:
            return float("inf")
        burst = float(self.per_second)
        self._left = min(burst, self._left + (now_s - self._counted_at_s) * self.per_second)
        self._counted_at_s = now_s
        return max(0.0, (1.0 - self._left) / self.per_second)

    def take(self) -> None:
        self._left -= 1.0
