"""Where the newest batches of the active segment start, every one of them, in memory.

Nearly all fetches are near the end of a log: followers and consumers that keep up. Between two entries of the sparse
index such a fetch would have to read batch headers from the file to find where its batch starts and where the high
watermark cuts; with this it needs no read at all. Appending costs two list appends.
"""

from bisect import bisect_left, bisect_right

#: Batches remembered are between this and twice as many; 1,024 small batches reach well beyond one index interval.
_KEEP_MIN = 1_024


class RecentBatches:
    """Parallel lists, oldest first: last offset and start position of consecutive batches up to the segment's end."""

    __slots__ = ("_last_offsets", "_positions")

    def __init__(self) -> None:
        self._last_offsets: list[int] = []
        self._positions: list[int] = []

    def append(self, last_offset: int, position: int) -> None:
        self._last_offsets.append(last_offset)
        self._positions.append(position)
        if len(self._positions) >= 2 * _KEEP_MIN:
            del self._last_offsets[:_KEEP_MIN]
            del self._positions[:_KEEP_MIN]

    def position_of(self, offset: int) -> int | None:
        """Start of the first batch whose last offset is at least `offset`; None if it is not among those remembered."""
        at = bisect_left(self._last_offsets, offset)
        if at == len(self._positions):
            return None
        position = self._positions[at]
        return position if at or position == 0 else None

    def boundary_not_above(self, position: int) -> int | None:
        """Return the greatest batch start that is at most `position`; None if it is not among those remembered."""
        at = bisect_right(self._positions, position)
        return self._positions[at - 1] if at else None

    def last_offset_before(self, position: int) -> int | None:
        """Return the last offset of the batch that ends at `position`, a batch boundary; None if it is not
        remembered.
        """
        at = bisect_left(self._positions, position)
        return self._last_offsets[at - 1] if at else None
