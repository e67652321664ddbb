"""How a partition's log end moved, thinned: enough to say when the record at an offset was appended. Pure."""

from bisect import bisect_right
from dataclasses import dataclass, field

#: Points closer than this are not worth keeping both: the answer is that exact.
SPACING_MS = 4_000
#: At that spacing some ten minutes of a topic that never rests, days of one that mostly does.
POINTS_MAX = 150


@dataclass(slots=True)
class LogEnds:
    """(moment, next offset), both growing. A stretch without records is kept as its two ends."""

    _moments: list[int] = field(default_factory=list)
    _offsets: list[int] = field(default_factory=list)

    def observe(self, next_offset: int, at_ms: int) -> None:
        """Note the log end at a time; a lower one than before means that the topic was recreated or truncated."""
        if self._offsets and (next_offset < self._offsets[-1] or at_ms <= self._moments[-1]):
            if next_offset >= self._offsets[-1]:
                return
            self._moments.clear()
            self._offsets.clear()
        if self._is_last_needless(next_offset, at_ms):
            self._moments[-1], self._offsets[-1] = at_ms, next_offset
            return
        self._moments.append(at_ms)
        self._offsets.append(next_offset)
        if len(self._moments) > POINTS_MAX:
            del self._moments[0], self._offsets[0]

    def appended_at_ms(self, offset: int) -> int | None:
        """Return when the record at `offset` was appended, interpolated between two points.

        None before the first point and for what is not appended yet.
        """
        above = bisect_right(self._offsets, offset)
        if above == 0 or above == len(self._offsets):
            return None
        low, high = self._offsets[above - 1], self._offsets[above]
        from_ms, to_ms = self._moments[above - 1], self._moments[above]
        return from_ms + (offset - low) * (to_ms - from_ms) // (high - low)

    @property
    def since_ms(self) -> int | None:
        """The first moment remembered; None before the first point."""
        return self._moments[0] if self._moments else None

    @property
    def last(self) -> int | None:
        """The newest end; None before the first point."""
        return self._offsets[-1] if self._offsets else None

    def resting_since_ms(self) -> int | None:
        """Return since when the end has not moved; None before the first point."""
        if not self._offsets:
            return None
        return self._moments[-2] if self.is_flat else self._moments[-1]

    @property
    def is_flat(self) -> bool:
        """The end has not moved since the point before the last."""
        return len(self._offsets) > 1 and self._offsets[-1] == self._offsets[-2]

    def _is_last_needless(self, next_offset: int, at_ms: int) -> bool:
        if len(self._moments) < 2:
            return False
        is_still_flat = self.is_flat and next_offset == self._offsets[-1]
        return is_still_flat or (not self.is_flat and at_ms - self._moments[-2] < SPACING_MS)
