"""How many partitions may be made, added and deleted (KIP-599): tokens come at a rate, and each partition takes one.

Whoever comes while there is no debt is let through with as many as he wants, and leaves the debt: what is asked for in
one go is never cut in two, and the rate holds over time.
"""

from math import floor

from broker.security.quotas.windows import THROTTLE_MS_MAX, Windows

_NS_PER_S = 1_000_000_000


class TokenBucket:
    """Full at first. Times are monotonic, in ns; `bound` is tokens per second, above 0."""

    __slots__ = ("_at_ns", "_tokens", "_used_ns", "_windows", "bound", "throttled_ms")

    def __init__(self, bound: float, windows: Windows, now_ns: int):
        self._windows = windows
        self.bound = bound
        self._tokens = self._burst
        self._at_ns = self._used_ns = now_ns
        #: All that was answered to have to be waited.
        self.throttled_ms = 0

    @property
    def _burst(self) -> float:
        return self._windows.num * self._windows.size_s * self.bound

    def tokens(self, now_ns: int) -> float:
        """Return the tokens; below 0 is debt."""
        self._tokens = min(self._burst, self._tokens + self.bound * ((now_ns - self._at_ns) / _NS_PER_S))
        self._at_ns = now_ns
        return self._tokens

    def take(self, count: float, now_ns: int) -> None:
        self._used_ns = now_ns
        self._tokens = min(self._burst, self.tokens(now_ns) - count)

    def wait_ms(self, now_ns: int) -> int:
        """Return how long until the debt is paid; 0 if there is none."""
        tokens = self.tokens(now_ns)
        return min(floor(-tokens / self.bound * 1000 + 0.5), THROTTLE_MS_MAX) if tokens < 0 else 0

    def set_bound(self, bound: float, now_ns: int) -> None:
        """Apply the bound from now on; a debt stays, unused credit of a higher rate does not."""
        self.tokens(now_ns)
        self.bound = bound
        self._tokens = min(self._tokens, self._burst)

    def rate(self, now_ns: int) -> float:
        """Return the rate: what is missing to a full bucket, over the time that fills it."""
        return (self._burst - self.tokens(now_ns)) / (self._windows.num * self._windows.size_s)

    def is_as_new(self, now_ns: int) -> bool:
        return self.tokens(now_ns) >= self._burst

    def idle_ns(self, now_ns: int) -> int:
        """Return how long nothing has been taken."""
        return now_ns - self._used_ns
