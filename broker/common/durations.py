"""How long things took, counted in buckets: bounded memory, percentiles within an eighth, next to no cost.

The layout is HdrHistogram's: eight buckets to each doubling. Short durations, which are nearly all, find their bucket
in a table, because a request that takes 10 µs should not spend one on being measured.
"""

#: One unit is 1.024 µs: a shift instead of a division.
_UNIT_SHIFT = 10
_STEPS = 8
#: Below this many units each has a bucket of its own.
_EXACT = 2 * _STEPS
#: Durations of 137 s and more share the last bucket.
_UNITS_MAX = (1 << 27) - 1
#: Up to 4.2 ms.
_TABLE_UNITS = 4096
_TABLE_NS = _TABLE_UNITS << _UNIT_SHIFT


def _bucket_of(units: int) -> int:
    if units < _EXACT:
        return units
    shift = units.bit_length() - _STEPS.bit_length()
    return shift * _STEPS + (units >> shift)


_TABLE = tuple(_bucket_of(units) for units in range(_TABLE_UNITS))
BUCKETS = _bucket_of(_UNITS_MAX) + 1


class Durations:
    """A histogram of durations, for one thread. `max_ns` is exact."""

    __slots__ = ("_counts", "max_ns")

    def __init__(self) -> None:
        self._counts = [0] * BUCKETS
        self.max_ns = 0

    def add(self, duration_ns: int) -> None:
        """Add a duration; a negative one (the clock went back) counts as 0."""
        if 0 <= duration_ns < _TABLE_NS:
            self._counts[_TABLE[duration_ns >> _UNIT_SHIFT]] += 1
        else:
            self._counts[_bucket_of(min(max(0, duration_ns) >> _UNIT_SHIFT, _UNITS_MAX))] += 1
        if duration_ns > self.max_ns:
            self.max_ns = duration_ns

    @property
    def count(self) -> int:
        return sum(self._counts)

    @property
    def buckets(self) -> list[tuple[int, int]]:
        """(no duration in it is longer, µs; how many) of those that are not empty, ascending."""
        return [(_up_to_us(bucket), count) for bucket, count in enumerate(self._counts) if count]


def _up_to_us(bucket: int) -> int:
    """Return the end of a bucket, rounded up."""
    if bucket < _EXACT:
        units = bucket + 1
    else:
        shift, step = divmod(bucket - _STEPS, _STEPS)
        units = (step + _STEPS + 1) << shift
    return -(-(units << _UNIT_SHIFT) // 1_000)
