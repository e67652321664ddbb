"""Records per second from how far offsets moved over a short window. Pure: the moment is an argument."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

WINDOW_MS = 10_000


@dataclass(slots=True)
class RecentValues:
    """What a number was over a window. There are as many of these as partitions: a stretch in which the number did not
    move is kept as its two ends, however often it was looked at.
    """

    _moments: list[int] = field(default_factory=list)
    _values: list[int] = field(default_factory=list)

    @property
    def last(self) -> tuple[int, int] | None:
        """The newest moment and value."""
        return (self._moments[-1], self._values[-1]) if self._moments else None

    @property
    def is_flat(self) -> bool:
        """Whether the value has been constant for some time."""
        return bool(self._moments) and self._values[0] == self._values[-1] and self._moments[0] < self._moments[-1]

    def add(self, value: int, at_ms: int, window_ms: int) -> tuple[int, int]:
        """Add a value; return the time and value to compare with, from the window's beginning or the oldest there
        are.
        """
        if self._values[-2:] == [value, value]:
            self._moments[-1] = at_ms
        else:
            self._moments.append(at_ms)
            self._values.append(value)
        begin_ms = at_ms - window_ms
        while len(self._moments) > 2 and self._moments[1] <= begin_ms:
            del self._moments[0], self._values[0]
        if len(self._values) > 1 and self._values[0] == self._values[1]:
            return max(self._moments[0], min(self._moments[1], begin_ms)), self._values[0]
        return self._moments[0], self._values[0]

    def clear(self) -> None:
        self._moments.clear()
        self._values.clear()


class RateWindow:
    """Remembers recent values of growing numbers; a number that went back has started anew, and so has a clock."""

    def __init__(self, window_ms: int = WINDOW_MS):
        self._window_ms = window_ms
        self._seen: dict[Hashable, RecentValues] = {}

    def observe(self, key: Hashable, value: int, at_ms: int) -> float | None:
        """Return the growth of `key` per second since the oldest value still in the window; None for its first
        value.
        """
        seen = self._seen.setdefault(key, RecentValues())
        last = seen.last
        if last is not None and (at_ms < last[0] or value < last[1]):
            seen.clear()
        oldest_ms, oldest = seen.add(value, at_ms, self._window_ms)
        if at_ms <= oldest_ms:
            return None
        return round((value - oldest) * 1000 / (at_ms - oldest_ms), 1)

    def rests(self, key: Hashable) -> bool:
        """Return whether the rate is zero, and stays so until another value comes, or the clock goes back."""
        return key in self._seen and self._seen[key].is_flat

    def forget(self, keys: Iterable[Hashable]) -> None:
        for key in keys:
            self._seen.pop(key, None)

    def forget_all_but(self, keys: set[Hashable]) -> None:
        for key in self._seen.keys() - keys:
            del self._seen[key]
