"""In which resolutions the past is kept, and how a run of values is packed into a row. Pure.

A value is written where it differs from the one before, so what stands still costs nothing: NOT_WRITTEN says "as
before", UNKNOWN that nobody knew. Single floats: seven figures are more than a chart shows.
"""

import math
import zlib
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

NOT_WRITTEN, UNKNOWN = math.nan, -math.inf
_HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class ChartTier:
    """`step_ms` lie between two points, a row has `length` of them and is kept for `kept_ms` after its last."""

    number: int
    step_ms: int
    length: int
    kept_ms: int

    @property
    def row_ms(self) -> int:
        return self.step_ms * self.length

    def row_of(self, at_ms: int) -> int:
        """Return when the row that contains this moment begins."""
        return at_ms - at_ms % self.row_ms


#: The finest is for what happens now, the second for yesterday beside today, the third for a month beside the last.
#: Rows are short: the collector holds one of each tier for every series.
TIERS = (
    ChartTier(0, 15_000, 40, 3 * _HOUR_MS),
    ChartTier(1, 2 * 60_000, 45, 50 * _HOUR_MS),
    ChartTier(2, 30 * 60_000, 48, 62 * 24 * _HOUR_MS),
)
FINEST = TIERS[0]


def tier_for(span_ms: int, *, back_ms: int = 0) -> ChartTier:
    """Return the finest tier that still has all of `span_ms`, seen from `back_ms` after its end."""
    return next((tier for tier in TIERS if tier.kept_ms >= span_ms + back_ms), TIERS[-1])


class ChartRow:
    """The points of one series in one row of a tier: its columns of each, one after the other."""

    __slots__ = ("values", "width")

    def __init__(self, width: int, length: int):
        self.width = width
        self.values = array("f", [NOT_WRITTEN]) * (width * length)

    def write(self, index: int, values: Sequence[float]) -> None:
        at = index * self.width
        self.values[at : at + self.width] = array("f", values)

    def points(self) -> Iterator[tuple[int, tuple[float, ...]]]:
        """Yield (index, its columns) of stored points."""
        for index in range(len(self.values) // self.width):
            values = self.values[index * self.width : (index + 1) * self.width]
            if not math.isnan(values[0]):
                yield index, tuple(values)

    def pack(self) -> bytes:
        return zlib.compress(self.values.tobytes(), 1)

    @classmethod
    def unpack(cls, packed: bytes, width: int, length: int) -> "ChartRow":
        """Unpack a row; columns added later are unknown in it."""
        before, row = cls(1, length), cls(width, length)
        before.values = array("f", zlib.decompress(packed))
        before.width = len(before.values) // length
        for index, values in before.points():
            row.write(index, (*values, *[UNKNOWN] * width)[:width])
        return row
