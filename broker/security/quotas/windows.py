"""A rate over the last seconds, as Kafka's Rate over its SampledStat, and for how long who exceeds it has to wait.

What is recorded goes into one of `num` samples, each begun by the first record after the one before was over. A sample
that began `num` windows ago counts no more. The rate is the sum of all by the time since the oldest began, but at least
by `num - 1` windows and what the last one has had: a burst at the start is no excess.

Nearly every record can change nothing: what all samples hold would not exceed the bound in the shortest time they are
divided by. So there is a budget until then (`left`), good until a sample ends or is too old (`until_ns`); only what is
beyond is worked out. The answers are those of working it out each time, to the bit: the tests compare.
"""

from math import floor
from typing import NamedTuple

_NS_PER_S = 1_000_000_000
_NS_PER_MS = 1_000_000
#: No client could be told of more; 24 days.
THROTTLE_MS_MAX = 2**31 - 1


class Windows(NamedTuple):
    """How many samples there are, and how long each lasts: quota.window.num and quota.window.size.seconds."""

    num: int = 11
    size_s: int = 1

    @property
    def size_ns(self) -> int:
        return self.size_s * _NS_PER_S

    @property
    def least_s(self) -> int:
        """The least time that sums are divided by."""
        return (self.num - 1) * self.size_s


class WindowedRate:
    """Rate of anything that is counted, per second. Times are monotonic, in ns."""

    __slots__ = (
        "_at",
        "_budget",
        "_starts",
        "_sums",
        "_windows",
        "bound",
        "left",
        "most_at_once",
        "throttle_ms_max",
        "throttled_ms",
        "until_ns",
    )

    def __init__(self, bound: float, windows: Windows, throttle_ms_max: int = THROTTLE_MS_MAX):
        """`bound` is above 0."""
        self._windows = windows
        self.throttle_ms_max = throttle_ms_max
        self._starts: list[int] = []
        self._sums: list[float] = []
        self._at = 0
        self.bound = bound
        #: What can be recorded without exceeding the bound where nothing was before (KAFKA-9677).
        self.most_at_once = bound * windows.least_s
        #: What may be recorded before `until_ns` without being looked at; whoever takes it himself calls `settle`.
        self.left: float = 0
        self._budget: float = 0
        self.until_ns = 0
        #: All that was answered to have to be waited.
        self.throttled_ms = 0

    def record(self, amount: float, now_ns: int) -> int:
        """Record the amount and return the throttle time in ms; 0 unless the rate is above the bound."""
        self.left -= amount
        if self.left >= 0 and now_ns < self.until_ns:
            return 0
        return self.settle(amount, now_ns)

    def settle(self, amount: float, now_ns: int) -> int:
        """Record the rest of an amount that was taken from `left` and return the throttle time, as `record`."""
        self._count(self._budget - self.left - amount, amount, now_ns)
        rate, elapsed_ns = self._measure(now_ns)
        self._allow()
        if rate <= self.bound:
            return 0
        wait_ms = (rate - self.bound) / self.bound * (elapsed_ns / _NS_PER_MS)
        throttle_ms = min(floor(wait_ms + 0.5), self.throttle_ms_max)
        self.throttled_ms += throttle_ms
        return throttle_ms

    def take_back(self, amount: float, now_ns: int) -> None:
        """Undo a recorded amount that did not happen."""
        self._count(self._budget - self.left, -amount, now_ns)
        self._allow()

    def settle_offer(self, amount: float, now_ns: int) -> tuple[int, bool]:
        """Settle as `settle`, and also return whether `amount` may be sent all the same.

        As a rule what exceeds the bound is kept back and not recorded. But what alone is more than ever fits, such as
        one large batch, would never be given so: it is, as soon as nothing else is there.
        """
        wait_ms = self.settle(amount, now_ns)
        if not wait_ms:
            return 0, True
        if amount > self.most_at_once and sum(self._sums) <= amount:
            return wait_ms, True
        self.take_back(amount, now_ns)
        return wait_ms, False

    def rate(self, now_ns: int) -> float:
        """Return the rate per second."""
        self._count(self._budget - self.left, 0, None)
        rate, _ = self._measure(now_ns)
        self._allow()
        return rate

    def set_bound(self, bound: float, _now_ns: int) -> None:
        """Apply the bound from now on; what was recorded stays."""
        self._count(self._budget - self.left, 0, None)
        self.bound = bound
        self.most_at_once = bound * self._windows.least_s
        self._allow()

    def is_as_new(self, now_ns: int) -> bool:
        """Return whether nothing that was recorded counts any more."""
        oldest_ns = (self._windows.num + 1) * self._windows.size_ns
        return not self._starts or now_ns - max(self._starts) >= oldest_ns

    def idle_ns(self, now_ns: int) -> int:
        """Return how long nothing has been recorded, within one window."""
        return now_ns - max(self._starts, default=now_ns)

    # -- samples

    def _count(self, before: float, amount: float, now_ns: int | None) -> None:
        """Count `amount` at `now_ns`; `before` belongs to the last sample."""
        if self._sums:
            self._sums[self._at] += before
        self._budget = self.left = 0
        if now_ns is None:
            return
        if not self._sums:
            self._begin(now_ns)
        elif now_ns - self._starts[self._at] >= self._windows.size_ns:
            self._at = (self._at + 1) % self._windows.num
            self._begin(now_ns)
        self._sums[self._at] += amount

    def _begin(self, now_ns: int) -> None:
        if self._at == len(self._sums):
            self._starts.append(now_ns)
            self._sums.append(0)
        else:
            self._starts[self._at], self._sums[self._at] = now_ns, 0

    def _measure(self, now_ns: int) -> tuple[float, int]:
        """Return the rate, and what the sums were divided by, in ns."""
        num, _ = self._windows
        size_ns = self._windows.size_ns
        for at, start_ns in enumerate(self._starts):
            if now_ns - start_ns >= num * size_ns:
                self._starts[at], self._sums[at] = now_ns, 0
        elapsed_ns = now_ns - min(self._starts, default=now_ns)
        elapsed_ns += max(0, num - 1 - elapsed_ns // size_ns) * size_ns
        elapsed_ns = max(elapsed_ns, _NS_PER_MS)
        return sum(self._sums) / (elapsed_ns / _NS_PER_S), elapsed_ns

    def _allow(self) -> None:
        """Work out until when, and up to how much, requests pass without further calculation."""
        windows = self._windows
        self._budget = self.left = self.most_at_once - sum(self._sums)
        if starts := self._starts:
            self.until_ns = min(starts[self._at] + windows.size_ns, min(starts) + windows.num * windows.size_ns)
